#!/usr/bin/env bash
# Classifies handwritten digits, and shows what each stage took and what fuse did.
#
#     digits.sh                 learns class means from 1000 images, classifies 797
#     digits.sh TARGET          the same on another target (opencl, cuda)
. "$(dirname "$0")/tools.sh"
target=${1:-clang}

stage() {       # NAME OUT COMMAND…: runs it on standard input and prints its time
	local name=$1 out=$2 from to
	shift 2
	from=$(ms)
	"$@" > "$out"
	to=$(ms)
	printf '%-10s %8.1f ms   %s\n' "$name" "$(echo "$from $to" | awk '{print ($2 - $1) / 1000}')" "$(show_count "$out")"
}

cd "$work"
stage trace    graph.mp    "$bin/trace" "$here/digits.t"
stage simplify simple.mp   "$bin/simplify" graph.mp
stage schedule schedule.mp "$bin/schedule" simple.mp
stage fuse     fused.mp    "$bin/fuse" schedule.mp
stage lower    loops.mp    "$bin/lower" -t "$target" fused.mp
stage render   program.mp  "$bin/render" -t "$target" loops.mp
stage compile  objects.mp  "$bin/compile" program.mp
from=$(ms)
"$bin/run" objects.mp -o out
to=$(ms)
printf '%-10s %8.1f ms\n' run "$(echo "$from $to" | awk '{print ($2 - $1) / 1000}')"

kernels() { show_count "$1" | sed 's/.*kernels=\([0-9]*\).*/\1/'; }
echo "kernels: $(kernels schedule.mp) before fuse, $(kernels fused.mp) after"
echo "accuracy: $("$bin/run" objects.mp | grep -A1 '^accuracy' | grep -o '[0-9]\.[0-9]*' | head -n 1) on 797 images"
