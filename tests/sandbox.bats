#!/usr/bin/env bats
# Walls: what a stage may still do while it reads a document, and a program under run --sandbox.
load helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || exit 1
	sanitized && skip "a sanitizer's runtime needs more system calls"
	leave=--allow-custom
	tool run --help | grep -q -- --allow-code && leave=--allow-code
	true
}

# a graph with a CUSTOM whose code runs these statements and stores the value of `r`
custom() {
	tool show --allow-custom -p > "$1" <<-E
	sluice 1 graph
	%0 = BUFFER f32 {name: "x", shape: [1], role: "input"}
	%1 = CUSTOM f32 %0 {shape: [1], code: {clang: "int open(const char *, int, ...), socket(int, int, int), system(const char *), fork(void); void _exit(int); long write(int, const void *, long);\nvoid custom(float *y, const float *x)\n{\n\tlong r = 0;\n\t$2\n\t*y = r;\n}\n"}}
	%2 = SINK %1 {names: ["y"]}
	E
}

# result DOCUMENT OPTION…: the number that the program stored
result() { tool run $leave "$@" x=1 | tail -n 1; }

@test "a program under --sandbox reaches no file, network or process" {
	printf secret > secret
	custom ok.mp 'r = 7;'
	custom read.mp 'r = open(\"secret\", 0);'
	custom write.mp 'r = open(\"pwned\", 0101, 0600);'
	custom net.mp 'r = socket(2, 1, 0);'
	custom local.mp 'r = socket(1, 1, 0);'
	custom fork.mp 'r = fork(); if (!r) _exit(0);'
	custom exec.mp 'r = system(\"touch pwned\") == 0 ? 1 : -1;'
	mkdir out
	[ "$(result ok.mp --sandbox)" = "[7.]" ]
	ok tool run $leave --sandbox ok.mp x=1 -o out
	ok tool run $leave --sandbox ok.mp x=1 -o out.npz
	tool diff out.npz out
	for f in read write net local fork exec; do
		[ "$(result $f.mp --sandbox)" = "[-1.]" ] || { echo "$f: $(result $f.mp --sandbox)"; return 1; }
		[ ! -e pwned ]
	done
	# without it they can: the test sees what it should
	for f in read net fork; do
		[ "$(result $f.mp)" != "[-1.]" ] || { echo "$f"; return 1; }
	done
}

@test "--sandbox changes no result: threads, constants in files, states, the interpreter" {
	python3 "$TESTS/npy.py" --help > /dev/null 2>&1 || true
	printf 'input x f32[64, 64]\nconst w f32 = ones([64, 64])\noutput y = relu(x @ w @ x)\n' > p.t
	tool trace p.t > g.mp
	tool run g.mp x=rand -o plain.npz
	ok tool run --sandbox -j 2 g.mp x=rand -o walls.npz
	cmp plain.npz walls.npz
	ok tool run --sandbox --interpret g.mp x=rand -o walls.npz
	head -c 262144 /dev/zero > w
	doc '[["BUFFER","f32",[],{name:"w",shape:[65536],role:"const",file:["w",0,262144]}],["ADD","f32",[0,0],nil],["SINK",nil,[1],{names:["y"]}]]' > g.mp
	ok tool run --sandbox g.mp -o walls.npz
}

@test "a program in C that is traced writes no file, starts no process and reaches no network" {
	cat > p.c <<-'E'
	#include <sluice/tensor.h>
	#include <stdio.h>
	#include <stdlib.h>
	#include <sys/socket.h>
	#include <unistd.h>
	static int early;
	__attribute__((constructor)) static void first(void) { early = fopen("early", "w") != NULL; }
	SLUICE_FUNCTION(f, ARG(x, F64, 1))
	{
		double did[7] = {
			early, fopen("late", "w") != NULL, unlink("file") == 0, socket(AF_INET, SOCK_STREAM, 0) >= 0,
			socket(AF_UNIX, SOCK_STREAM, 0) >= 0, fork() >= 0, system("true") == 0 };
		output("y", add(x, constant(did)));
	}
	E
	sed -i 's/fork() >= 0/({ int pid = fork(); if (!pid) _exit(0); pid > 0; })/' p.c
	echo > file
	tool trace p.c > g.mp
	[ "$(tool run g.mp x=0 | tail -n 1)" = "[0. 0. 0. 0. 0. 0. 0.]" ]
	[ -e file ]
	[ ! -e early ]
	[ ! -e late ]
	# a compiled one too; and without walls it can: the test sees what it should
	"${CC:-cc}" -shared -fPIC -I"$BIN/../include" -o p.so p.c -lm
	tool trace p.so | cmp - g.mp
	tool trace --no-walls p.c > g.mp
	[ "$(tool run g.mp x=0 | tail -n 1)" = "[1. 1. 1. 1. 1. 1. 1.]" ]
}

