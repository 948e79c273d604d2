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

# shellcheck source=answers.sh
source "$(dirname "${BASH_SOURCE[0]}")/answers.sh"

# One process for all questions, but in trouble: on a busy node each one costs.
split "$(questions ping 'info server' 'info replication' 'cluster info' | "$1")"
# A server that loads its data answers LOADING.
[[ ${answers[0]} == PONG && ${#answers[@]} == 4 ]]

field role 'master|slave' "${answers[2]}"
if [[ $value == slave ]]; then
  ! field master_link_status up "${answers[2]}" || exit 0
  # Out of sync, which is worth waiting for while its primary lives.
  read_nodes_of "$1"
  primary=${node_flags[${node_primary[$myself]}]:-noaddr}
  has_failed "$primary" || [[ $primary == *noaddr* ]]
  exit
fi

# A primary that started a moment ago may be about to hear that it is a replica now.
# Later, another shard's trouble is no reason to call this node unready. What others
# write into the table of nodes is none at all, so a primary's is not looked at.
! field cluster_state ok "${answers[3]}" || exit 0
! field cluster_known_nodes 1 "${answers[3]}" || exit 0
field uptime_in_seconds '[0-9]+' "${answers[1]}"
uptime=0
number uptime "$value"
((uptime >= 60))
