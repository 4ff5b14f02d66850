#!/usr/bin/env bash
# Classifies handwritten digits, and prints the time of each stage and the effect of fuse.
#
#     digits.sh                 learns class means from 1000 images, classifies 797
#     digits.sh TARGET          the same on another target (opencl, cuda)
. "$(dirname "$0")/tools.sh"
target=${1:-clang}

timed() {       # NAME COMMAND…: runs it from one document to the next and prints its time
	local from to
	from=$(us)
	"${@:2}" > "$1.mp"
	to=$(us)
	printf '%-10s %8.1f ms   %s\n' "$1" "$(echo "$from $to" | awk '{print ($2 - $1) / 1000}')" "$(show_count "$1.mp")"
}

cd "$work"
timed trace "$bin/trace" "$here/digits.t"
last=trace
for s in $stages compile; do
	timed "$s" stage "$s" "$last.mp"
	last=$s
done
from=$(us)
"$bin/run" compile.mp -o out
to=$(us)
printf '%-10s %8.1f ms\n' run "$(echo "$from $to" | awk '{print ($2 - $1) / 1000}')"

kernels() { show_count "$1" | sed 's/.*kernels=\([0-9]*\).*/\1/'; }
echo "kernels: $(kernels schedule.mp) before fuse, $(kernels fuse.mp) after"
echo "accuracy: $("$bin/run" compile.mp | grep -A1 '^accuracy' | grep -o '[0-9]\.[0-9]*' | head -n 1) on 797 images"
