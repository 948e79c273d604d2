#!/usr/bin/env bash
# Before a primary stops, it hands its slots to a replica while it still serves:
# clients see a redirection, not a refused connection. It never fails the stop.
#
#   handover.sh CLI SECONDS    the client program, and how long to wait for a
#                              replica that is in sync
set -uo pipefail
readonly cli=$1

here=$(dirname "${BASH_SOURCE[0]}")
# shellcheck source=answers.sh
source "$here/answers.sh"
# The pattern FAMILY of the names that are this cluster's: the password goes to no others.
# shellcheck source=/dev/null
source "$here/family.env"
seconds=0
number seconds "$2"

# A pod that is only being restarted answers again sooner than this. Without any
# replica that answers there is nothing to wait for, as when all is being deleted.
readonly lonely=20

# Clients learn the new primary from redirections that this node still answers.
readonly linger=3

ask() { timeout 3 "$cli" -e "$@" 2>/dev/null; }
# A server that is too busy to answer in time is no replica.
is_replica() { [[ $(ask role) == slave* ]]; }

# Sets voters to the primaries with slots that live, and size to the number of all.
declare -A voters=()
size=0
count_voters() {
  local id
  voters=() size=0
  for id in "${!node_flags[@]}"; do
    [[ ${node_flags[$id]} == *master* && -n ${node_slots[$id]} ]] || continue
    size=$((size + 1))
    has_failed "${node_flags[$id]}" || voters[$id]=yes
  done
}

# A vote travels over the voter's own connection to the replica. Right after the
# replica's restart that connection may not be back: the vote gets lost, and writes
# stand still until the failover times out.
hears_a_majority() { # HOST
  local links id votes=0
  links=$(ask -h "$1" --json cluster links)
  for id in "${!voters[@]}"; do
    [[ $links != *'"direction":"from","node":"'"$id"'"'* ]] || votes=$((votes + 1))
  done
  ((votes * 2 > size))
}

# The hosts of this node's replicas, each with its id.
replicas() {
  local id
  for id in "${!node_primary[@]}"; do
    # shellcheck disable=SC2053 # FAMILY is a pattern
    [[ ${node_primary[$id]} == "$myself" && ${node_link[$id]} == connected && -n ${node_host[$id]} && ${node_host[$id]} == $FAMILY ]] || continue
    echo "${node_host[$id]} $id"
  done
}

# Waits for a replica in sync that stays, and makes it the primary.
hand_over() {
  local answered=$SECONDS host id # answered: when a replica last did
  while ((SECONDS < seconds && SECONDS - answered <= lonely)); do
    read_nodes_of ask || node_primary=()
    while read -r host id <&3; do # the client may read what is left
      split "$(questions 'cluster myid' 'config get cluster-replica-no-failover' 'info replication' | ask -h "$host")"
      [[ ${answers[0]} == "$id" && ${#answers[@]} == 3 ]] || continue
      answered=$SECONDS
      [[ ${answers[1]} == *no ]] || continue
      field master_link_status up "${answers[2]}" || continue
      hears_a_majority "$host" || continue
      ask -h "$host" cluster failover >/dev/null || continue
      for _ in {1..60}; do
        ! is_replica || return 0
        sleep 0.1
      done
    done 3< <(replicas)
    ! is_replica || return 0
    sleep 0.2
  done
  return 1
}

until read_nodes_of ask; do
  ((SECONDS < lonely)) || exit 0
  sleep 0.2
done
count_voters
# Nothing to do for a primary without slots.
[[ -n ${voters[$myself]:-} || ${node_flags[$myself]} == *slave* ]] || exit 0

# Who stops must not be handed anything. A primary that asked just before it knew
# may still do so: then this node is a primary now.
ask config set cluster-replica-no-failover yes >/dev/null
! is_replica || sleep 1
until is_replica; do
  hand_over || exit 0
  sleep "$linger"
done
exit 0
