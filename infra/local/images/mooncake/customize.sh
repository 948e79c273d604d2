#!/bin/sh
# Called with the directory of the image's root file system; adds the versions of
# the wheels to the file $VERSIONS.
set -eu
here=$(dirname "$0")
root=$1
packages=/usr/local/lib/python3.13/dist-packages

# The pip of this machine, not one in the image: it has the machine's package index
# and certificates. By its path, because a python3 found on PATH may have no pip, and
# pip writes its own interpreter into the scripts that it installs.
pip() { /usr/bin/python3 -m pip "$@"; }

# All requirements are listed: pip would choose among them by its own Python version.
pip install --quiet --root-user-action=ignore --target "$root$packages" \
	--python-version 3.13 --only-binary :all: --no-deps --require-hashes --no-compile \
	--requirement "$here/requirements.txt"
pip list --path "$root$packages" --format freeze | sed 's/==/ /' >>"$VERSIONS"

cd "$root$packages"
mv bin/mooncake_* "$root/usr/local/bin/"
rm -r bin
rm mooncake/transfer_engine_bench # 42 MB that nothing runs

# No container may write there later.
chroot "$root" python3 -m compileall -q "$packages"

# Left by the compiler of Debian's own packages, and not the same on every machine.
rm -r "$root/usr/share/python3/debpython/__pycache__"

# Fail here, and not in a pod, when a library is missing.
chroot "$root" python3 -c 'import mooncake.store'
chroot "$root" mooncake_master --version
