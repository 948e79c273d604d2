#!/usr/bin/env bash
# Whether this node is ready. A rolling update goes on to the next pod when it is,
# so "ready" must mean that the shard has its copies again. But a node must not
# stay unready for what only the update itself can repair: that would stop it for
# ever, and Kubernetes deletes unready pods of an old version all at once.
#
#   ready.sh CLI [MARKER]    the client program; finds the password in its environment.
#                            Without the file MARKER this node may be missed by others.
set -eu
[[ -z ${2:-} || -e $2 ]]

# One process for all questions: on a busy node each one costs.
answer=$(printf '%s\n' ping 'info server' 'info replication' 'cluster info' 'cluster nodes' | "$1")
[[ $answer == PONG* ]] # a server that loads its data answers LOADING

declare -A info=() flags=()
primary=""
while read -r key _ flag of _; do
  if [[ $key =~ ^[0-9a-f]{40}$ ]]; then # id address flags primary...
    flags[$key]=$flag
    [[ $flag != *myself* ]] || primary=$of
  elif [[ $key == *:* ]]; then
    key=${key%$'\r'}
    info[${key%%:*}]=${key#*:}
  fi
done < <(printf '%s\n' "$answer") # not <<<, which writes a file when the cluster is large

if [[ ${info[role]} == slave ]]; then
  [[ ${info[master_link_status]} != up ]] || exit 0
  # Out of sync, which is worth waiting for while its primary lives.
  [[ ${flags[$primary]:-noaddr} == *fail* || ${flags[$primary]:-noaddr} == *noaddr* ]]
  exit
fi

# A primary that started a moment ago may be about to hear that it is a replica now.
# Later, another shard's trouble is no reason to call this node unready.
[[ ${info[cluster_state]} == ok || ${info[cluster_known_nodes]} == 1 || ${info[uptime_in_seconds]} -ge 60 ]]
