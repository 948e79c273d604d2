# shellcheck shell=bash disable=SC2034 # variables for the scripts that source this
# Takes apart what servers answer. A server's table of nodes is not its own text: whoever
# reaches its bus port can write names into it, with spaces, line breaks and $(commands).
# So every field must fit a strict pattern, and a table that does not fit as a whole is
# not used at all. Sourced by every script that asks a server.

export LC_ALL=C # [a-f] are six letters, and a character is a byte

readonly node_id='[0-9a-f]{40}'
readonly node_flag='(myself|master|slave|fail\?|fail|handshake|noaddr|nofailover|noflags)'
readonly node_fields="^$node_id $node_flag(,$node_flag)* (-|$node_id) [0-9]{1,20} [0-9]{1,20} [0-9]{1,20} (dis)?connected\$"
readonly node_address='^([0-9A-Za-z.:-]*):[0-9]{1,5}@[0-9]{1,5}(,[0-9A-Za-z._-]*)?$'
readonly slot='(0|[1-9][0-9]{0,3}|1[0-5][0-9]{3}|16[0-2][0-9]{2}|163[0-7][0-9]|1638[0-3])'
readonly slot_range="^$slot(-$slot)?\$"
readonly moving_slot="^\\[$slot-[<>]-$node_id\\]\$"

# Sets NAME to TEXT, which must be a whole number. Bash runs commands that are in a text
# with which it calculates, so a number from outside gets into a script only by this.
number() { # NAME TEXT
  [[ $2 =~ ^(0|[1-9][0-9]{0,17})$ ]] || {
    echo "FAILED: a whole number was expected, not $(quoted "$2")" >&2
    exit 1
  }
  printf -v "$1" %s "$2"
}

# The first line of TEXT, as a message may show it.
printable() { # TEXT
  local line=${1%%$'\n'*}
  line=${line:0:200}
  line=${line%$'\r'}
  echo "${line//[^[:print:]]/?}"
}

# What a stranger wrote, without spaces: in a message it must not read like advice.
quoted() { # TEXT
  local text=${1:0:100}
  echo "\"${text//[^0-9A-Za-z.:@_-]/?}\""
}

# Asked for between two questions, it keeps an answer from passing for the next one:
# nobody can know it beforehand.
readonly mark="end-$RANDOM-$RANDOM-$RANDOM-${SRANDOM:-0}"

# The input of a client that is to answer each QUESTION.
questions() { # QUESTION...
  printf "%s\necho $mark\n" "$@"
}

# The same for "cluster info" and "cluster nodes", as they are at one moment. Between two
# requests a node may go, and the number of nodes would fit a line that a stranger wrote.
questions_of_nodes() {
  printf '%s\n' multi 'cluster info' "echo $mark" 'cluster nodes' exec "echo $mark"
}

# Splits the OUTPUT of a client into the array answers. These are as many as the
# questions only if the server answered all of them. A table of 1000 nodes has 150 kB; a
# stranger can make it any length, and what takes too long to read counts as no answer.
readonly longest=300000
answers=()
split() { # OUTPUT
  local IFS=$'\n' lines n from=0
  answers=()
  mapfile -t lines < <(printf '%s\n' "${1:0:longest}")
  for n in "${!lines[@]}"; do
    [[ ${lines[n]} == "$mark" ]] || continue
    answers+=("${lines[*]:from:n-from}")
    from=$((n + 1))
  done
  ((${#answers[@]} > 0)) || answers=("${1:0:200}")
}

# Sets value to that of NAME in an INFO. There must be exactly one, and it must fit.
value=""
field() { # NAME PATTERN INFO
  local rest=$'\n'$3 key=$'\n'$1: before
  value=""
  [[ $rest == *"$key"* ]] || return 1
  before=${rest%%"$key"*}
  rest=${rest:${#before}+${#key}}
  [[ $rest != *"$key"* ]] || return 1
  rest=${rest%%$'\n'*}
  rest=${rest%$'\r'}
  [[ $rest =~ ^($2)$ ]] || return 1
  value=$rest
}

# Whether FLAGS are those of a node that failed or seems to. They may have "nofailover".
has_failed() { # FLAGS
  [[ ,$1, == *,fail,* || ,$1, == *",fail?,"* ]]
}

# Reads the answers INFO to "cluster info" and TABLE to "cluster nodes". Sets, by id:
#
#   node_flags    as the server writes them
#   node_primary  id of its primary, or -
#   node_link     connected or disconnected
#   node_slots    "from-to from from-to "; not those that are on their way
#   node_host     the host of its address; empty if it has none, or if there is more in
#                 it than letters, digits, dots, colons and hyphens
#   node_where    its whole address, which may be any text: print it with quoted; empty
#                 if it has none
#
# and myself, the id of the server. A node has one line. An address with a line break
# makes two of it, which may look like any nodes; the server knows how many there are.
# Where that differs, or a line does not fit, no node is known, and table_problem says why.
declare -A node_flags=() node_primary=() node_link=() node_slots=() node_host=() node_where=()
myself="" table_problem=""
read_nodes() { # INFO TABLE
  local line id count=0 own=0
  forget_nodes
  field cluster_known_nodes '[0-9]+' "$1" || { table_problem="it does not say how many nodes it knows" && return 1; }
  while IFS= read -r line; do
    count=$((count + 1))
    read_node "$line" || table_problem=${table_problem:-a stranger wrote $(quoted "$line") into its table of nodes}
  done < <(printf '%s\n' "${2%$'\n'}") # in a transaction the client ends a table twice
  for id in "${!node_flags[@]}"; do
    [[ ${node_flags[$id]} != *myself* ]] || { myself=$id && own=$((own + 1)); }
  done
  [[ $count == "$value" && $own == 1 ]] ||
    table_problem=${table_problem:-a stranger wrote into its table of nodes, which has $count lines for $value nodes}
  [[ -n $table_problem ]] || return 0
  line=$table_problem
  forget_nodes
  table_problem=$line
  return 1
}

# Reads the table of the server that a CLIENT asks.
read_nodes_of() { # CLIENT [WORD...]
  split "$(questions_of_nodes | "$@")"
  [[ ${#answers[@]} == 2 ]] && read_nodes "${answers[@]}"
}

forget_nodes() {
  node_flags=() node_primary=() node_link=() node_slots=() node_host=() node_where=()
  myself="" table_problem=""
}

# The server writes all fields but the address, which may be many words. So the line is
# read from its end, where the slots are.
read_node() { # LINE
  local - IFS=' ' words n id slots="" where
  set -f # slots on their way are in brackets
  # shellcheck disable=SC2206 # split into words
  words=($1)
  for ((n = ${#words[@]} - 1; n > 6; n--)); do
    if [[ ${words[n]} =~ $slot_range ]]; then
      slots="${words[n]} $slots"
    else
      [[ ${words[n]} =~ $moving_slot ]] || break
    fi
  done
  ((n > 6)) || return 1
  [[ "${words[0]} ${words[*]:n-5:6}" =~ $node_fields && $1 == "${words[0]} "* ]] || return 1
  id=${words[0]} where=${words[*]:1:n-6}
  [[ -z ${node_flags[$id]:-} ]] || return 1
  node_flags[$id]=${words[n - 5]} node_primary[$id]=${words[n - 4]} node_link[$id]=${words[n]}
  node_slots[$id]=$slots node_host[$id]="" node_where[$id]=$where
  [[ $where =~ $node_address ]] || return 0
  node_host[$id]=${BASH_REMATCH[1]}
  [[ -n ${BASH_REMATCH[1]} ]] || node_where[$id]=""
}
