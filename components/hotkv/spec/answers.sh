# shellcheck shell=bash disable=SC2034 # variables for the scripts that source this
# Takes apart what servers answer. A server's table of nodes is not its own text: whoever
# reaches its bus port can write names into it, with spaces, line breaks and $(commands).
# So every field must fit a strict pattern, and a table that does not fit as a whole is
# not used at all. Sourced by every script that asks a server.

export LC_ALL=C # [a-f] are six letters, and a character is a byte

readonly node_id='[0-9a-f]{40}'
readonly node_flag='(myself|master|slave|fail\?|fail|handshake|noaddr|nofailover|noflags)'
readonly node_head="^($node_id) (.*) ($node_flag(,$node_flag)*) (-|$node_id) [0-9]{1,20} [0-9]{1,20} [0-9]{1,20} (dis)?\$"
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

# Splits the OUTPUT of a client into the array answers. These are as many as the
# questions only if the server answered all of them.
answers=()
split() { # OUTPUT
  local rest=$'\n'$1$'\n' end=$'\n'$mark$'\n' answer
  answers=()
  while [[ $rest == *"$end"* ]]; do
    answer=${rest%%"$end"*}
    answers+=("${answer#$'\n'}")
    rest=$'\n'${rest:${#answer}+${#end}}
  done
  ((${#answers[@]} > 0)) || answers=("$1")
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
  local line id lines=0 own=0
  forget_nodes
  field cluster_known_nodes '[0-9]+' "$1" || { table_problem="it does not say how many nodes it knows" && return 1; }
  while IFS= read -r line; do
    lines=$((lines + 1))
    read_node "$line" || table_problem=${table_problem:-a stranger wrote $(quoted "$line") into its table of nodes}
  done < <(printf '%s\n' "$2")
  for id in "${!node_flags[@]}"; do
    [[ ${node_flags[$id]} != *myself* ]] || { myself=$id && own=$((own + 1)); }
  done
  [[ $lines == "$value" && $own == 1 ]] ||
    table_problem=${table_problem:-a stranger wrote into its table of nodes, which has $lines lines for $value nodes}
  [[ -n $table_problem ]] || return 0
  line=$table_problem
  forget_nodes
  table_problem=$line
  return 1
}

# Reads the table of the server that a CLIENT asks.
read_nodes_of() { # CLIENT [WORD...]
  split "$(questions 'cluster info' 'cluster nodes' | "$@")"
  [[ ${#answers[@]} == 2 ]] && read_nodes "${answers[@]}"
}

forget_nodes() {
  node_flags=() node_primary=() node_link=() node_slots=() node_host=() node_where=()
  myself="" table_problem=""
}

# The server writes all fields but the address. So the line is read from its end: what
# follows the last "connected" are slots.
read_node() { # LINE
  local - slots=${1##*connected} id where word
  set -f # slots on their way are in brackets
  [[ -z $slots || $slots == " "* ]] || return 1
  [[ ${1%connected"$slots"} =~ $node_head ]] || return 1
  id=${BASH_REMATCH[1]} where=${BASH_REMATCH[2]}
  [[ -z ${node_flags[$id]:-} ]] || return 1
  node_flags[$id]=${BASH_REMATCH[3]}
  node_primary[$id]=${BASH_REMATCH[7]}
  node_link[$id]=${BASH_REMATCH[8]}connected
  node_slots[$id]="" node_host[$id]="" node_where[$id]=$where
  if [[ $where =~ $node_address ]]; then
    node_host[$id]=${BASH_REMATCH[1]}
    [[ -n ${BASH_REMATCH[1]} ]] || node_where[$id]=""
  fi
  for word in $slots; do
    if [[ $word =~ $slot_range ]]; then
      node_slots[$id]+="$word "
    else
      [[ $word =~ $moving_slot ]] || return 1
    fi
  done
}
