#!/usr/bin/env bash
# Inverse kinematics: the angles with which an arm of seven joints follows a path, by Gauss–Newton.
# The equations are a function in C (arm.c), jac makes their sparse Jacobian, and ik-step.t solves
# the linear system of each step.
#
#     ik.sh                     a circle of 32 places, until the residual is below 1e-10
#     LIMIT=1e-6 ik.sh          until it is below that
#     OUT=q.npy ik.sh           the angles, [32, 7], to a file
#
#     arm.c -> jac --sparse -> run -> values of the Jacobian -> ik-step.t -> run -> q -> again
[ -z "${OUT:-}" ] || OUT=$(realpath -m "$OUT")
. "$(dirname "$0")/tools.sh"
limit=${LIMIT:-1e-10} steps=${STEPS:-20}
cd "$work"
program() { "$bin/fuse" | "$bin/render" -t clang | "$bin/compile"; }
# NAME: the value that step K printed for the output of that name
said() { awk -v name="$1" '{ for (i = 1; i < NF; i++) if ($i == name) print $(i + 1) }' said; }

"$bin/trace" "$here/ik-path.t" | "$bin/run" -o .
"$bin/trace" "$here/arm.c" | "$bin/jac" -o r -w q --sparse --pattern --set n=32 > jacobian.mp
"$bin/show" jacobian.mp | sed -n 's/.*jac_r_q: {shape: \[\([0-9]*\), \([0-9]*\)\].*colours: \([0-9]*\).*/Jacobian: \1 x \2 in \3 products/p'
program < jacobian.mp > equations.mp
"$bin/trace" "$here/ik-step.t" | program > step.mp

for ((k = 0; k <= steps; k++)); do
	"$bin/run" equations.mp q=q.npy path=path.npy -n 1 --every 1 -o . 2> said || { cat said >&2; exit 1; }
	printf 'step %2d: residual %-10s %s mm off the path\n' "$k" "$(said residual)" "$(said mm)"
	awk -v r="$(said residual)" -v limit="$limit" 'BEGIN { exit !(r + 0 < limit + 0) }' && break
	operands=(q=q.npy r=r.npy)
	for part in '' _indptr _indices; do operands+=("jac_r_q$part=jac_r_q$part.npy"); done
	"$bin/run" step.mp "${operands[@]}" -o .
done
[ "$k" -le "$steps" ] || { echo "not below $limit after $steps steps" >&2; exit 1; }
cp q.npy "${OUT:-/dev/null}"
