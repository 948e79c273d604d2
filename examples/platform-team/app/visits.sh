#!/usr/bin/env bash
# Counts visits in HotKV, by the first of its addresses: any of them leads to the others.
set -euo pipefail

first=${SESSIONS%%,*}
while visits=$(valkey-cli -e -c -h "${first%:*}" -p "${first##*:}" incr visits); do
  echo "visit $visits"
  touch /tmp/ready
  sleep 5
done
