#!/usr/bin/env bats
# jac and hess: dense against central differences, sparse against dense; expected patterns and
# colours; sizes. To add a case: `derived PLACES COLOURS HOW <<< program`, with input x f64 and
# output y (`second` checks the second derivative); the pattern has PLACES entries and takes COLOURS
# products, by columns, rows or star.
load helpers

setup() { cd "$BATS_TEST_TMPDIR"; }

near() { python3 "$TESTS/derivatives.py" "$@"; }

# x.npy: distinct numbers for input x of g.mp, none of them at a kink
point() {
	local shape=$(tool show g.mp | sed -n 's/.*{name: "x", shape: \(\[[^]]*\]\), role: "input".*/\1/p')
	echo "output x = f64(rand($shape, key=${1:-11})) * 2 - 1" > x.t
	tool trace x.t | tool run --interpret -o . - > /dev/null
}

meta() { tool show "$1" | grep -o 'colours: [0-9]*, by: "[a-z]*"' | tr -d '":,' | cut -d' ' -f2,4; }

# sparse TOOL: the derivative of y by x, dense and sparse, interpreted and compiled; sets $places
# and $colours
sparse() {
	local name=$1_y_x how
	tool "$1" -o y -w x --only g.mp > dense.mp
	tool "$1" -o y -w x --only --sparse --pattern g.mp > sparse.mp
	for how in --interpret ""; do
		ok tool run $how dense.mp x=x.npy -o d
		ok tool run $how sparse.mp x=x.npy -o s
		near full d/$name.npy s/$name.npy s/${name}_indptr.npy s/${name}_indices.npy
	done
	places=$(tool show sparse.mp | sed -n "s/.*BUFFER i32 {name: \"${name}_indices\", shape: \[\([0-9]*\)\].*/\1/p")
	colours=$(meta sparse.mp)
}

# as_differences TOOL BELOW PLACES COLOURS BY: checks the program on standard input; BELOW is the
# output that TOOL derives
as_differences() {
	cat > p.t
	tool trace p.t > g.mp
	point
	sparse "$1"
	near around x.npy around.npy
	if [ "$2" = y ]; then cat g.mp; else tool grad -o y -w x g.mp; fi | tool vmap -a x=0 > v.mp
	ok tool run --interpret v.mp x=around.npy -o v
	near near x.npy "v/$2.npy" "d/$1_y_x.npy"
	[ "$places $colours" = "${*:3}" ] || { echo "$places $colours, not ${*:3}"; cat p.t; return 1; }
}
derived() { as_differences jac y "$@"; }
second() { as_differences hess grad_x "$@"; }

@test "jac: elementwise, broadcast, views" {
	derived 6 1 columns <<< 'input x f64[6]; output y = sin(x) * exp(x) + x ** 3'
	derived 6 1 columns <<< 'input x f64[2, 3]; output y = flip(x, axis=1).T + 1'
	derived 18 2 columns <<< 'input x f64[2, 3]; output y = x[:, none] * x[none]'
	derived 10 2 columns <<< 'input x f64[6]; output y = x[1:] * x[:-1]'
	derived 6 1 columns <<< 'input x f64[6]; output y = pad(x.reshape(3, 2), [[1, 1], [0, 2]])'
	derived 4 2 columns <<< 'input x f64[2]; output y = [[1.0, 2], [3, 4]] @ x'
	derived 6 1 rows <<< 'input x f64[6]; output y = sum(x * x)'
	derived 1 1 columns <<< 'input x f64[]; output y = tanh(x)'
	derived 3 1 columns <<< 'input x f64[3]; output y = where(x > 0, x, -2 * x) + abs(x) + maximum(x, 0.25)'
}

@test "jac: reductions, scans, matrix products" {
	derived 12 1 rows <<< 'input x f64[4, 3]; output y = sum(x * x, axis=1)'
	derived 15 5 columns <<< 'input x f64[5]; output y = cumsum(sin(x))'
	derived 15 5 columns <<< 'input x f64[5]; output y = cumprod(x)'
	derived 27 3 columns <<< 'input x f64[3, 3]; output y = x @ [[1.0, 2, 3], [4, 5, 6], [7, 8, 9]]'
	derived 9 3 columns <<< 'input x f64[3]; output y = softmax(x)'
	derived 6 1 rows <<< 'input x f64[2, 3]; output y = x.max(axis=1)'
	derived 4 1 rows <<< 'input x f64[4]; output y = prod(x)'
}

