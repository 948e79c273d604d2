#!/usr/bin/env bash
# Makes the servers in HOSTS one cluster: every node knows every other, PRIMARIES
# of them share the slots, the rest replicate them. Looks first and only does what
# is missing, so it may be killed anywhere and run again.
#
#   CLI               name of the client program; finds the password in its environment
#   HOSTS             announced names, separated by spaces, in the order in which
#                     a new cluster makes them primaries
#   PORT              of every server
#   PRIMARIES         number of shards
#   BOOTSTRAP         true: slots that nobody owns and nobody has keys for are given out
#   DEADLINE_SECONDS  for the whole run
set -euo pipefail

readonly slots=16384
read -ra hosts <<<"${HOSTS:?}"
views=$(mktemp -d) # views/N: what host N says of the cluster, one line a node
trap 'rm -rf "$views"' EXIT
trap 'exit 143' TERM

say() { printf '%4d s: %s\n' "$SECONDS" "$*"; }

# The last line is what the user reads in Pulumi's error.
fail() {
  say "FAILED: $*"
  exit 1
}

# -e: without it the client answers an error with exit code 0.
ask() { # HOST WORD...
  local host=$1
  shift
  timeout 5 "$CLI" -e -h "$host" -p "$PORT" "$@" 2>&1
}

# Repeats a check until it holds; the check says in $reason why it does not.
reason=""
until_true() { # CHECK [ARG...]
  until "$@"; do
    [ "$SECONDS" -lt "$DEADLINE_SECONDS" ] || fail "$reason (after $SECONDS s)"
    sleep 0.2
  done
}

every_host_answers() {
  local host answer
  for host in "${hosts[@]}"; do
    answer=$(ask "$host" ping) || true
    [ "$answer" = PONG ] || {
      reason="$host does not answer: ${answer:-no reply}"
      return 1
    }
  done
}

# Reads every node's view, and its id into ids.
ids=()
look() {
  local n
  ids=()
  for n in "${!hosts[@]}"; do
    ask "${hosts[n]}" cluster nodes >"$views/$n" || {
      reason="${hosts[n]} does not say what it sees: $(head -1 "$views/$n")"
      return 1
    }
    ids[n]=$(awk '$3 ~ /myself/ {print $1}' "$views/$n")
  done
}

# Fields of a line of CLUSTER NODES: 1 id, 2 address, 3 flags, 4 primary's id,
# 8 link state, from 9 on slots ("[" starts a slot that is on its way).
own_role() { awk '$3 ~ /myself/ {print ($3 ~ /master/) ? "primary" : "replica"}' "$views/$1"; }
own_primary() { awk '$3 ~ /myself/ {print $4}' "$views/$1"; }
own_slots() {
  awk '$3 ~ /myself/ {for (i = 9; i <= NF; i++) if ($i !~ /^\[/) {split($i, r, "-"); n += (r[2] == "" ? 1 : r[2] - r[1] + 1)}}
       END {print n + 0}' "$views/$1"
}

