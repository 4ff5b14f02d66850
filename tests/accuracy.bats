# The real functions in generated code, on a sample of every exponent and the neighbours of special
# values: within 4 units in the last place, without calls to the C library. `make accuracy` tries
# every f32. To add a function, add its name to accuracy.sh.
load helpers

setup() { cd "$BATS_TEST_TMPDIR"; }

x86() { [ "$(uname -m)" = x86_64 ]; }

# within COUNT CC FLAG…
within() {
	bash "$TESTS/accuracy.sh" "$@" > errors.txt || { cat errors.txt; return 1; }
	grep -q 'pow f64: [0-3]\.' errors.txt
}

@test "accuracy: this processor" { within 10 "${CC:-cc}"; }

@test "accuracy: no products with sums rounded once" {
	x86 || skip "not an x86"
	ONLY=exp2,exp2_below,log2,sin,pow,exp,tanh,erf within 5 "${CC:-cc}" -march=x86-64
}

@test "accuracy: clang" {
	command -v clang > c || skip "no clang"
	ONLY=exp2,exp2_below,log2,sin,pow,exp,tanh,erf within 5 clang
	x86 || return 0
	ONLY=exp2,exp2_below,log2,sin,pow within 3 clang -march=x86-64-v3
}

@test "accuracy: gelu" {
	cat > g.t <<-'END'
	x = f32(arange(20000) - 10000) / 700
	d = gelu(x) - f32(gelu(f64(x)))
	output m = max(abs(d) / maximum(abs(x), 1)) < 2e-7
	END
	tool trace g.t > g.mp
	ok tool run g.mp
	[[ $output == *True* ]] || { echo "$output"; return 1; }
	echo 'output x = f32([0, inf, nan, -20, 30, 1e10, 3e38, -1e10])' > x.t
	echo 'input x f32[8]' > e.t
	echo 'output e = (gelu(x) == maximum(x, 0)) | (x != x)' >> e.t
	tool trace x.t > x.mp
	tool run x.mp -o .
	tool trace e.t > e.mp
	ok tool run e.mp x=x.npy
	[[ $output == *True* && $output != *False* ]] || { echo "$output"; return 1; }
}