@test "jac: indices known and unknown, scatters, sorts" {
	derived 5 1 columns <<< 'input x f64[6]; output y = x[[0, 2, 2, 5, 1]] ** 2'
	derived 5 1 columns <<< 'input x f64[6]; const i = [3, -1, 9, 0, 0, 5]; output y = gather(x, i) * 2'
	derived 16 4 columns <<< 'input x f64[4]; output y = x[argsort(x)]'
	derived 6 2 columns <<< 'input x f64[4]; output y = scatter(x * 2, [1, 3], x[:2], how="add")'
	derived 4 1 columns <<< 'input x f64[4]; output y = scatter(x * 2, [1, 3], x[:2] * x[:2])'
	derived 7 2 rows <<< 'input x f64[5]; output y = scatter(f64([0, 0, 0]), [0, 0, 0, 2, 0], x, how="add") + x[:3] ** 2'
}

@test "jac: entries that constants make zero are not in the pattern" {
	derived 6 3 columns <<< 'input x f64[3]; const m = [[1, 0, 0], [1, 1, 0], [1, 1, 1]]; output y = sum(where(m > 0, x * x, 0.0), axis=1)'
	derived 4 2 columns <<< 'input x f64[3]; const m f64 = [[2, 0, 0], [0, 0, 3], [0, 4, 5]]; output y = m @ x'
	derived 0 0 columns <<< 'input x f64[3]; output y = trunc(x) + f64(x > 0.1)'
	derived 2 1 columns <<< 'input x f64[5]; output y = scatter(x * x, [1, 3, 4], f64([1, 2, 3]))'
}

@test "jac: banded, blocks, stencils" {
	derived 54 5 columns <<< 'input x f64[12]
		y = x ** 2
		for k in 1..2 { y = y + pad(x[k:] * x[:-k], [[0, k]]) + pad(x[:-k] ** 2, [[k, 0]]) }
		output y'
	derived 36 3 columns <<< 'input x f64[4, 3]; output y = sum(sin(x), axis=1)[:, none] * x'
	derived 4 1 rows <<< 'input x f64[4]; output y = x[:2] * x[2:]'
	cat > s.t <<-'T'
		input x f64[5, 5]
		p = pad(x, [[1, 1], [1, 1]])
		output y = x * 4 - p[:-2, 1:-1] - p[2:, 1:-1] - p[1:-1, :-2] - p[1:-1, 2:] + exp(x)
	T
	derived 105 6 columns < s.t
}

@test "jac: two reductions in one kernel, with inner ranges of the same axis number" {
	printf 'input w f64[3, 2]\ninput k i64[4]\nv = take(w, k %% 2, axis=1)\noutput y = sum(w ** 2) + sum(v ** 2)\n' > p.t
	tool trace p.t > g.mp
	tool jac --mode forward -w w --only g.mp > f.mp
	tool jac --mode reverse -w w --only g.mp > r.mp
	ok tool run f.mp w=rand k=1,2,5,7 -o f.npz
	ok tool run --interpret r.mp w=rand k=1,2,5,7 -o r.npz
	ok tool diff f.npz r.npz
}

@test "hess: chains, arrows, blocks, linear parts" {
	second 28 3 star <<< 'input x f64[10]; output y = sum((x[1:] - x[:-1] ** 2) ** 2 * 100 + (1 - x[:-1]) ** 2)'
	second 22 2 star <<< 'input x f64[8]; output y = sum(x[0] * sin(x)) + sum(x ** 4)'
	second 36 3 star <<< 'input x f64[4, 3]; output y = sum(sin(sum(x, axis=1)))'
	second 2 1 star <<< 'input x f64[6]; output y = sum(x) * 3 + x[1] ** 2 + exp(x[4])'
	second 6 1 star <<< 'input x f64[6]; output y = sum(x[:3] * x[3:])'
	second 0 0 star <<< 'input x f64[3]; output y = sum(x * [1.0, 2, 3])'
	second 9 3 star <<< 'input x f64[3]; output y = log(sum(exp(x)))'
	second 25 5 star <<< 'input x f64[5]; output y = prod(x) + sum(x) ** 2'
}

