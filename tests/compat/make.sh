#!/usr/bin/env bash
# make.sh BIN FOLDER: the documents of the version at hand, for compat.bats to read for ever: each program of FOLDER's *.t at
# every level, for every target, as bytes and as text (programs for GPUs as text), and what it gives.  Run once, when a version
# is released.
set -eu
bin=$1
cd "$2"
export SLUICE_PATH=$bin

# keep NAME < DOCUMENT
keep() {
	cat > "$1.mp"
	"$bin/show" "$1.mp" > "$1.txt"
}

for t in *.t; do
	p=${t%.t}
	read -ra operands < "$p.args"
	"$bin/trace" "$t" | keep "$p.graph"
	"$bin/schedule" "$p.graph.mp" | keep "$p.schedule"
	"$bin/fuse" "$p.schedule.mp" | keep "$p.fused"
	for target in clang opencl cuda metal; do
		march=()
		[ $target != clang ] || march=(--march x86-64-v3)
		# not every target has every dtype
		"$bin/lower" -t $target "${march[@]}" "$p.fused.mp" > lowered || continue
		keep "$p.loops.$target" < lowered
		"$bin/render" -t $target "$p.loops.$target.mp" | keep "$p.program.$target"
		[ $target = clang ] || rm "$p.program.$target.mp"
	done
	rm lowered
	"$bin/run" --interpret "$p.graph.mp" "${operands[@]}" -o "$p.npz"
done
