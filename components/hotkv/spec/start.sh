#!/usr/bin/env bash
# Starts the server with a password that is in no argument and no variable of it.
#
#   start.sh FILE SERVER ARGUMENT...    the password is all of FILE
set -eu

IFS= read -r -d '' password <"$1" || true
if [[ -z $password || $password == *[[:cntrl:]]* ]]; then
  echo "the password is empty, or has a line break or another control character in it: make the Secret with printf, not with echo" >&2
  exit 1
fi
# The container has it in a variable, for the clients that Kubernetes runs beside the
# server; these get it from the container, not from here.
unset HOTKVCLI_AUTH REDISCLI_AUTH
password=${password//\\/\\\\}
password=${password//\"/\\\"}
exec "${@:2}" - < <(printf 'requirepass "%s"\nmasterauth "%s"\n' "$password" "$password")
