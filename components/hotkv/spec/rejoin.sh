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

# shellcheck source=answers.sh
source "$(dirname "${BASH_SOURCE[0]}")/answers.sh"

ask() { timeout 3 "$CLI" -e -p "$PORT" "$@" 2>/dev/null; }

# Whether the table that was read lists another node of this cluster, or one without an
# address, because another node answers there now. With NAME, a node with an address
# counts only if NAME is its host.
has() { # [NAME]
  local id host
  for id in "${!node_flags[@]}"; do
    [[ $id != "$myself" && ${node_flags[$id]} != *handshake* ]] || continue
    [[ -n ${node_where[$id]} ]] || return 0
    host=${node_host[$id]}
    # shellcheck disable=SC2053 # FAMILY is a pattern
    [[ -n $host && $host == ${1:-$FAMILY} ]] && return 0
  done
  return 1
}

# Whether a cluster misses the node called NAME. The others are asked by the Service's
# name, which has the addresses of all that run. A lookup of a name that is not there
# yet would be remembered by the DNS, and hold up those who need it a moment later.
is_missed() { # NAME
  local where asked=() pid
  while read -r where _; do
    [[ $where =~ ^[0-9a-fA-F.:]+$ ]] || continue
    { read_nodes_of ask -h "$where" && has "$1"; } &
    asked+=($!)
  done < <(getent ahosts "${1#*.}" | sort -u -k1,1)
  for pid in "${asked[@]}"; do
    ! wait "$pid" || return 0
  done
  return 1
}

come_back() {
  [[ ! -e $marker ]] || return 0 # only the container was restarted
  set -a
  # shellcheck source=/dev/null
  source "$variables"
  set +a
  until read_nodes_of ask; do sleep 0.2; done
  # Who knows others already was brought back half. A pod that nobody misses is of a new
  # cluster, or new in one that grows.
  if has || is_missed "${node_host[$myself]}"; then
    # The root file system is read-only.
    until TMPDIR=${marker%/*} bash "$script"; do sleep 5; done
  fi
  touch "$marker"
}

come_back </dev/null &
exec "${@:4}"
