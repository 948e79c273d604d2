#!/usr/bin/env bash
# Makes the servers in HOSTS one cluster: every node knows every other, PRIMARIES
# of them share the slots evenly, the rest replicate them. It looks first and does
# only what is missing, so it may be killed anywhere, run again, and run twice.
#
#   converge.sh [FILE]    FILE has those of the variables that the environment has not
#
#   CLI               name of the client program
#   PASSWORD_FILE     has the password; without it, it is in the client's variable
#   PORT              of every server
#   HOSTS             announced names, in the order in which a new cluster makes them primaries
#   SHARDS            the shard of each of HOSTS; empty: decided here
#   FAMILY            pattern of the names that are this cluster's, also of those that left HOSTS
#   PRIMARIES         number of shards
#   REPLICAS          of each
#   NODE_TIMEOUT      milliseconds, as the servers are configured
#   VERSION           of the pods, as their servers show it; empty: any
#   DEADLINE_SECONDS  for the whole run
#   MODE              bootstrap    slots that nobody owns, and nobody has keys for, are given out
#                     accept-loss  also those whose owner is lost with all its copies
#                     converge     they are not
#                     repair       no slot is moved either
#
# Variables that the functions of this file, observe.sh and slots.sh share. By host means
# by the number of a host in hosts, and in the view of one by "number id". Those of
# answers.sh are explained there.
#
#   variable    by     what it is                        set by             until
#   hosts       host   names: HOSTS, then who is to go   find_the_leaving   dismiss takes those that left out
#   shards      host   shard number; "" where any will do     the same
#   leaving     host   yes, for who is to go                  the same      dismiss empties it
#   listed      host   its id as the others know it, for who is to go  the same
#   ids         host   its node id                       understand         the next look, as those below
#   roles       host   primary or replica
#   primary_of  host   id of its primary, or -
#   own_slots   host   "from-to from from-to "
#   keys        host   how many it has
#   links       host   up, if a replica is in sync
#   states      host   ok, if it takes the cluster for well
#   versions    host   version of its pod
#   member      id     number of its host                look
#   flags       view   flags of the id                   understand
#   wires       view   connected, or not
#   claims      view   slots of the id, as own_slots
#   follows     view   id of the id's primary
#   seen        id     yes, if any host knows it
#   address     id     its announced name, if that is of this cluster
#   strange     id     its address, if that is not; any text
#   looked             yes: nothing changed since look   look               until_true, and whoever changes something
#   reason             why the last check failed         every check        the next one
#   primaries   shard  number of its primary's host      choose_primaries   the next call
#   wanted      host   number of the host to replicate   choose_replicas    the next call
#   met                when nodes were last introduced   meet               the next call
#   pace               seconds between early looks       balance            the end
#   source, target, count   the next move of slots       plan               the next call; balance has them
#   part               the slots of that move            balance            the next move
set -Eeuo pipefail

# shellcheck source=/dev/null
[[ -z ${1:-} ]] || source "$1"

# A Job that was made before there was a variable may run after it: the script is
# changed in place, the Job is not.
: "${SHARDS:=}" "${VERSION:=}"

here=$(dirname "${BASH_SOURCE[0]}")
# shellcheck source=answers.sh
source "$here/answers.sh"

# shellcheck disable=SC2153 # not the array primaries
number PRIMARIES "$PRIMARIES"
number REPLICAS "$REPLICAS"
number DEADLINE_SECONDS "$DEADLINE_SECONDS"
readonly last_slot=16383
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
trap 'exit 143' TERM

say() { printf '%4d s: %s\n' "$SECONDS" "$*"; }

# The last line is what the user reads in Pulumi's error.
fail() {
  say "FAILED: $*"
  exit 1
}

# Nothing ends the script without a reason.
trap '((BASH_SUBSHELL > 0)) || fail "line $LINENO of ${BASH_SOURCE[0]##*/}: $BASH_COMMAND"' ERR

# Repeats a check until it holds; the check says in $reason why it does not. What
# lasts longer than a cluster takes to form is asked for less often: on a small node
# the servers need the time that the questions take.
reason=""
pace=0.05
until_true() { # CHECK [ARG...]
  local began=$SECONDS
  until "$@"; do
    ((SECONDS < DEADLINE_SECONDS)) || fail "$reason (after $SECONDS s)"
    if ((SECONDS - began < 5)); then sleep "$pace"; else sleep 0.5; fi
    looked=""
  done
}