# The slots from $1 to $2 that no node owns in any node's view, as "from to from to".
free_slots() {
  cat "$views"/* | awk -v from="$1" -v to="$2" '
    {for (i = 9; i <= NF; i++) if ($i !~ /^\[/) {split($i, r, "-"); for (s = r[1] + 0; s <= (r[2] == "" ? r[1] : r[2]) + 0; s++) owned[s] = 1}}
    END {
      for (s = from; s <= to + 1; s++) {
        if (s <= to && !(s in owned)) {if (start == "") start = s}
        else if (start != "") {printf "%d %d ", start, s - 1; start = ""}
      }
    }'
}

# MEET wants an address. A meeting can get lost, so this is repeated until all
# views are complete: every node sees every other one, connected both ways.
everybody_knows_everybody() {
  look || return 1
  local n m address complete=true
  for n in "${!hosts[@]}"; do
    for m in "${!hosts[@]}"; do
      [ "$n" != "$m" ] || continue
      if ! awk -v id="${ids[m]}" '$1 == id && $3 !~ /handshake|noaddr/ && $8 == "connected" {found = 1} END {exit !found}' "$views/$n"; then
        complete=false
        reason="${hosts[n]} does not see ${hosts[m]}"
        grep -q "^${ids[m]} " "$views/$n" && continue
        address=$(getent ahosts "${hosts[m]}" | awk 'NR == 1 {print $1}') || continue
        ask "${hosts[n]}" cluster meet "$address" "$PORT" >/dev/null || true
      fi
    done
  done
  $complete || {
    sleep 0.5
    return 1
  }
}

# Shard k of a new cluster is the k-th part of the slots and belongs to host k.
# ADDSLOTSRANGE takes all slots of a call or none, so a run that was killed here
# leaves whole parts without an owner.
every_slot_has_an_owner() {
  look || return 1
  local host free keys k from to
  free=$(free_slots 0 $((slots - 1)))
  [ -n "$free" ] || return 0
  for host in "${hosts[@]}"; do
    keys=$(ask "$host" dbsize) || {
      reason="$host does not say how many keys it has: $keys"
      return 1
    }
    [ "$keys" = 0 ] || fail "nobody owns the slots ${free% }, but $host has $keys keys: the owner of these slots is lost with its data"
  done
  [ "$BOOTSTRAP" = true ] || fail "nobody owns the slots ${free% } and all nodes are empty: only the init Job makes a new cluster; delete it and run pulumi up --refresh when these volumes may be new ones"
  for ((k = 0; k < PRIMARIES; k++)); do
    from=$(((slots * k + PRIMARIES / 2) / PRIMARIES))
    to=$(((slots * (k + 1) + PRIMARIES / 2) / PRIMARIES - 1))
    free=$(free_slots "$from" "$to")
    [ -n "$free" ] || continue
    say "slots $from to $to: ${hosts[k]}"
    # shellcheck disable=SC2086 # pairs of numbers
    reason=$(ask "${hosts[k]}" cluster addslotsrange $free) || {
      reason="${hosts[k]} does not take slots: $reason"
      return 1
    }
  done
  reason="slots were given out a moment ago"
  return 1
}

# A node without slots becomes a replica of the primary that has the fewest. A
# replica of a node that lost its slots follows the slots.
everybody_without_slots_replicates() {
  look || return 1
  local n m p best count least answer changed=false
  local -A replicas=()
  for n in "${!hosts[@]}"; do
    [ "$(own_slots "$n")" -gt 0 ] && replicas[${ids[n]}]=0
  done
  [ "${#replicas[@]}" -eq "$PRIMARIES" ] || fail "${#replicas[@]} nodes own slots, not $PRIMARIES: this layout is not the one that was asked for"
  for n in "${!hosts[@]}"; do
    p=$(own_primary "$n")
    [ -n "${replicas[$p]:-}" ] && replicas[$p]=$((replicas[$p] + 1))
  done
  for n in "${!hosts[@]}"; do
    [ "$(own_slots "$n")" = 0 ] || continue
    p=$(own_primary "$n")
    [ "$(own_role "$n")" = replica ] && [ -n "${replicas[$p]:-}" ] && continue
    best=""
    for m in "${!hosts[@]}"; do
      count=${replicas[${ids[m]}]:-}
      [ -n "$count" ] || continue
      if [ -z "$best" ] || [ "$count" -lt "$least" ]; then
        best=$m
        least=$count
      fi
    done
    answer=$(ask "${hosts[n]}" cluster replicate "${ids[best]}") || {
      reason="${hosts[n]} does not replicate ${hosts[best]}: $answer"
      return 1
    }
    say "${hosts[n]} replicates ${hosts[best]}"
    replicas[${ids[best]}]=$((replicas[${ids[best]}] + 1))
    changed=true
  done
  ! $changed || {
    reason="replicas were attached a moment ago"
    return 1
  }
}

# A pod that lost its volume comes back with another id; its old one stays behind
# in every view. An id that owns slots is never forgotten: they would be lost.
nobody_remembers_a_stranger() {
  look || return 1
  local host id clean=true
  while read -r id; do
    [[ " ${ids[*]} " != *" $id "* ]] || continue
    if cat "$views"/* | awk -v id="$id" '$1 == id && NF > 8 {found = 1} END {exit !found}'; then
      fail "node $id owns slots but is none of the pods: its data is lost with its volume, or another cluster was met"
    fi
    say "forget $id, which is none of the pods"
    for host in "${hosts[@]}"; do
      ask "$host" cluster forget "$id" </dev/null >/dev/null || true
    done
    clean=false
    reason="a node that is gone was forgotten a moment ago"
  done < <(cat "$views"/* | awk '$3 !~ /handshake/ {print $1}' | sort -u)
  $clean
}

# cluster_state alone is not health: it stays ok with a dead replica.
every_node_agrees() {
  local host info replication want
  for host in "${hosts[@]}"; do
    reason="$host does not say how it sees the cluster"
    info=$(ask "$host" cluster info | tr -d '\r') || return 1
    for want in cluster_state:ok cluster_slots_ok:$slots "cluster_known_nodes:${#hosts[@]}" "cluster_size:$PRIMARIES"; do
      grep -qx "$want" <<<"$info" || {
        reason="$host says $(grep "^${want%%:*}:" <<<"$info"), not $want"
        return 1
      }
    done
    replication=$(ask "$host" info replication | tr -d '\r') || return 1
    if grep -qx role:slave <<<"$replication" && ! grep -qx master_link_status:up <<<"$replication"; then
      reason="$host has no link to its primary"
      return 1
    fi
  done
}

until_true every_host_answers
say "all ${#hosts[@]} nodes answer"
until_true everybody_knows_everybody
say "all nodes know each other"
until_true every_slot_has_an_owner
until_true nobody_remembers_a_stranger
until_true everybody_without_slots_replicates
until_true every_node_agrees
say "the cluster is ready: $PRIMARIES primaries, $((${#hosts[@]} - PRIMARIES)) replicas"
