#!/usr/bin/env bash
# A server without a volume begins empty in each new pod. Where a cluster misses the
# one that it was, it is brought back into it, and is not ready before: else a rolling
# update would go on, and take the last copy of its shard. That happens beside the
# server, which this starts: nobody reaches a pod that waits before it starts one.
#
#   rejoin.sh VARIABLES SCRIPT MARKER COMMAND...
#     VARIABLES  file with the converge script's, for a repair
#     SCRIPT     the converge script
#     MARKER     file that is there when this node has nothing to come back to, or did
#     COMMAND    starts the server
set -euo pipefail
readonly variables=$1 script=$2 marker=$3

ask() { timeout 3 "$CLI" -e -p "$PORT" "$@" 2>/dev/null; }

# Whether a cluster misses somebody: it has the name of this node, or one that lost its
# name because another answers in its place. The others are asked by the Service's
# name, which has the addresses of all that run. A lookup of a name that is not there
# yet would be remembered by the DNS, and hold up those who need it a moment later.
is_missed() { # NAME
  local address view asked=() pid
  while read -r address _; do
    {
      view=$(ask -h "$address" cluster nodes)
      [[ $view == *$'\n'* && ($view == *" $1:"* || $view == *noaddr*) ]]
    } &
    asked+=($!)
  done < <(getent ahosts "${1#*.}" | sort -u -k1,1)
  for pid in "${asked[@]}"; do
    ! wait "$pid" || return 0
  done
  return 1
}

come_back() {
  local nodes me
  [[ ! -e $marker ]] || return 0 # only the container was restarted
  set -a
  # shellcheck source=/dev/null
  source "$variables"
  set +a
  until nodes=$(ask cluster nodes) && [[ -n $nodes ]]; do sleep 0.2; done
  read -r _ me _ <<<"$nodes"
  # Who knows others already was brought back half. A pod that nobody misses is of a new
  # cluster, or new in one that grows.
  if [[ $nodes == *$'\n'* ]] || is_missed "${me%%:*}"; then
    # The root file system is read-only.
    until TMPDIR=${marker%/*} bash "$script"; do sleep 5; done
  fi
  touch "$marker"
}

come_back </dev/null &
exec "${@:4}"
