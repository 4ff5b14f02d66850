#!/usr/bin/env bats
# Training: optimizers, inputs fed by rows, states saved and loaded. To add a case of an optimizer
# or a schedule, add a line to optim.py.
load helpers

setup() {
	cd "$BATS_TEST_TMPDIR"
	PATH=$BIN:$PATH
}

# ---- optimizers

# each case of optim.py with STEPS steps, run with the given options, is within RTOL of plain
# Python's result
optimizers() {
	local dtype=$1 steps=$2 rtol=$3
	python3 "$TESTS/optim.py" . "$dtype" "$steps"
	for t in *.t; do
		for how in "" --interpret; do
			tool trace "$t" | tool run $how -n "$steps" -o got > /dev/null
			for k in w v; do tool diff --rtol "$rtol" --atol 1e-300 "${t%.t}/$k.npy" "got/$k.npy" || { echo "$t $how"; return 1; }; done
		done
	done
}

@test "optimizers and schedules in f64" { optimizers f64 7 1e-12; }
@test "optimizers and schedules in f32" { optimizers f32 5 2e-5; }

@test "an optimizer's states: their names, their first step" {
	cat > a.t <<-'END'
		state w f32[2] = [3, -4]
		state b f16[2] = 1
		state step i64 = 7
		w, b <- lamb([w, b], [w, b * 0])
		output w, b
		output n = global_norm(w, b)
		step <- step + 1
	END
	tool trace a.t > a.mp
	tool show a.mp | grep -q 'BUFFER f32 {name: "w_m", shape: \[2\], role: "state"'
	tool show a.mp | grep -q 'BUFFER f32 {name: "b_v", shape: \[2\], role: "state"'
	tool run a.mp --save a.safetensors > /dev/null
	for name in w w_m w_v b b_m b_v step step_1; do grep -aq "\"$name\":{" a.safetensors || { echo "$name"; return 1; }; done
	[ "$(grep -ao '"[a-z_0-9]*":{"dtype":"F16"' a.safetensors)" = '"b":{"dtype":"F16"' ]
}

@test "what an optimizer refuses" {
	local call
	while read -r call; do
		printf 'input x f32[2]\nstate w f32[2] = 0\nstate i i32[2] = 0\n' > r.t
		echo "$call" >> r.t
		capture tool trace r.t
		[ "$status" = 4 ]
		[ -z "$output" ]
		[[ $errors == "trace: r.t:4"* ]] || { echo "$call: $errors"; return 1; }
	done <<-'END'
		w <- sgd(x, w)
		w <- sgd(w * 2, w)
		w <- sgd([w], w)
		w <- adam([w], [x, x])
		w <- adam(w, [[1.0, 2.0, 3.0]])
		w <- adam(w, x, lr=x)
		w <- adam(w, x, beta1=1)
		w <- sgd(w, x, nesterov=true)
		i <- sgd(i, x)
		w, i <- adam([w], [x])
		output y = warmup(x, 10)
		output y = cosine_decay(1, 0)
	END
}

@test "lists of states are updated at once" {
	cat > l.t <<-'END'
		state a f32 = 1
		state b f32[2] = 2
		all = [a, b]
		all <- [a * 3, b + 1]
		output y = all[1] + a
	END
	ok tool run <(tool trace l.t) -n 2
	[ "$(head -n 2 <<< "$output")" = $'y f32[2]\n[13. 13.]' ]
	printf 'state a f32 = 1\nx = [a, 2]\nx <- [a, a]\n' > l.t
	capture tool trace l.t
	[ "$status" = 4 ]
	[[ $errors == *"l.t:3:1: element 1 of x is the number 2, no state"* ]]
	printf 'state a f32 = 1\na, a <- [a, a]\n' > l.t
	capture tool trace l.t
	[ "$status" = 4 ]
	[[ $errors == *"a is updated already"* ]]
}

# ---- feeds

# rows.npy: 0 … 22 as f32 [23, 1]; sums.t: the rows of each call, as one list
rows() {
	echo 'output rows = f32(arange(23)).reshape(23, 1)
		output twice = i64(arange(23)) * 2' > rows.t
	tool trace rows.t | tool run -o .
	cat > sums.t <<-'END'
		input rows f32[n, 1] where n in 1..64
		input twice i64[n]
		state seen f32[96] = -1
		state k i64 = 0
		seen <- scatter(seen, k * n + arange(n), rows[:, 0])
		k <- k + 1
		output seen, same = all(i64(rows[:, 0]) * 2 == twice)
	END
	tool trace sums.t > sums.mp
}
feeds=(--feed rows=rows.npy,batch=5 --feed twice=twice.npy,batch=5)
seen() { sed -n '/^seen/,/^$/p' <<< "$output" | tr -d '[]\n' | sed 's/^seen f3296//; s/\.//g'; }

