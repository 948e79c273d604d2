# shellcheck shell=bash disable=SC2034,SC2154 # variables that are shared with the other files
# What the nodes say of themselves and of each other. Sourced by converge.sh.

hosts=() shards=() leaving=()
ids=() roles=() primary_of=() own_slots=() keys=() links=() states=() versions=()
declare -A member=() flags=() wires=() claims=() follows=() seen=() address=()

readonly questions='ping
dbsize
info replication
cluster info
config get cluster-announce-human-nodename
cluster nodes'

# -e: without it the client answers an error with exit code 0.
ask() { # HOST WORD...
  timeout 5 "$CLI" -e -h "$1" -p "$PORT" "${@:2}" 2>&1
}

# Tells every host at once what its file todo<n> has, if there is one. Whether it
# was done is seen by the next look.
tell() {
  local n
  looked=""
  for n in "${!hosts[@]}"; do
    [[ -s $tmp/todo$n ]] || continue
    timeout 5 "$CLI" -h "${hosts[n]}" -p "$PORT" <"$tmp/todo$n" >/dev/null 2>&1 &
  done
  wait
  rm -f "$tmp"/todo*
}

# One round of questions to every host at once, unless nothing can have changed
# since the last one. It fails, with the reason, when a host does not answer all of
# them.
looked=""
look() {
  local n
  [[ -z $looked ]] || return 0
  for n in "${!hosts[@]}"; do
    timeout 5 "$CLI" -h "${hosts[n]}" -p "$PORT" <<<"$questions" >"$tmp/$n" 2>&1 &
  done
  wait
  member=() flags=() wires=() claims=() follows=() seen=() address=()
  for n in "${!hosts[@]}"; do
    understand "$n" <"$tmp/$n" || return 1
    member[${ids[n]}]=$n
  done
  looked=yes
}

understand() { # HOST-NUMBER
  local n=$1 first id name flag of wire slots slot
  read -r first || true
  reason="${hosts[n]} does not answer: ${first:-nothing came back}"
  [[ $first == PONG ]] || return 1
  ids[n]="" roles[n]="" links[n]="" states[n]="" versions[n]=""
  while read -r id name flag of _ _ _ wire slots; do
    if [[ $id =~ ^[0-9a-f]{40}$ ]]; then
      [[ $flag != *handshake* ]] || continue # a name that will not stay
      seen[$id]=yes
      name=${name%%:*} # a node that moved away has none
      [[ -z $name ]] || address[$id]=$name
      flags["$n $id"]=$flag wires["$n $id"]=$wire follows["$n $id"]=$of
      claims["$n $id"]=""
      for slot in $slots; do # "[" starts a slot that is on its way
        [[ $slot == \[* ]] || claims["$n $id"]+="$slot "
      done
      [[ $flag == *myself* ]] || continue
      ids[n]=$id primary_of[n]=$of own_slots[n]=${claims["$n $id"]}
      if [[ $flag == *master* ]]; then roles[n]=primary; else roles[n]=replica; fi
    else
      id=${id%$'\r'}
      case $id in
      *[!0-9]*) ;;
      ?*) keys[n]=$id ;;
      esac
      case $id in
      master_link_status:*) links[n]=${id#*:} ;;
      cluster_state:*) states[n]=${id#*:} ;;
      cluster-announce-human-nodename) read -r "versions[n]" ;;
      esac
    fi
  done
  reason="${hosts[n]} does not say what it sees"
  [[ -n ${ids[n]} && -n ${states[n]} ]] || return 1
  name=${address[${ids[n]}]:-nobody}
  [[ $name == "${hosts[n]}" ]] || fail "who answers for ${hosts[n]} calls itself $name: it is not the pod of that name"
}

count_slots() { # RANGES
  local range sum=0
  for range in $1; do sum=$((sum + ${range#*-} - ${range%-*} + 1)); done
  echo "$sum"
}

# The slots that no node owns in any view, as "from-to from-to ".
free_slots() {
  local key range from to next=0
  for key in "${!claims[@]}"; do
    for range in ${claims[$key]}; do echo "${range%-*} ${range#*-}"; done
  done | sort -n -u | {
    while read -r from to; do
      ((from <= next)) || printf '%d-%d ' "$next" $((from - 1))
      ((to < next)) || next=$((to + 1))
    done
    ((next > last_slot)) || printf '%d-%d ' "$next" "$last_slot"
  }
}

# The COUNT slots of RANGES behind the first SKIP, as "from-to from-to ".
cut_slots() { # SKIP COUNT RANGES
  local skip=$1 count=$2 range from to
  for range in $3; do
    from=${range%-*} to=${range#*-}
    if ((skip > to - from)); then
      skip=$((skip - (to - from + 1)))
      continue
    fi
    from=$((from + skip)) skip=0
    ((to - from < count)) || to=$((from + count - 1))
    count=$((count - (to - from + 1)))
    ((to < from)) || printf '%d-%d ' "$from" "$to"
    ((count > 0)) || return 0
  done
}

# Every id that is none of the hosts, in any view.
strangers() {
  local id
  for id in "${!seen[@]}"; do [[ -n ${member[$id]:-} ]] || echo "$id"; done
}

# What id owns in any view.
claimed_by() {
  local n
  for n in "${!hosts[@]}"; do
    [[ -z ${claims["$n $1"]:-} ]] || { echo "${claims["$n $1"]}" && return; }
  done
}

# Whether all that know id take it for dead.
is_dead() {
  local n flag
  for n in "${!hosts[@]}"; do
    flag=${flags["$n $1"]:-fail}
    [[ $flag == *fail* || $flag == *noaddr* ]] || return 1
  done
}

# Whether every host that knows a node says the same of its slots. A node that came
# later never hears of one that was dead by then.
views_agree() {
  local n id first
  for id in "${!seen[@]}"; do
    first=""
    for n in "${!hosts[@]}"; do
      [[ -n ${flags["$n $id"]:-} ]] || continue
      first=${first:-$n}
      reason="${hosts[n]} and ${hosts[first]} do not agree on the slots of ${address[$id]:-$id}"
      [[ ${claims["$n $id"]} == "${claims["$first $id"]}" ]] || return 1
    done
  done
}
