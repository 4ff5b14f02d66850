#!/bin/sh
# Installs those of the given Debian packages that are missing, as root or with sudo; otherwise
# prints which they are.
missing=
for p; do
	dpkg-query -W -f '${Status}' "$p" 2>/dev/null | grep -q 'ok installed' || missing="$missing $p"
done
[ -n "$missing" ] || exit 0
if ! command -v apt-get >/dev/null; then
	echo "deps: please install what these Debian packages hold:$missing" >&2
	exit 0
fi
as=
if [ "$(id -u)" != 0 ]; then
	if command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
		as=sudo
	else
		echo "deps: please run: apt-get install$missing" >&2
		exit 1
	fi
fi
echo "deps: installing$missing" >&2
export DEBIAN_FRONTEND=noninteractive
$as apt-get update -q >/dev/null 2>&1
if ! log=$($as apt-get install -y -q --no-install-recommends $missing 2>&1); then
	echo "$log" | tail -n 5 >&2
	echo "deps: could not install$missing" >&2
	exit 1
fi
