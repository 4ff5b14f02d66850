# stage and split of the schedule: values in temp and prepared memory, on random kernels (stage.py),
# against the interpreter; what layout chooses is such a list; what cannot be is refused in one line.
load helpers

setup() { cd "$BATS_TEST_TMPDIR"; }

@test "stage: random values of random kernels, in random orders" {
	local seed n m k taken=0 prepared=0
	for seed in $(seq "${SEED:-1}" $((${SEED:-1} + 5))); do
		python3 "$TESTS/stage.py" "$seed" 10 > told 2>&1 || { echo "seed $seed:"; cat told; return 1; }
		read -r n _ m _ k _ < <(tail -n 1 told)
		taken=$((taken + n)) prepared=$((prepared + k))
	done
	[ "$taken" -gt 30 ] && [ "$prepared" -gt 5 ] || { echo "$taken lists taken, $prepared prepared"; return 1; }
}

@test "stage: from --opt and from the SINK" {
	printf 'input x f32[9, 12]\ninput w f32[12, 20]\noutput y = x @ w\n' | tool trace | tool fuse > p.mp
	tool lower -t clang --opt 'SINK: split y 1 4; stage y LOAD.1 1.0 2 1.1 temp' p.mp > a.mp
	tool show p.mp | sed 's/\(SINK.*\){/\1{actions: [["split", "y", 1, 4], ["stage", "y", "LOAD.1", "1.0", 2, "1.1", "temp"]], /' > p.txt
	tool show -p p.txt | tool lower -t clang > b.mp
	cmp a.mp b.mp
	tool show a.mp | grep -q 'BUFFER.*"w.turned0", shape: \[5, 12, 4\], role: "temp"'
}

# given instead of being chosen, it makes the same document
@test "stage: what layout packs and turns is a list that may be given" {
	local told
	python3 - > n.t <<-'END'
	print("input x f32[n, 40] where n in 1..300")
	print("input k f32[300, 40]")
	print("const w f32[40, 100] = [" + ", ".join("[" + ", ".join(str((i * 7 + j) % 9 / 8) for j in range(100)) + "]" for i in range(40)) + "]")
	print("output y = softmax(x @ w)")
	print("output z = relu(x @ w) * 2")
	print("output s = transpose(x[0:1, :] @ w, [1, 0])")
	print("output t = (k * 2) @ transpose(k, [1, 0])")
	END
	tool trace n.t | tool fuse > n.mp
	tool layout --explain n.mp > a.mp 2> told
	grep -q "w is packed in panels of" told
	grep -q "k is turned" told
	told=$(sed -n 's/.*: of the schedule: //p' told | paste -sd ';')
	[[ "$told" = *prepared* && "$told" = *overlap* && "$told" = *temp* ]]
	tool layout --skip weights --skip operands n.mp > plain.mp
	not tool diff plain.mp a.mp > /dev/null
	tool layout --skip weights --skip operands --opt "SINK: $told" n.mp > b.mp
	ok tool diff a.mp b.mp
	tool lower -t clang --reasons n.mp | tool why r_n_100_40 > why
	grep -q 'of the schedule: stage' why
}

@test "stage: what depends on constants alone is computed once" {
	printf 'input x f32[n, 3, 4] where n in 1..50\nconst w f32 = [1, 2.5, 0.25, 3]\nconst v f32 = [[2], [1], [4]]\noutput y = x * (w + v)\n' |
		tool trace | tool fuse > p.mp
	tool layout --opt 'SINK: stage y ADD.0 2 1 prepared' p.mp > l.mp
	tool show l.mp | grep -q 'BUFFER.*"y.staged0", shape: \[4, 3\], role: "prepared"'
	ok tool prove p.mp l.mp
	tool run --interpret p.mp n=7 x=rand -o a.npz
	tool lower l.mp | tool run n=7 x=rand -o b.npz
	ok tool diff --ulp 0 a.npz b.npz
	fails 4 tool layout --opt 'SINK: stage y MUL.0 2 1 0 prepared' p.mp
	[[ "$errors" = *"it depends on"* ]]
}