@test "hess: two buffers, each block" {
	echo 'input x f64[3]; input z f64[2]; output y = sum(x ** 3) * sum(z) + z[0] * z[1]' > p.t
	tool trace p.t > g.mp
	echo 'output x = f64([1, 2, 3]), z = f64([4, 5])' > x.t
	tool trace x.t | tool run --interpret -o . -
	tool hess -w x,z --only g.mp > h.mp
	ok tool run h.mp x=x.npy z=z.npy -o got.npz
	cat > want.t <<-'T'
		output hess_y_x = f64([[54, 0, 0], [0, 108, 0], [0, 0, 162]]), hess_y_x_z = f64([[3, 3], [12, 12], [27, 27]])
		output hess_y_z_x = f64([[3, 12, 27], [3, 12, 27]]), hess_y_z = f64([[0, 1], [1, 0]])
	T
	tool trace want.t | tool run --interpret -o want.npz -
	ok tool diff --rtol 1e-12 want.npz got.npz
}

@test "jac, hess, grad and vmap go together in any order" {
	echo 'input x f64[3]; output y = sum(sin(x[1:]) * x[:-1] ** 2)' > p.t
	tool trace p.t > g.mp
	echo 'output x = f64(rand([2, 3], key=3))' > x.t
	tool trace x.t | tool run --interpret -o . -
	tool hess -o y -w x --only g.mp | tool vmap -a x=0 -n 2 > 1.mp
	tool grad -o y -w x g.mp | tool jac -o grad_x -w x --only | tool vmap -a x=0 > 2.mp
	tool vmap -a x=0 -n 2 g.mp | tool jac -o y -w x --only > 3.mp
	tool jac -o y -w x --mode forward g.mp | tool vmap -a x=0 | tool jac -o jac_y_x -w x --only > 4.mp
	ok tool run 1.mp x=x.npy -o 1.npz
	for k in 2 4; do ok tool run $k.mp x=x.npy -o $k; done
	tool grad -o y -w x g.mp | tool vmap -a x=0 > 0.mp
	ok tool run 0.mp x=x.npy -o 0
	ok tool run 3.mp x=x.npy -o 3
	cat > same.t <<-'T'
		const h = load("2/jac_grad_x_x.npy")
		const j = load("4/jac_jac_y_x_x.npy")
		const g = load("0/grad_x.npy")
		const d = load("3/jac_y_x.npy")
		output hess_y_x = h, all = max(abs(j[[0, 1], :, [0, 1]] - h)), far = max(abs(j[[0, 1], :, [1, 0]]))
		output one = max(abs(d[[0, 1], [0, 1]] - g)), other = max(abs(d[[0, 1], [1, 0]]))
	T
	tool trace same.t | tool run --interpret -o same -
	python3 - <<-'END'
		import struct
		for n in "all far one other".split():
		    v = struct.unpack("<d", open(f"same/{n}.npy", "rb").read()[-8:])[0]
		    assert abs(v) < 1e-14, (n, v)
	END
	echo 'const h = load("2/jac_grad_x_x.npy"); output hess_y_x = h' > h.t
	tool trace h.t | tool run --interpret -o h.npz -
	ok tool diff --rtol 1e-12 --atol 1e-15 h.npz 1.npz
}

@test "jac: sizes that are variables: dense as they are, sparse by --set" {
	echo 'input x f64[n] where n in 2..9; input z f64[n, 2]; output y = x[1:] * x[:-1], q = z * 2' > p.t
	tool trace p.t > g.mp
	echo 'output x = f64([1, 2, 3, 4])' > x.t
	tool trace x.t | tool run --interpret -o . -
	tool jac -o y -w x --only g.mp > d.mp
	ok tool run --interpret d.mp x=x.npy -o d
	fails 3 tool jac -o y -w x --sparse g.mp
	[[ $errors == *"--set"* ]]
	fails 2 tool jac -o y -w x --sparse --set m=4 g.mp
	fails 2 tool jac -o y -w x --sparse --set n=10 g.mp
	tool jac -o y -w x --sparse --pattern --only --set n=4 g.mp > s.mp
	tool show s.mp | grep -q 'colours: 2, by: "columns"'
	ok tool run s.mp x=x.npy -o s
	near full d/jac_y_x.npy s/jac_y_x.npy s/jac_y_x_indptr.npy s/jac_y_x_indices.npy
}

