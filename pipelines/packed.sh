#!/usr/bin/env bash
# A classifier leaves the project: packed.t becomes a library, which packed.c and packed.py use with nothing
# of Sluice on their path. Prints how many of 797 digits each gets right.
. "$(dirname "$0")/tools.sh"
cd "$work"
"$bin/trace" "$here/packed.t" | "$bin/fuse" > fused.mp
"$bin/pack" --name digit --so --static --threads none -o lib fused.mp

# members of the .npz, without the heads of their .npy
content() { python3 -c 'import sys, zipfile; sys.stdout.buffer.write(zipfile.ZipFile(sys.argv[1]).read(sys.argv[2] + ".npy")[-int(sys.argv[3]):])' "$here/digits.npz" "$1" "$2"; }
content images $((797 * 64)) > images
content labels 797 | od -An -v -t u1 -w1 | tr -d ' ' > labels
right() { echo "$1: $(paste labels "$2" | awk '$1 == $2' | wc -l) of 797"; }
alone() { env -i PATH=/usr/bin:/bin HOME="$work" PYTHONPATH=lib "$@"; }

alone "${CC:-cc}" -O2 -Ilib -o classify "$here/packed.c" lib/libdigit.a -lm
alone ./classify < images > by_c
right C by_c
python=${PYTHON:-python3}
if "$python" -c 'import numpy' 2> /dev/null; then
	alone "$(command -v "$python")" "$here/packed.py" < images > by_python
	right Python by_python
fi