@test "stage: one of several calls that write a buffer is named by its number" {
	printf 'input x f32[1, 3, 12, 12]\ninput k f32[32, 3, 3, 3]\ninput q f32[32, 32, 3, 3]\noutput y = conv2d(conv2d(x, k, padding=1), q, padding=1)\n' |
		tool trace | tool fuse > p.mp
	local b
	tool layout --stop-after online p.mp > l.mp
	b=$(tool show l.mp | sed -n 's/.*name: "\([^"]*\)".*role: "temp".*/\1/p' | head -n 1)
	[ "$(tool show --loops l.mp | grep -c "^K.*($b")" -gt 1 ]
	fails 4 tool layout --opt "SINK: stage $b LOAD.1 0 temp" p.mp
	[[ "$errors" = *"calls write it: $b.0, $b.1"* ]]
	fails 4 tool layout --opt "SINK: stage $b.9 LOAD.1 0 temp" p.mp
	[[ "$errors" = *"no kernel writes a buffer of that name"* ]]
	fails 4 tool layout --opt "SINK: stage $b.0 LOAD.0 0 temp" p.mp
	[[ "$errors" = *"no value is called"* ]]
}

@test "stage: what cannot be is refused" {
	local list
	printf 'input x f32[n, 48] where n in 3..40\ninput w f32[48, 33]\noutput y = x @ w\n' | tool trace | tool fuse > p.mp
	while read -r list; do
		fails 4 tool layout --opt "SINK: ${list%|*}" p.mp || { echo "$list"; return 1; }
		[[ "$errors" = *"${list#*|}"* ]] || { echo "$list: $errors"; return 1; }
	done <<-'END'
		stage z LOAD.1 2 1 temp|no kernel writes a buffer of that name
		stage y LOAD.7 2 1 temp|no value is called 'LOAD.7'
		stage y LOAD.1 5 1 temp|an action names range '5'; there are 0, 1, 2
		stage y LOAD.1 1.0 2 temp|an action names range '1.0'
		stage y LOAD.1 2 temp|it varies over other ranges than these
		stage y LOAD.1 0 2 1 temp|it does not vary over range 0
		stage y LOAD.1 2 2 1 temp|a range is named twice
		stage y LOAD.1 2 1 prepared|it depends on more than constants
		stage y LOAD.1 2 1 stack|it is staged in temp or prepared memory
		stage y STORE.0 0 1 temp|it is no value
		stage y LOAD.1|stage is 'stage b v r* t'
		stage|stage is 'stage b v r* t'
		stage 3 LOAD.1 2 1 temp|a call is named by a buffer that it writes
		split y 1 64|it has fewer iterations than one piece
		split y 1 0|its pieces have 1 to
		split y 1 8 peel|only loops peel
		split y 0 2 overlap|pieces overlap only of the range along which stores are contiguous
		split y 0 2; split y 1 8|its stores have a gate already
		split y 1 8 overlap; stage y LOAD.1 1.0 2 1.1 temp|pieces that overlap are staged in prepared memory alone
		tile y 1 2|tile is an action of a kernel
	END
	fails 4 tool lower --opt 'r_*: fuse_at y 0' p.mp
	fails 4 tool lower -t opencl --opt 'SINK: stage y LOAD.1 2 1 temp' p.mp
	fails 4 tool layout --opt 'SINK: stage z MUL.0 0 1 temp' <(printf 'input x f32[8, 9]\noutput z = cumsum(x - 1, axis=0) * 2\n' | tool trace | tool fuse)
	fails 4 tool layout --opt 'SINK: split z 0 2' <(printf 'input x f32[8, 9]\noutput z = cumsum(x - 1, axis=0) * 2\n' | tool trace | tool fuse)
	[[ "$errors" = *"a scan runs along it"* ]]
	printf 'input i i64[9]\ninput x f32[50, 20]\noutput y = gather(x, i) * 2\n' | tool trace | tool fuse > g.mp
	fails 4 tool layout --opt 'SINK: stage y LOAD.1 0 temp' g.mp
	[[ "$errors" = *"a place, or a gate, is made of it"* ]]
	ok tool layout --opt 'SINK: stage y LOAD.0 1 0 temp' g.mp
	printf 'input x f32[n, 4] where n in 1..9000000000\noutput y = transpose(x, [1, 0]) + 1\n' | tool trace | tool fuse > u.mp
	fails 4 tool layout --opt 'SINK: stage y LOAD.0 0 1 temp' u.mp
	[[ "$errors" = *"its size has no bound"* ]]
}

# tiles of a kernel whose stores have a gate of their own are no squares to be turned
@test "stage: a transposition whose stores have a gate" {
	printf 'const a f32 = [%s]\ninput x f32[5, 31]\noutput y = x - reshape(a, [5, 31])\n' "$(seq -s , 155)" | tool trace | tool fuse > p.mp
	tool layout --opt 'SINK: split y 1 4; stage y SUB.0 1.1 1.0 0 temp' p.mp > l.mp
	ok tool prove p.mp l.mp
	tool lower -t clang l.mp | tool run x=rand -o a.npz
	tool run --interpret p.mp x=rand -o b.npz
	ok tool diff --ulp 0 a.npz b.npz
}