# the seccomp mode and the no_new_privs bit of a process
walls_of() { awk '/^(Seccomp|NoNewPrivs):/ { printf "%s ", $2 }' "/proc/$1/status"; }

@test "every stage is confined while it reads, and starts others by its broker" {
	printf 'input x f32[4]\noutput y = x + 1\n' > p.t
	tool trace p.t > g.mp
	mkfifo in
	local stage
	for stage in trace simplify schedule fuse layout lower render compile show; do
		"$BIN/$stage" - < in > out.mp &
		exec 7> in
		for _ in $(seq 100); do
			[ "$(walls_of $!)" = "1 2 " ] && break
			sleep 0.02
		done
		[ "$(walls_of $!)" = "1 2 " ] || { echo "$stage: $(walls_of $!)"; return 1; }
		cat g.mp >&7
		exec 7>&-
		wait $!
	done
	"$BIN/run" - x=1,2,3,4 < in > seen &
	exec 7> in
	for _ in $(seq 100); do
		[ "$(walls_of $!)" = "1 2 " ] && break
		sleep 0.02
	done
	[ "$(walls_of $!)" = "1 2 " ]
	cat g.mp >&7
	exec 7>&-
	wait $!
	[ "$(tail -n 1 seen)" = "[2. 3. 4. 5.]" ]
	# a stream of documents, each of which needs stages before
	cat g.mp g.mp g.mp | tool fuse | tool show --count > seen
	[[ $(sort -u seen) == "schedule nodes="*" kernels=1 copies=0" ]] || { cat seen; return 1; }
	[ "$(wc -l < seen)" = 3 ]
	ok tool fuse --no-walls g.mp
}

@test "between walls a process opens nothing itself, and gets no secret, key or cached file" {
	export XDG_CONFIG_HOME=$PWD/config XDG_CACHE_HOME=$PWD/cache
	mkdir -p config/sluice cache/sluice
	printf data > file
	printf secret > config/sluice/other
	printf cached > cache/sluice/entry
	ln -s config/sluice/other link
	build check_walls
	for secret in config/sluice/other cache/sluice/entry link config/../config/sluice/other; do
		[ "$(./check_walls file $secret)" = $'ask\nwait' ] || { echo "$secret:"; ./check_walls file $secret; return 1; }
	done
	[ ! -e written ]
}

@test "a document that names the user's secret, keys or cache gets nothing from them" {
	printf 'input x f32[1]\noutput y = x + 1\n' > p.t
	tool trace p.t | tool render -t clang > /dev/null
	local secret=${XDG_CONFIG_HOME:-$HOME/.config}/sluice/secret stage
	[ -f "$secret" ]
	doc "$(printf '[["BUFFER","u8",[],{name:"w",shape:[32],role:"const",file:["%s",0,32]}],["ADD","u8",[0,0],nil],["SINK",nil,[1],{names:["y"]}]]' "$secret")" > g.mp
	for stage in "run g.mp" "run --interpret g.mp" "run --sandbox g.mp"; do
		fails 3 tool $stage
		[[ $errors == *"documents get nothing"* ]]
	done
	# one's own files, by relative and absolute paths, stay as they are
	mkdir sub
	printf 'abcd' > sub/w
	for path in sub/w "$PWD/sub/../sub/w"; do
		doc "$(printf '[["BUFFER","u8",[],{name:"w",shape:[4],role:"const",file:["%s",0,4]}],["ADD","u8",[0,0],nil],["SINK",nil,[1],{names:["y"]}]]' "$path")" > g.mp
		[ "$(tool trace g.mp | tool schedule | tool fuse | tool run)" = "y u8[4]
[194 196 198 200]" ]
	done
}
