#!/usr/bin/env bats
# render -t llvm: LLVM IR, which run has compiled by LLVM's library.  ops.bats has every op and dtype,
# golden/*.ll the text.
load helpers

setup() {
	cd "$BATS_TEST_TMPDIR"
	case $BATS_TEST_DESCRIPTION in *"without the library"*) ;; *) has_llvm || skip "no LLVM library" ;; esac
}

# operands DOC: rand for each input
operands() { tool show "$1" | sed -n 's/.*name: "\([^"]*\)".*role: "input".*/\1=rand/p'; }

@test "llvm: golden programs compute the graph's values" {
	local f args
	for f in "$TESTS"/golden/*.kernels "$TESTS"/golden/*.out; do
		(cd "$TESTS/golden" && if [ -f "${f%.*}.t" ]; then tool trace "${f%.*}.t"; else tool show -p "${f%.*}.mp.txt"; fi) > g.mp
		args=()
		case $f in *.kernels) mapfile -t args < <(operands g.mp) ;; esac
		[ ! -f "${f%.*}.args" ] || args+=($(cat "${f%.*}.args"))
		(cd "$TESTS/golden" && tool run --interpret "$OLDPWD/g.mp" "${args[@]}" -o "$OLDPWD/a.npz")
		(cd "$TESTS/golden" && ok tool run -t llvm "$OLDPWD/g.mp" "${args[@]}" -o "$OLDPWD/b.npz")
		tool diff --rtol 1e-4 --atol 1e-4 a.npz b.npz || { echo "differs: $f"; return 1; }
	done
}

@test "llvm: any number of threads gives the same bits" {
	printf 'input x f32[n, 512] where n in 1..2000\ninput w f32[512, 96]\ny = relu(x @ w)\noutput y\noutput s = softmax(y, axis=1)\n' > t.t
	local j
	tool trace t.t | tool fuse | tool render -t llvm | tool compile > t.mp
	tool show t.mp | grep -q 'global_size'
	for j in 1 2 3 8; do ok tool run -j $j t.mp n=1000 x=rand w=rand -o $j.npz; done
	for j in 2 3 8; do cmp 1.npz $j.npz; done
}

@test "llvm: names of a document are no text of LLVM's" {
	mkdoc '{uop: 1, level: "graph", nodes: [["BUFFER","f32",[],{name:"%x, i8* @f(\") ; }",shape:[3],role:"input"}],
		["BUFFER","f32",[],{name:"define",shape:[3],role:"input"}], ["BUFFER","f32",[],{name:"t0",shape:[3],role:"input"}],
		["ADD","f32",[0,1],nil,{name:"a\n} declare"}], ["MUL","f32",[3,2],nil,{loc:"x.t:1\nret void"}],
		["SINK",nil,[4],{names:["loop0"]}]]}' > n.mp
	tool fuse n.mp | tool render -t llvm > p.mp
	tool show p.mp | grep -q '^	|; a_} declare$\|^	|; x.t:1_ret void$'
	ok tool run p.mp @0=1 @1=2 @2=3 -o y.npz
	ok tool run --interpret n.mp @0=1 @1=2 @2=3 -o z.npz
	tool diff y.npz z.npz
}

@test "llvm: a kernel is compiled once, whatever its buffers are called" {
	export XDG_CACHE_HOME=$PWD/cache
	printf 'input x f32[40]\noutput y = x * 3 + 1\n' > a.t
	printf 'input other f32[40]\noutput result = other * 3 + 1\n' > b.t
	printf 'input x f32[40]\noutput y = x * 3 - 1\n' > c.t
	tool run -t llvm a.t x=1 > /dev/null
	[ "$(find cache -name '*.o' | wc -l)" = 1 ]
	tool run -t llvm b.t other=1 > /dev/null
	[ "$(find cache -name '*.o' | wc -l)" = 1 ]
	tool run -t llvm c.t x=1 > said
	[ "$(find cache -name '*.o' | wc -l)" = 2 ]
	grep -q '2\. 2\. 2\.' said
	# one that is damaged is made again
	find cache -name '*.o' | while read -r f; do chmod u+w "$f"; printf x | dd of="$f" bs=1 seek=70 conv=notrunc 2> /dev/null; done
	ok tool run -t llvm c.t x=1
	[ "$output" = "$(cat said)" ]
}

@test "llvm: unoptimised code gives the same bits" {
	printf 'input x f32[64, 33]\noutput y = softmax(x, axis=1) @ transpose(x)\n' > f.t
	ok tool run -t llvm f.t x=rand -o a.npz
	ok tool run -t llvm --fast-compile f.t x=rand -o b.npz
	cmp a.npz b.npz
}

@test "llvm: text that is no LLVM IR is told in a line" {
	printf 'input x f32[4]\noutput y = x + 1\n' > b.t
	tool trace b.t | tool fuse | tool render -t llvm | tool show > b.txt
	sed 's/fadd <4 x float>/fadd banana/' b.txt | tool show -p > b.mp
	fails 3 tool run b.mp x=1
	fails 1 tool run --allow-code b.mp x=1
	[[ $errors == *"the compiler failed: "*"expected type"* ]]
	sed 's/^\(	|define void @[A-Za-z0-9_]*\)_call(/\1_cull(/' b.txt | tool show -p > b.mp
	fails 1 tool run --allow-code b.mp x=1
	[[ $errors == *"there is no function E_4_call"* ]]
}

@test "llvm: without the library, what to install" {
	mkdir -p lib
	: > lib/libLLVM-14.so.1
	printf 'input x f32[4]\noutput y = x + 1\n' > m.t
	export LD_LIBRARY_PATH=$PWD/lib XDG_CACHE_HOME=$PWD/cache
	fails 3 tool run -t llvm m.t x=1
	[[ $errors == "run: target llvm needs LLVM's library: "*"libLLVM-14.so.1"*"apt install libllvm14)" ]]
	tool trace m.t | tool fuse | tool render -t llvm > m.mp
	fails 3 tool compile m.mp
	ok tool run -t clang m.t x=1
}