@test "jac: no elements, one element, each dtype" {
	shown() { # PROGRAM WANT OPTION…: jac_y_x as it is printed
		echo "$1" > p.t
		tool trace p.t > g.mp
		tool jac -o y -w x --only "${@:3}" g.mp > j.mp
		ok tool run --interpret j.mp x=zeros
		[ "$(tr '\n' ' ' <<< "$output" | tr -s ' ')" = "jac_y_x $2 " ] || { echo "$output"; cat p.t; return 1; }
	}
	for how in "--mode forward" "--mode reverse"; do
		shown 'input x f32[0]; output y = x * 2' 'f32[0,0] []' $how
		shown 'input x f32[0]; output y = x * 2' 'f32[0] []' $how --sparse
		shown 'input x f32[3]; output y = x[:0]' 'f32[0,3] []' $how
		shown 'input x f32[3]; output y = x[:0]' 'f32[0] []' $how --sparse
		shown 'input x f32[]; output y = x' 'f32[] 1.0' $how
		shown 'input x f32[]; output y = x' 'f32[1] [1.]' $how --sparse
		shown 'input x f16[1, 2]; output y = x * 3' 'f16[1,2,1,2] [[[[3. 0.]] [[0. 3.]]]]' $how
		shown 'input x bf16[2]; output y = x * 3' 'bf16[2] [3. 3.]' $how --sparse
		shown 'input x f32[2]; output y = f64(x) * 3' 'f64[2,2] [[3. 0.] [0. 3.]]' $how
		shown 'input x f64[2]; output y = f32(x) * 3' 'f32[2] [3. 3.]' $how --sparse
	done
}

@test "jac: unsupported programs are refused with a message" {
	echo 'input x f64[3]; input i i64[3]; output y = x * 2, k = i + 1' > p.t
	tool trace p.t > g.mp
	fails 2 tool jac -o z g.mp
	fails 2 tool jac -o k -w x g.mp
	fails 2 tool jac -o y -w i g.mp
	fails 2 tool jac -o y -w x --mode sideways g.mp
	fails 2 tool jac -o y -w x --pattern g.mp
	fails 2 tool hess -o y -w x g.mp
	echo 'input x f64[30000]; output y = cumsum(x)' > p.t
	tool trace p.t > g.mp
	fails 3 tool jac -o y -w x --sparse g.mp
	[[ $errors == *"places"* ]]
}

# checks only that it ends, with little memory, not how long it takes
@test "jac: patterns of 100 000 by 100 000" {
	cat > p.t <<-'T'
		input x f64[100000]
		y = sin(x)
		for k in 1..9 { y = y + pad(x[k:] * x[:-k], [[0, k]]) }
		output y
	T
	tool trace p.t > g.mp
	tool jac -o y -w x --only --sparse g.mp > s.mp
	[ "$(meta s.mp)" = "10 columns" ]
	tool show s.mp | grep -q 'GATHER f64 .*# \[999955\]'
	echo 'input x f64[100000]; output y = sum((x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2), a = sum(x[0] * sin(x)) + sum(x ** 4)' > p.t
	tool trace p.t > g.mp
	tool hess -o y -w x --only --sparse g.mp > s.mp
	[ "$(meta s.mp)" = "3 star" ]
	tool hess -o a -w x --only --sparse g.mp > s.mp
	[ "$(meta s.mp)" = "2 star" ]
	echo 'input x f64[100000]; output y = x[x.shape[0] - 1 - arange(100000)] * x, z = sum(x) * x[:2]' > p.t
	tool trace p.t > g.mp
	tool jac -o y -w x --only --sparse g.mp > s.mp
	[ "$(meta s.mp)" = "2 columns" ]
	tool jac -o z -w x --only --sparse g.mp > s.mp
	[ "$(meta s.mp)" = "2 rows" ]
}
