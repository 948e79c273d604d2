# shellcheck shell=bash disable=SC2034,SC2154 # variables that are shared with the other files
# Who owns which slots: giving out those that nobody has, and moving those that
# have keys. Sourced by converge.sh.

readonly batch=512   # slots a migration; with more, writers wait noticeably at its end
readonly tolerance=16 # slots between the largest and the smallest shard that are left alone

may_give_out_slots() { [[ $MODE == bootstrap || $MODE == accept-loss ]]; }

# Shards without slots share what is free; on a new cluster that is everything.
# ADDSLOTSRANGE takes all slots of a call or none, so a run that was killed here
# leaves whole shards without an owner, and the same is given out again.
give_out_slots() {
  local free n s i total from to part missing=()
  free=$(free_slots)
  for n in "${!hosts[@]}"; do
    [[ ${keys[n]} == 0 || $MODE == accept-loss ]] ||
      fail "nobody owns the slots ${free% }, but ${hosts[n]} has ${keys[n]} keys: bring the volume of their owner back, or set acceptDataLoss to any new text to go on with these slots empty; if others could reach port 16379, see \"Strangers\" in components/hotkv/README.md first"
  done
  may_give_out_slots ||
    fail "nobody owns the slots ${free% } and all nodes are empty: every volume was lost, or the cluster was never made; set acceptDataLoss to any new text to make it anew"
  for n in "${!hosts[@]}"; do
    {
      # A primary serves only after it saw the others for this long.
      echo "config set cluster-node-timeout 1000"
      # Else the nodes would have to find different epochs later, one by one. A node
      # takes one only while it knows nobody.
      [[ ${claims[*]} =~ [0-9] ]] || echo "cluster set-config-epoch $((n + 1))"
    } >"$tmp/todo$n"
  done
  choose_primaries
  for s in "${!primaries[@]}"; do
    [[ -n ${own_slots[primaries[s]]} ]] || missing+=("${primaries[s]}")
  done
  ((${#missing[@]} > 0)) || missing=("${primaries[@]}")
  number total "$(count_slots "$free")"
  for i in "${!missing[@]}"; do
    from=$(((total * i + ${#missing[@]} / 2) / ${#missing[@]}))
    to=$(((total * (i + 1) + ${#missing[@]} / 2) / ${#missing[@]}))
    part=$(cut_slots "$from" $((to - from)) "$free")
    say "slots ${part% }: ${hosts[missing[i]]}"
    echo "cluster addslotsrange ${part//-/ }" >>"$tmp/todo${missing[i]}"
  done
  tell
}

every_slot_has_an_owner() {
  look || return 1
  local free
  free=$(free_slots) || return 1
  [[ -n $free ]] || return 0
  give_out_slots
  reason="slots were given out a moment ago"
  return 1
}

# Moves slots until every shard has about as many, and none is left on a node that
# is to leave. One migration at a time, planned from what is there: whatever ends
# one leaves all its slots with their old owner.
balance() {
  local source target count have part failed=0
  # Clients are being served meanwhile.
  pace=0.2
  check_memory
  while until_true no_migration_runs && until_true moves_are_seen && plan; do
    until_true is_ok "$target"
    number have "$(count_slots "${own_slots[source]}")"
    part=$(cut_slots $((have - count)) "$count" "${own_slots[source]}")
    if migrate; then
      failed=0
      say "$count slots: ${hosts[source]} to ${hosts[target]}"
      continue
    fi
    failed=$((failed + 1))
    say "$count slots: ${hosts[source]} to ${hosts[target]}: $reason"
    ((failed < 5)) || fail "no slot moves from ${hosts[source]} to ${hosts[target]}: $reason; every slot is where it was"
    sleep "$failed"
  done
  ((${#leaving[@]} == 0)) || dismiss
}

# Sets source, target and count of the next move; fails when there is none.
plan() {
  local n have most=-1 least=$((last_slot + 1)) fair=$(((last_slot + 1) / PRIMARIES)) drain=-1
  for n in "${primaries[@]}"; do
    number have "$(count_slots "${own_slots[n]}")"
    ((have <= most)) || { most=$have && source=$n; }
    ((have >= least)) || { least=$have && target=$n; }
  done
  for n in "${!leaving[@]}"; do
    [[ -z ${own_slots[n]} ]] || drain=$n
  done
  if ((drain >= 0)); then
    source=$drain
    number count "$(count_slots "${own_slots[drain]}")"
    ((fair - least < 1 || count < fair - least)) || count=$((fair - least))
  else
    ((most - least > tolerance)) || return 1
    count=$((most - fair < fair - least ? most - fair : fair - least))
    ((count > 0)) || count=1
  fi
  ((count <= batch)) || count=$batch
}

migrate() {
  local piece state="" message=""
  looked=""
  # shellcheck disable=SC2086 # pairs of numbers
  reason=$(ask "${hosts[source]}" cluster migrateslots slotsrange ${part//-/ } node "${ids[target]}") || {
    [[ $reason != *[Uu]nknown* ]] || fail "${hosts[source]} cannot move slots with their keys: that needs Valkey 9.0 or newer"
    reason=$(printable "$reason")
    return 1
  }
  while [[ -z $state ]]; do
    sleep 0.05
    ((SECONDS < DEADLINE_SECONDS)) || fail "slots are still moving from ${hosts[source]} to ${hosts[target]} after $SECONDS s; the server goes on by itself"
    message=""
    while IFS= read -r piece; do # the newest migration comes first
      case $piece in
      '"state":"'*) [[ -n $state ]] || state=$(text_of "$piece") ;;
      '"message":"'*) message=$(text_of "$piece") && break ;;
      esac
    done < <(ask_for_parts "${hosts[source]}" cluster getslotmigrations)
    case $state in
    success) return 0 ;;
    failed | cancel*) ;;
    *) state="" ;;
    esac
  done
  reason="$state: $message"
  return 1
}

# The text of a PART that ask_for_parts returned, up to the first comma in it.
text_of() { # PART
  local text=${1#*'":"'}
  printable "${text%%'"'*}"
}

no_migration_runs() {
  local n piece state
  for n in "${!hosts[@]}"; do ask_for_parts "${hosts[n]}" cluster getslotmigrations >"$tmp/$n" & done
  wait
  for n in "${!hosts[@]}"; do
    while IFS= read -r piece; do
      [[ $piece == '"state":"'* ]] || continue
      state=$(text_of "$piece")
      reason="slots are moving from or to ${hosts[n]}: $state"
      case $state in success | failed | cancel*) ;; *) return 1 ;; esac
    done <"$tmp/$n"
  done
}

moves_are_seen() { look && views_agree && choose_primaries; }

# A primary that just joined answers CLUSTERDOWN for some seconds.
is_ok() { # N
  local n
  number n "$1"
  look || return 1
  reason="${hosts[n]} says that the cluster's state is ${states[n]}"
  [[ ${states[n]} == ok ]]
}

# What the leaving nodes hold must fit on the others; a target that runs out of
# memory would fail every migration.
check_memory() {
  local n used=0 room=0 limited="" memory amount data all most
  ((${#leaving[@]} > 0)) || return 0
  for n in "${!hosts[@]}"; do
    [[ ${roles[n]} == primary ]] || continue
    memory=$(ask "${hosts[n]}" info memory) || fail "${hosts[n]} does not tell its memory: $(printable "$memory")"
    for amount in used_memory_dataset used_memory maxmemory; do
      field "$amount" '[0-9]+' "$memory" || fail "${hosts[n]} does not tell its $amount"
      case $amount in
      used_memory_dataset) number data "$value" ;;
      used_memory) number all "$value" ;;
      maxmemory) number most "$value" ;;
      esac
    done
    if [[ -n ${leaving[n]:-} ]]; then
      used=$((used + data))
    elif ((most > 0)); then
      limited=yes
      room=$((room + most * 9 / 10 - all))
    fi
  done
  [[ -z $limited ]] || ((used < room)) ||
    fail "the shards that are to leave hold $((used >> 20)) MiB, the others have room for $((room >> 20)) MiB: nothing was moved; make memory larger first, or keep the shards"
}

# A node that is only forgotten would be back after a minute, so it forgets too. From
# then on it knows no slot's owner, and a client that asked it would believe that there
# is none: so before, it closes its port to all but its own pod. Should the pod stay,
# its liveness probe opens the port again by a restart.
# Replicas first: a replica whose primary leaves would otherwise follow it nowhere.
dismiss() {
  local n role words gone=()
  sleep 3 # clients learn the new owners before the old ones know nothing
  looked=""
  until_true look
  for role in replica primary; do
    for n in "${!leaving[@]}"; do
      [[ ${roles[n]} == "$role" ]] || continue
      [[ -z ${own_slots[n]} ]] || fail "${hosts[n]} owns slots again"
      words=$'config set bind 127.0.0.1\nclient kill type normal\ncluster reset hard'
      [[ $role == replica ]] || words=$'flushall\n'$words
      { reason=$(client "${hosts[n]}" <<<"$words" 2>&1) && [[ $reason == *OK ]]; } ||
        fail "${hosts[n]} does not leave: $(printable "${reason##*$'\n'}")"
    done
  done
  for n in "${!leaving[@]}"; do
    gone+=("${ids[n]}")
    say "${hosts[n]} left"
    unset "hosts[n]" "shards[n]" "listed[n]"
  done
  leaving=()
  forget "${gone[@]}"
  until_true nobody_remembers_others
  until_true every_node_is_well
}
