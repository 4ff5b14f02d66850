#!/usr/bin/env bash
# Finds the first stage that changed the result, and the kernel. Each level is saved and
# interpreted; where two successive levels disagree, the buffers that every kernel wrote are
# compared.
#
#     bisect.sh [PROGRAM [NAME=VALUE…]]    with the stages on SLUICE_PATH, as sluice would find them
#     bisect.sh                            shows itself on a `fuse` with a planted bug
. "$(dirname "$0")/tools.sh"

if [ $# = 0 ]; then
	mkdir "$work/broken"
	cat > "$work/broken/fuse" <<-END
		#!/bin/sh
		# forgets to subtract the maximum in a softmax
		"$bin/fuse" "\$@" | "$bin/rewrite" --once -e 'EXP2(x) -> EXP2(x) + x * x'
	END
	chmod +x "$work/broken/fuse"
	export SLUICE_PATH=$work/broken
	cat > "$work/p.t" <<-END
		input x f32[8, 16]
		input w f32[16, 4]
		y = softmax(x @ w)
		output y, top = max(y, axis=1)
	END
	set -- "$work/p.t" x=rand w=rand
fi
program=$1
shift
tool() { local d; for d in $("$bin/sluice" path | tr ':' ' '); do [ -x "$d/$1" ] && { echo "$d/$1"; return; }; done; }

"$(tool trace)" "$program" > "$work/trace.mp"
last=trace
verdict=0
for stage in $stages; do
	stage "$stage" "$work/$last.mp" > "$work/$stage.mp"
	for s in $last $stage; do
		[ -d "$work/$s.kept" ] || "$bin/run" --interpret --keep "$work/$s.kept" "$work/$s.mp" "$@" -o "$work/$s.npz"
	done
	if "$bin/diff" "$work/$last.npz" "$work/$stage.npz" > "$work/difference"; then
		echo "$stage: the same"
		last=$stage
		continue
	fi
	echo "$stage: changed the result: $(head -n 1 "$work/difference")"
	verdict=1
	break
done
[ $verdict = 1 ] || exit 0

# the first call that wrote a buffer which differs from the one of that name at the level before
for file in "$work/$stage.kept"/*.npy; do
	call=$(basename "$file" .npy)
	buffer=${call##*.}
	before=$(ls "$work/$last.kept"/*".$buffer.npy" 2> /dev/null | tail -n 1)
	[ -n "$before" ] || before=$work/$last.npz
	case $before in *.npy) "$bin/diff" "$before" "$file" > "$work/difference" && continue ;; *) continue ;; esac
	number=${call%%.*}
	kernel=${call#*.}
	echo "first wrong kernel: K$((10#$number)) ${kernel%.*}, in $buffer: $(sed 's/^array: //' "$work/difference")"
	break
done
exit 1