@test "feeds: rows in order, then from the start again, without the incomplete batch" {
	rows
	for how in "" --interpret; do
		ok tool run $how sums.mp -n 6 "${feeds[@]}"
		[ "$(seen | xargs)" = "$(echo {0..19} {0..9} $(yes -- -1 | head -n 66))" ]
		grep -A1 '^same' <<< "$output" | grep -q True
	done
	ok bash -c 'schedule < sums.mp | run --interpret -n 2 "$@"' - "${feeds[@]}"
	[ "$(seen | xargs)" = "$(echo {0..9} $(yes -- -1 | head -n 86))" ]
}

@test "feeds: a shuffle is the library's randperm, a new one each epoch" {
	rows
	cat > order.t <<-'END'
		order = concat(randperm(23, key=11)[:20], randperm(23, key=11, offset=23)[:20])
		output seen = concat(f32(order), full([56], -1.0))
	END
	tool trace order.t | tool run > order.txt
	for how in "" --interpret; do
		ok tool run $how sums.mp -n 8 --shuffle 11 "${feeds[@]}"
		grep -A1 '^same' <<< "$output" | grep -q True
		sed -n '/^seen/,/^$/p' <<< "$output" | sed '/^$/d' | cmp - order.txt
	done
	ok tool run sums.mp -n 8 --shuffle 12 "${feeds[@]}"
	sed -n '/^seen/,/^$/p' <<< "$output" | sed '/^$/d' | not cmp -s - order.txt
}

@test "feeds: arrays that cannot be mapped as rows, and feeds by position" {
	rows
	tool run sums.mp -n 5 "${feeds[@]}" -o want.npz
	tool trace rows.t | tool run -o rows.npz
	python3 - <<-'END'
		import struct
		head = "{'descr': '>f4', 'fortran_order': True, 'shape': (23, 1), }"
		head += " " * (64 - (11 + len(head)) % 64) + "\n"
		open("swapped.npy", "wb").write(b"\x93NUMPY\x01\0" + struct.pack("<H", len(head)) + head.encode() + struct.pack(">23f", *range(23)))
	END
	tool run sums.mp -n 5 --feed rows=swapped.npy,batch=5 --feed twice=rows.npz,batch=5 -o got.npz
	tool diff want.npz got.npz
	tool run sums.mp -n 5 --feed @0=rows.npy,batch=5 --feed @1=twice.npy n=5 -o got.npz
	tool diff want.npz got.npz
}

@test "feeds: wrong feeds are refused" {
	rows
	fails 4 tool run sums.mp --feed rows=rows.npy,batch=24 --feed twice=twice.npy,batch=24
	fails 2 tool run sums.mp --feed rows=rows.npy,batch=5 twice=zeros --feed nothing=twice.npy
	fails 4 tool run sums.mp --feed rows=rows.npy,batch=5 --feed twice=twice.npy,batch=4
	fails 2 tool run sums.mp --feed rows=rows.npy --feed twice=twice.npy
	fails 2 tool run sums.mp --feed rows=rows.npy,batch=0 --feed twice=twice.npy
	fails 2 tool run sums.mp --feed rows=rows.npy,batch=x --feed twice=twice.npy
	fails 2 tool run sums.mp --feed rows --feed twice=twice.npy
	fails 2 tool run sums.mp --shuffle 3 rows=rows.npy twice=twice.npy
	fails 2 tool run sums.mp --shuffle -3 "${feeds[@]}"
	fails 2 tool run sums.mp "${feeds[@]}" rows=rows.npy
	fails 2 tool run sums.mp "${feeds[@]}" --until 3 -n 3
	fails 2 tool run sums.mp "${feeds[@]}" --save-every 3
	fails 1 tool run sums.mp "${feeds[@]}" --load nowhere.safetensors
	echo 'output twice = i64(arange(22))' > short.t
	tool trace short.t | tool run -o .
	fails 4 tool run sums.mp --feed rows=rows.npy,batch=5 --feed twice=twice.npy,batch=5
}

# ---- states saved

