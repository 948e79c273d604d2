# shellcheck shell=bash disable=SC2034,SC2154 # variables that are shared with the other files
# What the nodes say of themselves and of each other. Sourced by converge.sh.

hosts=() shards=() leaving=() listed=()
ids=() roles=() primary_of=() own_slots=() keys=() links=() states=() versions=()
declare -A member=() flags=() wires=() claims=() follows=() seen=() address=() strange=()

# The password is in a file. A server's pod, and a Job that an older version made, have
# it in the client's variable.
password=${HOTKVCLI_AUTH:-${REDISCLI_AUTH:-}}
[[ -z ${PASSWORD_FILE:-} ]] || IFS= read -r -d '' password <"$PASSWORD_FILE" || true
unset HOTKVCLI_AUTH REDISCLI_AUTH

# Only the client has the password in its environment.
client() { # HOST WORD...
  HOTKVCLI_AUTH=$password REDISCLI_AUTH=$password timeout 5 "$CLI" -h "$1" -p "$PORT" "${@:2}"
}

# -e: without it the client answers an error with exit code 0.
ask() { # HOST WORD...
  client "$1" -e "${@:2}" 2>&1 </dev/null
}

# Like ask, but in JSON, one member a line. The client escapes quotes inside strings, so a
# line that starts with "name":" cannot come from a stranger's text.
ask_for_parts() { # HOST WORD...
  ask "$1" --json "${@:2}" | tr ',' '\n'
}

# Tells every host at once what its file todo<n> has, if there is one. Whether it
# was done is seen by the next look.
tell() {
  local n
  looked=""
  for n in "${!hosts[@]}"; do
    [[ -s $tmp/todo$n ]] || continue
    client "${hosts[n]}" <"$tmp/todo$n" >/dev/null 2>&1 &
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
    { questions ping dbsize 'info replication' 'config get cluster-announce-human-nodename' && questions_of_nodes; } |
      client "${hosts[n]}" >"$tmp/$n" 2>&1 &
  done
  wait
  member=() flags=() wires=() claims=() follows=() seen=() address=() strange=()
  for n in "${!hosts[@]}"; do
    understand "$n" "$(<"$tmp/$n")" || return 1
    member[${ids[n]}]=$n
  done
  looked=yes
}

# What host N says of itself, and of the nodes that it knows.
understand() { # N OUTPUT
  local n id host name
  number n "$1"
  host=${hosts[n]}
  split "$2"
  [[ ${answers[0]} == PONG ]] || {
    reason="$host does not answer: $(printable "${answers[0]:-nothing came back}")"
    return 1
  }
  reason="$host answered only ${#answers[@]} of 6 questions in time, or at too great a length"
  [[ ${#answers[@]} == 6 ]] || return 1
  reason="$host does not say what it has"
  [[ ${answers[1]} =~ ^[0-9]+$ ]] || return 1
  keys[n]=${answers[1]}
  field role 'master|slave' "${answers[2]}" || return 1
  roles[n]=replica
  [[ $value != master ]] || roles[n]=primary
  links[n]=""
  ! field master_link_status 'up|down' "${answers[2]}" || links[n]=$value
  versions[n]=${answers[3]#cluster-announce-human-nodename$'\n'}
  field cluster_state 'ok|fail' "${answers[4]}" || return 1
  states[n]=$value
  read_nodes "${answers[4]}" "${answers[5]}" || {
    reason="$host: $table_problem"
    return 1
  }
  name=${node_host[$myself]}
  [[ $name == "$host" ]] || fail "the server that answers for $host calls itself $(quoted "${name:-nobody}"): it is not that pod"
  ids[n]=$myself primary_of[n]=${node_primary[$myself]} own_slots[n]=${node_slots[$myself]}
  reason="$host is $myself, but the others know $host as ${listed[n]:-}: a stranger took its name"
  [[ ${listed[n]:-$myself} == "$myself" ]] || return 1
  for id in "${!node_flags[@]}"; do
    [[ ${node_flags[$id]} != *handshake* ]] || continue # an id that will not stay
    seen[$id]=yes
    flags["$n $id"]=${node_flags[$id]} wires["$n $id"]=${node_link[$id]}
    claims["$n $id"]=${node_slots[$id]} follows["$n $id"]=${node_primary[$id]}
    [[ -n ${node_where[$id]} ]] || continue # another node answers at its address
    name=${node_host[$id]}
    # shellcheck disable=SC2053 # FAMILY is a pattern
    if [[ -n $name && $name == $FAMILY ]]; then address[$id]=$name; else strange[$id]=${node_where[$id]}; fi
  done
}

count_slots() { # RANGES
  local range from to sum=0
  for range in $1; do
    number from "${range%-*}"
    number to "${range#*-}"
    sum=$((sum + to - from + 1))
  done
  echo "$sum"
}

# The slots that no node owns in any view, as "from-to from-to ".
free_slots() {
  local key range first last from to next=0
  for key in "${!claims[@]}"; do
    for range in ${claims[$key]}; do echo "${range%-*} ${range#*-}"; done
  done | sort -n -u | {
    while read -r first last; do
      number from "$first"
      number to "$last"
      ((from <= next)) || printf '%d-%d ' "$next" $((from - 1))
      ((to < next)) || next=$((to + 1))
    done
    ((next > last_slot)) || printf '%d-%d ' "$next" "$last_slot"
  }
}

# The COUNT slots of RANGES behind the first SKIP, as "from-to from-to ".
cut_slots() { # SKIP COUNT RANGES
  local skip count range from to
  number skip "$1"
  number count "$2"
  for range in $3; do
    number from "${range%-*}"
    number to "${range#*-}"
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

# Every id that is none of the hosts', in any view: pods of this cluster that are to leave,
# nodes that are no more, strangers.
others() {
  local id
  for id in "${!seen[@]}"; do [[ -n ${member[$id]:-} ]] || echo "$id"; done
}

# What id owns in any view.
claimed_by() { # ID
  local n
  for n in "${!hosts[@]}"; do
    [[ -z ${claims["$n $1"]:-} ]] || { echo "${claims["$n $1"]}" && return; }
  done
}

# Whether all that know id consider it failed.
is_dead() { # ID
  local n flag
  for n in "${!hosts[@]}"; do
    flag=${flags["$n $1"]:-fail}
    has_failed "$flag" || [[ $flag == *noaddr* ]] || return 1
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