# shellcheck source=observe.sh
source "$here/observe.sh"
# shellcheck source=slots.sh
source "$here/slots.sh"

# Pods of this cluster that are not in HOSTS, but in it: a shard that is to go. Any node
# can take a name of this family; only a pod of this cluster answers by it.
find_the_leaving() {
  look || return 1
  local id name
  while read -r id; do
    name=${address[$id]:-}
    [[ -n $name && " ${hosts[*]} " != *" $name "* ]] || continue
    ! is_dead "$id" || continue
    reason="the node $id calls itself $name, but no pod of this cluster has that id: it is a stranger, unless that pod is terminating"
    [[ $(ask "$name" cluster myid) == "$id" ]] || return 1
    [[ $MODE != repair ]] || fail "$name is in the cluster, but not in what this run knows of it: it waits for the next pulumi up"
    [[ -n $SHARDS ]] || fail "$name is in the cluster, but is not wanted: with all pods in one StatefulSet a cluster cannot shrink"
    say "$name is to leave"
    looked="" leaving[${#hosts[@]}]=yes listed[${#hosts[@]}]=$id
    hosts+=("$name")
    shards+=("")
  done < <(others)
}

# The slots of a stranger are not given out, nor is it forgotten, which would hide who has
# taken them: a stranger with slots is a volume of another cluster, or an intruder.
refuse_strangers_with_slots() {
  local n id slots
  while read -r id; do
    [[ -n ${strange[$id]:-} ]] || continue
    slots=$(claimed_by "$id")
    [[ -n $slots ]] || continue
    for n in "${!hosts[@]}"; do
      [[ -z ${flags["$n $id"]:-} ]] ||
        fail "the slots ${slots% } are claimed by a stranger: ${hosts[n]} knows the node $id at $(quoted "${strange[$id]}"), which is not of this cluster; its slots were left alone; what to do: \"Strangers\" in components/hotkv/README.md"
    done
  done < <(others)
}

# MEET wants an address, and a name may still lead to one that another pod has by
# now: what answers there must be the node that answered by its name. A meeting
# can get lost, so whoever does not know somebody meets again.
met=-10
meet() {
  local n m found at=()
  ((SECONDS - met >= 2)) || return 0
  met=$SECONDS
  for m in "${!hosts[@]}"; do
    {
      read -r found _ < <(getent ahosts "${hosts[m]}") && [[ $found =~ ^[0-9a-fA-F.:]+$ ]] &&
        [[ $(ask "$found" cluster myid) == "${ids[m]}" ]] && echo "$found"
    } >"$tmp/at$m" &
  done
  wait
  for m in "${!hosts[@]}"; do read -r "at[m]" <"$tmp/at$m" || true; done
  for n in "${!hosts[@]}"; do
    for m in "${!hosts[@]}"; do
      [[ $m == "$n" || -z ${at[m]} ]] || knows "$n" "$m" || echo "cluster meet ${at[m]} $PORT"
    done >"$tmp/todo$n"
  done
  tell
}

knows() { # N M
  local m flag
  number m "$2"
  flag=${flags["$1 ${ids[m]}"]:-noaddr}
  [[ $flag != *noaddr* && ${wires["$1 ${ids[m]}"]} == connected || $1 == "$m" ]]
}

everybody_knows_everybody() {
  look || return 1
  local n m
  for n in "${!hosts[@]}"; do
    for m in "${!hosts[@]}"; do
      knows "$n" "$m" || {
        meet
        reason="${hosts[n]} does not know ${hosts[m]}"
        return 1
      }
    done
  done
}

# The primary of each shard: who owns slots is one. Where nobody does, a node that
# replicates nobody becomes one.
primaries=()
choose_primaries() {
  local n s role
  primaries=()
  for n in "${!hosts[@]}"; do
    [[ -n ${own_slots[n]} && -z ${leaving[n]:-} ]] || continue
    number s "${shards[n]:-${#primaries[@]}}"
    [[ -z ${primaries[s]:-} ]] || fail "${hosts[n]} and ${hosts[primaries[s]]} both own slots, but are of one shard"
    primaries[s]=$n
  done
  ((${#primaries[@]} <= PRIMARIES)) || fail "${#primaries[@]} nodes own slots, not $PRIMARIES: with all pods in one StatefulSet a cluster cannot shrink"
  for role in primary replica; do
    for n in "${!hosts[@]}"; do
      [[ -z ${own_slots[n]} && ${roles[n]} == "$role" && -z ${leaving[n]:-} ]] || continue
      number s "${shards[n]:-${#primaries[@]}}"
      [[ -n ${primaries[s]:-} ]] || ((s >= PRIMARIES)) || primaries[s]=$n
    done
  done
}

# A node that lost its volume is another node now. What the old one owned is with
# its replica as soon as that was elected, or else it is gone. Nothing is given out
# instead before somebody says so, and an id that owns slots is never forgotten:
# it is the only proof of the loss.
every_owner_is_here() {
  everybody_knows_everybody && views_agree || return 1
  refuse_strangers_with_slots
  local id n slots lost=()
  while read -r id; do
    slots=$(claimed_by "$id")
    [[ -n $slots ]] || continue
    for n in "${!hosts[@]}"; do
      [[ ${primary_of[n]} != "$id" ]] || {
        reason="${hosts[n]} has the data of $id, which is lost, but did not take over its slots"
        return 1
      }
    done
    is_dead "$id" || {
      reason="the slots ${slots% } are claimed by the node $id, which calls itself ${address[$id]:-nobody}, but no pod of this cluster has that id: it is a stranger, unless that pod is terminating"
      return 1
    }
    lost+=("$id")
    [[ $MODE == accept-loss ]] ||
      fail "the slots ${slots% } are lost: their owner $id is none of the pods any more, and none has a copy; bring a volume back, or set acceptDataLoss to any new text to go on with these slots empty; if others could reach port 16379, see \"Strangers\" in components/hotkv/README.md first"
  done < <(others)
  ((${#lost[@]} > 0)) || return 0
  say "the data of ${lost[*]} is given up"
  forget "${lost[@]}"
  return 1
}

forget() { # ID...
  local n id
  looked=""
  for n in "${!hosts[@]}"; do
    for id in "$@"; do
      [[ -z ${flags["$n $id"]:-} ]] || ask "${hosts[n]}" cluster forget "$id" >/dev/null &
    done
  done
  wait
}

nobody_remembers_others() {
  look || return 1
  refuse_strangers_with_slots
  local id gone=()
  while read -r id; do
    reason="the node $id, which is of no pod, owns slots"
    [[ -z $(claimed_by "$id") ]] || return 1
    gone+=("$id")
    say "forget $id${strange[$id]:+, a stranger at $(quoted "${strange[$id]}")}: it is not a node of any pod"
  done < <(others)
  ((${#gone[@]} > 0)) || return 0
  forget "${gone[@]}"
  reason="${gone[*]}: forgotten a moment ago, but here again"
  return 1
}

# Who replicates whom, by host number. Where shards are not given, everybody stays
# where it is, unless its shard has more than its number and another one less.
wanted=()
choose_replicas() {
  local n s p count=()
  wanted=()
  local -A shard_of=()
  for s in "${!primaries[@]}"; do
    shard_of[${ids[primaries[s]]}]=$s
    count[s]=0
  done
  local rest=()
  for n in "${!hosts[@]}"; do
    [[ -z ${leaving[n]:-} && " ${primaries[*]} " != *" $n "* ]] || continue
    s=-1
    [[ -z ${shards[n]:-${shard_of[${primary_of[n]}]:-}} ]] || number s "${shards[n]:-${shard_of[${primary_of[n]}]:-}}"
    if ((s >= 0)) && { [[ -n ${shards[n]} ]] || ((count[s] < REPLICAS)); }; then
      wanted[n]=${primaries[s]}
      count[s]=$((count[s] + 1))
    else
      rest+=("$n")
    fi
  done
  for n in "${rest[@]}"; do
    p=0
    for s in "${!primaries[@]}"; do ((count[s] >= count[p])) || p=$s; done
    wanted[n]=${primaries[p]}
    count[p]=$((count[p] + 1))
  done
}

everybody_else_replicates() {
  look || return 1
  local n p changed=""
  choose_primaries
  choose_replicas
  for n in "${!wanted[@]}"; do
    p=${wanted[n]}
    [[ ${primary_of[n]} != "${ids[p]}" ]] || continue
    changed=yes reason="${hosts[n]} does not replicate ${hosts[p]}"
    [[ -z ${own_slots[n]} ]] || fail "${hosts[n]} owns slots, but is to be a replica of ${hosts[p]}"
    say "${hosts[n]}: replicate ${hosts[p]}"
    {
      # A primary without slots: nobody can reach what it has.
      [[ ${roles[n]} == replica || ${keys[n]} == 0 ]] || echo flushall
      echo "cluster replicate ${ids[p]}"
    } >"$tmp/todo$n"
  done
  [[ -z $changed ]] || tell
  [[ -z $changed ]]
}

# The state alone is not health: it stays ok with a dead replica.
every_node_is_well() {
  look && views_agree || return 1
  local n m
  reason="a node that is none of the pods is remembered"
  [[ -z $(others) ]] || return 1
  for n in "${!hosts[@]}"; do
    reason="${hosts[n]} says that the cluster's state is ${states[n]}"
    [[ ${states[n]} == ok ]] || return 1
    reason="${hosts[n]} is not in sync with its primary"
    [[ ${roles[n]} == primary || ${links[n]} == up ]] || return 1
    for m in "${!hosts[@]}"; do
      reason="${hosts[n]} takes ${hosts[m]} for dead, or does not reach it"
      knows "$n" "$m" && ! has_failed "${flags["$n ${ids[m]}"]}" || return 1
      reason="${hosts[n]} does not know that ${hosts[m]} changed its part"
      [[ ${follows["$n ${ids[m]}"]} == "${primary_of[m]}" ]] || return 1
    done
  done
}

# An update of the pods may still be under way, when the run of Pulumi that began it
# was killed. Its end would not be seen, so it is waited for.
every_node_is_new() {
  look || return 1
  local n
  [[ -n $VERSION && $MODE != repair ]] || return 0
  for n in "${!hosts[@]}"; do
    reason="${hosts[n]} is not yet updated: it is $(printable "${versions[n]:-of no version}"), not $VERSION"
    [[ ${versions[n]} == "$VERSION" || -n ${leaving[n]:-} ]] || return 1
  done
}

# What clients ask for. A node that got its part in a crash can be missing here.
every_node_shows_the_shards() {
  local n part shown online
  for n in "${!hosts[@]}"; do ask_for_parts "${hosts[n]}" cluster shards >"$tmp/$n" & done
  wait
  for n in "${!hosts[@]}"; do
    shown=0 online=0
    while IFS= read -r part; do
      case $part in
      *'{"slots":['*) shown=$((shown + 1)) ;;
      '"health":"online"'*) online=$((online + 1)) ;;
      esac
    done <"$tmp/$n"
    reason="${hosts[n]} shows its clients $shown shards with $online nodes, not $PRIMARIES with ${#hosts[@]}"
    ((shown == PRIMARIES && online == ${#hosts[@]})) || return 1
  done
}

restore_node_timeout() {
  local n
  for n in "${!hosts[@]}"; do echo "config set cluster-node-timeout $NODE_TIMEOUT" >"$tmp/todo$n"; done
  tell
}

read -ra hosts <<<"${HOSTS:?}"
read -ra shards <<<"$SHARDS"
for n in "${!hosts[@]}"; do shards[n]=${shards[n]:-}; done

until_true look
say "all ${#hosts[@]} nodes answer"
refuse_strangers_with_slots
until_true find_the_leaving
until_true look

free=$(free_slots)
[[ -z $free ]] || give_out_slots
until_true everybody_knows_everybody
say "all nodes know each other"
until_true every_owner_is_here
until_true every_slot_has_an_owner
until_true nobody_remembers_others
until_true everybody_else_replicates
until_true every_node_is_new
until_true every_node_is_well
# Before the node timeout is back: what is asked here travels with pings, of which
# there are two in a node timeout.
((${#leaving[@]} > 0)) || until_true every_node_shows_the_shards
restore_node_timeout
if [[ $MODE != repair ]]; then
  balance
fi
until_true every_node_shows_the_shards
say "the cluster is ready: $PRIMARIES primaries, $((${#hosts[@]} - PRIMARIES)) replicas"