@test "save and load: a continued run gives the bits of an uninterrupted one" {
	rows
	for how in "" --interpret; do
		tool run $how sums.mp --shuffle 3 "${feeds[@]}" -n 13 --save whole.safetensors -o whole.npz
		tool run $how sums.mp --shuffle 3 "${feeds[@]}" -n 5 --save part.safetensors > /dev/null
		tool run $how sums.mp --shuffle 3 "${feeds[@]}" --load part.safetensors -n 4 --save part.safetensors > /dev/null
		tool run $how sums.mp --shuffle 3 "${feeds[@]}" --load part.safetensors --until 13 --save part.safetensors -o part.npz
		cmp whole.safetensors part.safetensors
		cmp whole.npz part.npz
	done
	ok tool run sums.mp "${feeds[@]}" --load part.safetensors --until 13 --save part.safetensors
	[[ -z $output && $errors == *"nothing is done"* ]]
	cmp whole.safetensors part.safetensors
	[ "$(ls | grep -c safetensors)" = 2 ]
}

@test "load: wrong files are refused" {
	rows
	tool run sums.mp "${feeds[@]}" -n 3 --save s.safetensors > /dev/null
	refuse() { fails 4 tool run sums.mp "${feeds[@]}" --load bad.safetensors; }
	for n in 0 7 8 20 100 200 300 500; do
		head -c "$n" s.safetensors > bad.safetensors
		refuse
	done
	sed 's/"k":/"z":/' s.safetensors > bad.safetensors; refuse
	sed 's/"I64"/"U64"/' s.safetensors > bad.safetensors; refuse
	sed 's/\[96\]/[48]/' s.safetensors > bad.safetensors; refuse
	sed 's/\[96\]/[69]/' s.safetensors > bad.safetensors; refuse
	sed 's/"3"/"x"/' s.safetensors > bad.safetensors; refuse
	sed 's/"3"/{} /' s.safetensors > bad.safetensors; refuse
	sed 's/"sluice.calls"/"sluice.ca\\\\u0/' s.safetensors > bad.safetensors; refuse
	mkdir folder
	fails 1 tool run sums.mp "${feeds[@]}" --save nowhere/s.safetensors
}

@test "save: a kill at any moment leaves a whole file" {
	# a state large enough that writing it takes a while
	cat > big.t <<-'END'
		state w f32[4000000] = 0
		state k f32 = 0
		w <- w + 1
		k <- k + 1
		output k
	END
	tool trace big.t | tool fuse | tool render -t clang | tool compile > big.mp
	echo 'const w = load("s.safetensors", "w")
		const k = load("s.safetensors", "k")
		output same = all(w == k) & (k > 0)' > check.t
	tool run big.mp -n 1 --save s.safetensors > /dev/null
	for i in 1 2 3 4 5 6 7 8; do
		before=$(stat -c '%i %y' s.safetensors)
		"$BIN/run" big.mp --load s.safetensors -n 1000000 --save s.safetensors --save-every 1 > /dev/null 2>&1 &
		# once it has saved, which takes longer under sanitizers
		for ((t = 0; t < 400; t++)); do
			[ "$(stat -c '%i %y' s.safetensors)" = "$before" ] || break
			sleep 0.05
		done
		sleep "0.0$((i * 7 % 10))$i"
		kill -9 $!
		wait $! || true
		tool trace check.t | tool run --interpret | grep -q True || { echo "kill $i"; return 1; }
	done
	# it got on
	tool run big.mp --load s.safetensors | awk 'NR == 2 && $1 > 9 { ok = 1 } END { exit !ok }'
}

@test "reports: a line each K calls, nothing without a terminal otherwise" {
	rows
	ok tool run sums.mp -n 7 "${feeds[@]}"
	[ -z "$errors" ]
	cat > loss.t <<-'END'
		state k f32 = 0
		k <- k + 0.25
		output loss = k * 2, k, i = i64(k)
	END
	tool trace loss.t > loss.mp
	ok tool run loss.mp -n 7 --every 3
	[ "$(wc -l <<< "$errors")" = 2 ]
	grep -Eq '^run: step 3  loss 1.5  k 0.75  [0-9.]+ steps/s$' <<< "$errors"
	grep -Eq '^run: step 6  loss 3  k 1.5  [0-9.]+ steps/s$' <<< "$errors"
	# a line appears after a second only, and the run is ended once it has
	timeout 120 script -qfec "$BIN/run loss.mp -n 1000000000" /dev/null > shown 3>&- &
	until grep -q steps/s shown; do kill -0 $!; sleep 0.1; done
	kill $!
	wait $! || true
	tr '\r' '\n' < shown | grep -Eq 'run: step [0-9]+/1000000000  loss [0-9.e+]+  k [0-9.e+]+  [0-9.e+]+ steps/s'
}

