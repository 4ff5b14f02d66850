# fuse_at: calls computed within loops of others, on random chains of stencils, convolutions,
# elementwise steps and norms (fuse_at.py), against the interpreter; one kernel comes out; what
# cannot be is refused in one line.
load helpers

setup() {
	cd "$BATS_TEST_TMPDIR"
	printf 'input x f32[66, 64]\na = sqrt(abs(x)) + 1\nb = a[1:, :] * a[:-1, :] + a[1:, :]\noutput y = b[1:, :] * 2 + b[:-1, :]\n' > p.t
}

# the only temporary before the action
temporary() { tool layout --stop-after online "$1" | tool show | sed -n 's/.*name: "\([^"]*\)".*role: "temp".*/\1/p'; }

@test "fuse_at: random programs" {
	local seed n m taken=0
	for seed in $(seq "${SEED:-1}" $((${SEED:-1} + 5))); do
		python3 "$TESTS/fuse_at.py" "$seed" 6 > told || { echo "seed $seed:"; cat told; return 1; }
		read -r n _ m _ < <(tail -n 1 told)
		taken=$((taken + n))
	done
	[ "$taken" -gt 12 ] || { echo "$taken lists taken"; return 1; }
}

@test "fuse_at: one kernel with a window on the stack, from --opt and from the SINK" {
	local t
	tool trace p.t | tool fuse > p.mp
	t=$(temporary p.mp)
	tool lower -t clang --opt "SINK: fuse_at $t 0 8" p.mp > a.mp
	[ "$(tool show a.mp | grep -c '= CALL')" = 1 ]
	tool show a.mp | grep -q 'DEFINE_LOCAL.*576'
	tool show p.mp | sed "s/\(SINK.*\){/\1{actions: [[\"fuse_at\", \"$t\", 0, 8]], /" > p.txt
	tool show -p p.txt | tool lower -t clang > b.mp
	cmp a.mp b.mp
}

@test "fuse_at: what cannot be is refused" {
	local t list
	tool trace p.t | tool fuse > p.mp
	t=$(temporary p.mp)
	for list in "fuse_at nothing 0" "fuse_at x 0" "fuse_at $t 7" "fuse_at $t 0 64" "fuse_at $t 0 0" "fuse_at $t" "fuse_at $t 0; fuse_at $t 0" \
		"grid 1" "faster"; do
		fails 4 tool layout --opt "SINK: $list" p.mp || { echo "$list"; return 1; }
	done
	fails 2 tool layout --opt "E_*: grid 1" p.mp
	fails 4 tool lower --opt "E_*: fuse_at $t 0" p.mp
	fails 4 tool lower -t opencl --opt "SINK: fuse_at $t 0" p.mp
}
