#!/usr/bin/env bash
# Before a primary stops, it hands its slots to a replica while it still serves:
# clients see a redirection, not a refused connection. It never fails the stop.
#
#   handover.sh CLI SECONDS    the client program, and how long to wait for a
#                              replica that is in sync
set -uo pipefail
readonly cli=$1 patience=$2

# A pod that is only being restarted answers again sooner than this. Without any
# replica that answers there is nothing to wait for, as when all is being deleted.
readonly lonely=20

# Clients learn the new primary from redirections that this node still answers.
readonly linger=3

ask() { timeout 3 "$cli" -e "$@" 2>/dev/null; }
# A server that is too busy to answer in time is no replica.
is_replica() { [[ $(ask role) == slave* ]]; }

until nodes=$(ask cluster nodes) && [[ -n $nodes ]]; do
  ((SECONDS < lonely)) || exit 0
  sleep 0.2
done

# Who may vote: primaries with slots that live, as "id id ".
id="" role="" voters="" size=0
while read -r node _ flag _ _ _ _ _ slots; do
  [[ $flag != *myself* ]] || { id=$node && [[ $flag == *slave* ]] && role=replica; }
  [[ $flag == *master* && -n $slots ]] || continue
  size=$((size + 1))
  [[ $flag == *fail* ]] || voters+="$node "
done < <(printf '%s\n' "$nodes")
[[ $voters == *"$id "* || $role == replica ]] || exit 0 # a primary without slots

# A vote travels over the voter's own connection to the replica. Right after the
# replica's restart that connection may not be back: the vote gets lost, and writes
# stand still until the failover times out.
hears_a_majority() { # HOST
  local direction="" key value votes=0
  while read -r key && read -r value; do
    case $key in
    direction) direction=$value ;;
    node) [[ $direction != from || $voters != *"$value "* ]] || votes=$((votes + 1)) ;;
    esac
  done < <(ask -h "$1" cluster links)
  ((votes * 2 > size))
}

# Waits for a replica in sync that stays, and makes it the primary.
hand_over() {
  local answered=$SECONDS host address link # answered: when a replica last did
  while ((SECONDS < patience && SECONDS - answered <= lonely)); do
    while read -r _ address _ _ _ _ _ link _; do
      host=${address%%:*}
      [[ $link == connected && $(ask -h "$host" ping) == PONG ]] || continue
      answered=$SECONDS
      [[ $(ask -h "$host" config get cluster-replica-no-failover) == *no ]] || continue
      [[ $(ask -h "$host" info replication) == *master_link_status:up* ]] || continue
      hears_a_majority "$host" || continue
      ask -h "$host" cluster failover >/dev/null || continue
      for _ in {1..60}; do
        ! is_replica || return 0
        sleep 0.1
      done
    done < <(ask cluster replicas "$id")
    ! is_replica || return 0
    sleep 0.2
  done
  return 1
}

# Who stops must not be handed anything. A primary that asked just before it knew
# may still do so: then this node is a primary now.
ask config set cluster-replica-no-failover yes >/dev/null
! is_replica || sleep 1
until is_replica; do
  hand_over || exit 0
  sleep "$linger"
done
exit 0
