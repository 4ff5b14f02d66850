#!/usr/bin/env bash
# Random lists of actions on random kernels (actions.py), until COUNT of them have been taken for each
# TARGET; by the interpreter and compiled, against the interpreter of the graph.
#
#     lists.sh COUNT TARGET…          FROM=5000: from that seed on; JOBS=2: so many at a time
set -u
here=$(cd "$(dirname "$0")" && pwd)
cpu="split rfactor peel swap own kind order tile chunk grid partial jam nontemporal stage transpose prefetch_stores prefetch_loads"
gpu="bind group stage split rfactor peel swap own kind"

# worker TARGET FIRST STEP: a line for each seed of each action, what is wrong before it
worker() {
	local target=$1 seed=$2 step=$3 actions=$cpu action folder
	[ "$target" = llvm ] && actions=${cpu/swap /}         # it has no such ops
	[ "$target" = opencl ] && actions=$gpu
	folder=$(mktemp -d)
	cd "$folder" || exit 1
	for (( ; ; seed += step)); do
		for action in $actions; do
			python3 "$here/actions.py" "$action" "$seed" 24 "$target" > told 2>&1 ||
				{ echo "WRONG $target $action, seed $seed:"; cat told; }
			echo "COUNTED $(tail -n 1 told)"
		done
	done
}

status=0
for target in "${@:2}"; do
	exec 3< <(for ((j = 0; j < ${JOBS:-2}; j++)); do
		worker "$target" $((${FROM:-1} + j)) "${JOBS:-2}" 2>&1 &
		echo "PID $!"
	done; wait)
	taken=0 refused=0 wrong=0 workers=()
	while [ "$taken" -lt "$1" ] && read -r word rest <&3; do
		case $word in
		PID) workers+=("$rest") ;;
		COUNTED)
			read -r n _ m _ <<< "$rest"
			[[ $n =~ ^[0-9]+$ ]] && taken=$((taken + n)) refused=$((refused + m))
			[ -t 2 ] && printf '\r%s: %d taken, %d wrong ' "$target" "$taken" "$wrong" >&2 ;;
		WRONG)
			wrong=$((wrong + 1)) status=1
			echo "$rest" ;;
		*) echo "$word $rest" ;;
		esac
	done
	kill "${workers[@]}" 2> /dev/null
	exec 3<&-
	echo "$target: $taken lists taken, $refused refused, $wrong seeds wrong"
done
exit $status
