#!/bin/sh
# Called with the directory of the image's root file system.
set -eu
install -d -o 999 -g 999 "$1/data"
