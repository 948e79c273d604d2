#!/usr/bin/env bash
# A server without a volume begins empty in each new pod. Where a cluster misses the
# one that it was, it is brought back into the cluster before it is ready: else a
# rolling update would go on, and take the last copy of its shard. It never fails
# the start; what it cannot repair now, the next repair does.
#
#   rejoin.sh VARIABLES SCRIPT MARKER
#     VARIABLES  file with the converge script's, for a repair
#     SCRIPT     the converge script
#     MARKER     file that is there while this node is not what it was
set -uo pipefail
set -a
# shellcheck source=/dev/null
source "$1"
set +a
readonly script=$2 marker=$3

ask() { timeout 3 "$CLI" -e "$@" 2>/dev/null; }

until nodes=$(ask cluster nodes) && [[ -n $nodes ]]; do
  ((SECONDS < DEADLINE_SECONDS)) || exit 0
  sleep 0.2
done
# Only the container was restarted, and its node knows the others.
[[ $nodes != *$'\n'* ]] || exit 0

read -r _ me _ <<<"$nodes"
me=${me%%:*}

# Whether a cluster misses somebody: it has this name, or a node that lost its name,
# because another answers in its place. The others are asked by the Service's name,
# which has the addresses of all that run. A lookup of a name that is not there yet
# would be remembered by the DNS, and hold up those who need it a moment later.
is_missed() {
  local address view asked=() pid
  while read -r address _; do
    {
      view=$(ask -h "$address" -p "$PORT" cluster nodes)
      [[ $view == *$'\n'* && ($view == *" $me:"* || $view == *noaddr*) ]]
    } &
    asked+=($!)
  done < <(getent ahosts "${me#*.}" | sort -u -k1,1)
  for pid in "${asked[@]}"; do
    ! wait "$pid" || return 0
  done
  return 1
}

is_missed || exit 0 # a new cluster, or a new pod of one that grows
touch "$marker"
# The root file system is read-only.
! TMPDIR=${marker%/*} bash "$script" || rm -f "$marker"
exit 0
