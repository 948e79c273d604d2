#!/bin/sh
# Called with the directory of the image's root file system.
set -eu
here=$(dirname "$0")
root=$1

install -m 0755 "$here/hotkv-cli" "$root/usr/local/bin/hotkv-cli"
ln -s /usr/bin/valkey-server "$root/usr/local/bin/hotkv-server"
install -d -o 999 -g 999 "$root/data"