# ---- the second run of a graph

@test "the second run of a step starts no stage and no compiler" {
	export XDG_CACHE_HOME=$BATS_TEST_TMPDIR/cache
	cat > s.t <<-'END'
		input x f32[5, 3]
		state w f32[3] = 0.5
		loss = mean(square(x @ w - 1))
		w <- sgd(w, grad(loss, w))
		output loss
	END
	tool trace s.t > s.mp
	ok tool run -v s.mp x=rand -n 3 -o one.npz
	grep -q '/fuse' <<< "$errors"
	grep -q ' -shared ' <<< "$errors"
	ok tool run -v s.mp x=rand -n 3 -o two.npz
	not grep -q '^/' <<< "$errors"
	cmp one.npz two.npz
	# another target, another graph, a stage of the user's own: not that one
	sed 's/square(x @ w - 1)/square(x @ w - 2)/' s.t > t.t
	ok tool run -v <(tool trace t.t) x=rand -n 3
	grep -q '/fuse' <<< "$errors"
	mkdir own
	printf '#!/bin/sh\necho own >&2\nexec "%s/fuse"\n' "$BIN" > own/fuse
	chmod +x own/fuse
	SLUICE_PATH=own ok tool run s.mp x=rand -n 3 -o two.npz
	[ "$errors" = own ]
	cmp one.npz two.npz
	SLUICE_PATH=own ok tool run s.mp x=rand -n 3 -o two.npz
	[ "$errors" = own ]
	# a harmed entry is made again
	for f in $(find cache -name '*.mp'); do chmod u+w "$f"; printf x | dd of="$f" bs=1 seek=20 conv=notrunc 2> /dev/null; done
	ok tool run -v s.mp x=rand -n 3 -o two.npz
	grep -q '/fuse' <<< "$errors"
	cmp one.npz two.npz
}

# ---- the pipelines

pipeline() { SLUICE_BIN=$BIN "$ROOT/pipelines/$1" "${@:2}"; }
at_least() { awk -v a="$1" -v b="$2" 'BEGIN { exit !(a != "" && a + 0 >= b) }'; }
accuracy() { sed -n "s/^$1 *accuracy: \([0-9.]*\) .*/\1/p" <<< "$output"; }

# killed FILE COMMAND…: starts it, and kills it and its children as soon as FILE exists
killed() {
	local child tries=0
	TMPDIR=$BATS_TEST_TMPDIR SLUICE_BIN=$BIN setsid "${@:2}" > out 2>&1 3>&- &
	child=$!
	until [ -f "$1" ] || [ "$((tries += 1))" -gt 6000 ]; do sleep 0.01; done
	kill -9 -- "-$child"
	wait "$child" || true
	[ -f "$1" ]
}

@test "train-digits: two networks classify 97 and 98 percent of unseen images" {
	ok pipeline train-digits.sh digits
	at_least "$(accuracy mlp)" 0.97 || { echo "$output"; return 1; }
	at_least "$(accuracy conv)" 0.98 || { echo "$output"; return 1; }
	# again, killed on the way and taken up where the last state was saved: the same bits
	NETS=mlp killed again/mlp.safetensors "$ROOT/pipelines/train-digits.sh" again
	NETS=mlp ok pipeline train-digits.sh again
	cmp digits/mlp.safetensors again/mlp.safetensors
	NETS=conv STEPS=40 ok pipeline train-digits.sh one
	NETS=conv STEPS=40 ok pipeline train-digits.sh two
	cmp one/conv.safetensors two/conv.safetensors
}

@test "train-char: a small transformer learns to write" {
	STEPS=300 WRITE=80 ok pipeline train-char.sh "$ROOT/common/README.md" one
	loss=$(sed -n 's/^loss: \([0-9.]*\) after 300 steps$/\1/p' <<< "$output")
	at_least 2.6 "$loss" || { echo "$output"; return 1; }
	text=$(sed '$d' <<< "$output")
	[ "$(wc -m <<< "$text")" -ge 80 ]
	STEPS=300 WRITE=80 killed two/states.safetensors "$ROOT/pipelines/train-char.sh" "$ROOT/common/README.md" two
	[ ! -f two/written.npy ]
	STEPS=300 WRITE=80 ok pipeline train-char.sh "$ROOT/common/README.md" two
	cmp one/states.safetensors two/states.safetensors
	[ "$(sed '$d' <<< "$output")" = "$text" ]
}
