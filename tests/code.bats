#!/usr/bin/env bats
# Programs are code: they are executed with the mark that render and compile put there, or with
# --allow-code; only the compiler flags of a table are passed on. Most tests edit `p.mp`, a program
# that was rendered here, whose kernel leaves a file behind when it is evil.
load helpers

setup() {
	cd "$BATS_TEST_TMPDIR"
	export XDG_CONFIG_HOME=$PWD/config XDG_CACHE_HOME=$PWD/cache
	printf '%s\n' 'input x f32[4]' 'output y = x * 2' > g.t
	tool trace g.t > g.mp
	tool render -t clang g.mp > p.mp
	tool show p.mp > p.txt
}

# edited SED…: e.mp is p.mp with its text edited
edited() {
	sed "$@" p.txt > e.txt
	not cmp -s p.txt e.txt
	tool show -p e.txt > e.mp
}

refused() { fails 3 "$@" && [[ $errors == *"--allow-code"* ]]; }

@test "code: what render wrote runs, compiled or not, through text, files and streams" {
	for t in "run p.mp" "run -n 2 p.mp" "run --interpret-only K0 p.mp"; do
		ok bash -c "\"\$BIN\"/$t x=1"
		[[ $output == *"[2. 2. 2. 2.]"* ]]
	done
	tool compile p.mp > o.mp
	ok tool run o.mp x=1
	tool show p.mp | tool show -p | tool show | tool show -p > again.mp
	cmp p.mp again.mp
	tool show o.mp | tool show -p | tool compile | tool run x=1 > /dev/null
	ok bash -c 'cat p.mp o.mp p.mp | "$BIN/compile" | "$BIN/run" x=1'
	[ "$(grep -c '2. 2. 2. 2.' <<< "$output")" = 3 ]
	tool lower g.mp | tool render-clang > direct.mp
	cmp p.mp direct.mp
	tool trace g.t | tool fuse | tool render -t clang | tool compile > /dev/null
}

@test "code: what was edited, or made elsewhere, is 3, and is run with --allow-code" {
	edited 's/, mark: "[0-9a-f]*"//'
	cp e.mp unmarked.mp
	for t in run "run -n 2" "run --interpret-only E_4"; do
		refused bash -c "\"\$BIN\"/$t unmarked.mp x=1"
	done
	refused tool compile unmarked.mp
	[ -z "$(find cache -type f)" ]
	ok tool run --interpret unmarked.mp x=1
	ok tool show unmarked.mp
	ok tool run --allow-code unmarked.mp x=1
	[[ $output == *"[2. 2. 2. 2.]"* ]]
	tool compile --allow-code unmarked.mp > o.mp
	ok tool run o.mp x=1
	# another user's
	XDG_CONFIG_HOME=$PWD/other refused tool run p.mp x=1
	[[ $errors == *"by another user"* ]]
	XDG_CONFIG_HOME=$PWD/other tool render -t clang g.mp > q.mp
	not cmp -s p.mp q.mp
	ok tool diff p.mp q.mp
	[ -z "$output" ]
	cmp <(tool show p.mp | sed 's/mark: "[0-9a-f]*"//') <(tool show q.mp | sed 's/mark: "[0-9a-f]*"//')
}

@test "code: the mark covers all that decides what is executed, and no more" {
	local how bad=0
	tool compile p.mp | tool show > o.txt
	cp o.txt p.txt
	while read -r how; do
		edited "$how" || { echo "no edit: $how"; bad=1; }
		refused tool run e.mp x=1 || { echo "run: $how: $errors"; bad=1; }
		refused tool compile e.mp || { echo "compile: $how"; bad=1; }
	done <<-'E'
	s/|void E_4(/|void none(void);\n\t|void E_4(/
	s/flags: ""/flags: "-O1"/
	s/flags: ""/flags: "-wrapper evil.sh"/
	s/object: "/object: "evil/
	s/object_key: "./object_key: "-/
	s/, object_key: "[0-9a-f]*"//
	s/entry: "c/entry: "x/
	s/shape: \[4\]/shape: [400]/
	s/global_size: \[1\]/global_size: [100]/
	s/outs: \[0\]/outs: [1]/
	s/workspace: \[0, 0\]/workspace: [64, 0]/
	s/name: "y", shape/name: "z", shape/
	s/meta {/meta {more: 1, /
	s/^meta/vars {n: [1, 2]}\nmeta/
	E
	[ $bad = 0 ]
	edited 's/@{loc: "g.t:[0-9]*"/@{loc: "elsewhere"/'
	ok tool run e.mp x=1
	edited 's/meta {/meta {timings: [], /'
	ok tool run e.mp x=1
}

@test "code: an object that was exchanged is not loaded; with the source it is built again" {
	tool compile p.mp > o.mp
	echo 'int creat(const char *, unsigned); __attribute__((constructor)) static void seen(void) { creat("seen", 0600); }' > evil.c
	"${CC:-cc}" -shared -fPIC -o evil.so evil.c
	for so in cache/sluice/*/*.so; do chmod 600 evil.so; cp evil.so "$so"; done
	ok tool run o.mp x=1
	[[ $output == *"[2. 2. 2. 2.]"* ]]
	[ ! -e seen ]
	for so in cache/sluice/*/*.so; do cp evil.so "$so"; done
	tool compile o.mp > again.mp
	[ ! -e seen ]
	ok tool run again.mp x=1
	rm -r cache
	ok tool run o.mp x=1
	[ ! -e seen ]
}

@test "code: a render-X of the stage path makes marked programs, with objects and flags of its own" {
	mkdir own
	cat > own/render-mine <<-'S'
	#!/bin/sh
	if [ "$1" = --describe ]; then
		printf 'gpu: 0\nlanes: 0\nf64: 1\nflags: -fmy-flag -DWHAT=*\n'
		exit
	fi
	sed 's/target: "mine"/target: "clang"/' > /dev/null
	cat "$MADE"
	S
	chmod +x own/render-mine
	export SLUICE_PATH=$PWD/own
	made() { sed 's/, mark: "[0-9a-f]*"//; s/target: "clang", flags: ""/target: "mine", runtime: "cpu", flags: "'"$1"'"/' p.txt | tool show -p > made.mp; }
	export MADE=$PWD/made.mp
	made ""
	tool lower -t mine g.mp > l.mp
	tool render -t mine l.mp > r.mp
	ok tool run r.mp x=1
	ok tool run -t mine g.mp x=1
	refused tool run made.mp x=1
	# -DWHAT=* is described, so it reaches the compiler; another flag does not
	made "-DWHAT=3 -O1"
	tool render -t mine l.mp > r.mp
	ok tool run -v r.mp x=1
	[[ $errors == *"-DWHAT=3 -O1"* ]]
	made "-DOTHER=3"
	tool render -t mine l.mp > r.mp
	fails 4 tool run r.mp x=1
	[[ $errors == *"'-DOTHER=3' is not among the flags of target 'mine'" ]]
	# an object of its own
	printf '%s\n' 'void E_4_call(void *const *b, const long *v, long f, long t) { for (int i = 0; i < 4; i++) ((float *)b[0])[i] = 7; }' > own.c
	"${CC:-cc}" -shared -fPIC -o own.so own.c
	chmod 644 own.so
	sed 's/, mark: "[0-9a-f]*"//; s/target: "clang", flags/object: "own.so", target: "mine", runtime: "cpu", flags/' p.txt | tool show -p > made.mp
	tool render -t mine l.mp > r.mp
	ok tool run r.mp x=1
	[[ $output == *"[7. 7. 7. 7.]"* ]]
	fails 3 tool run made.mp x=1
	# which is not loaded once it was exchanged: the source is compiled
	echo >> own.so
	ok tool run r.mp x=1
	[[ $output == *"[2. 2. 2. 2.]"* ]]
	rm own.so
	fails 1 tool render -t mine l.mp
}

@test "code: flags that are not on the target's list are 4, with leave and without a compiler" {
	local flag
	printf '#!/bin/sh\ntouch seen\nexec "$@"\n' > evil.sh
	chmod +x evil.sh
	for flag in "-wrapper ./evil.sh" -fplugin=./evil.so -B. @flags -save-temps "-o seen" -I. "-O2 -march=native,x" \
		"-march=" -O9 -mllvm -Wl,-rpath,.; do
		edited "s|flags: \"\"|flags: \"$flag\"|"
		fails 4 tool run --allow-code e.mp x=1
		[[ $errors == *"is not among the flags of target 'clang'" ]]
		fails 4 tool compile --allow-code e.mp
	done
	[ ! -e seen ]
	for flag in -O3 "-march=native -O1" -mtune=native "" " "; do
		edited "s|flags: \"\"|flags: \"$flag\", more: 1|"
		ok tool run --allow-code e.mp x=1
	done
	edited 's|target: "clang", flags: ""|target: "opencl", flags: "-I /etc"|'
	fails 4 tool run --allow-code e.mp x=1
}

@test "code: from a socket never without --allow-code, whatever mark is there" {
	ldconfig -p 2> /dev/null | grep -q libzmq || /sbin/ldconfig -p | grep -q libzmq || skip "libzmq is not installed"
	local sock at
	sock=$(mktemp -u "${TMPDIR:-/tmp}/sluice.XXXXXX")
	at=ipc://$sock
	for t in run compile; do
		timeout 30 "$BIN/show" -p p.txt > /dev/null
		timeout 30 "$BIN/render" -t clang -o "$at" g.mp 2> /dev/null &
		refused timeout 30 "$BIN/$t" -i "$at"
		wait $! || true
		[[ $errors == *"from a socket"* ]]
	done
	timeout 30 "$BIN/render" -t clang -o "$at" g.mp &
	ok timeout 30 "$BIN/run" --allow-code -i "$at" x=1
	wait $!
	timeout 30 "$BIN/lower" -o "$at" g.mp &
	ok timeout 30 "$BIN/run" -i "$at" x=1
	wait $!
	rm -f "$sock"
}

@test "code: timings keep the mark; --allow-code alone does not give one" {
	ok tool run p.mp x=1 --profile=t.mp
	tool show t.mp | grep -q timings
	ok tool run t.mp x=1
	ok tool run g.mp x=1 --profile=t.mp
	ok tool run t.mp x=1
	edited 's/, mark: "[0-9a-f]*"//'
	ok tool run --allow-code e.mp x=1 --profile=t.mp
	refused tool run t.mp x=1
}

@test "code: --allow-code takes in --allow-custom; a CUSTOM in a marked program needs the option still" {
	printf '%s\n' 'input x f32[4]' 'output y = custom(x, clang="void custom(float *y, const float *x) { for (int i = 0; i < 4; i++) y[i] = 3 * x[i]; }")' > c.t
	ok tool trace --allow-code c.t
	tool trace --allow-custom c.t | tool fuse --allow-custom | tool render --allow-custom > c.mp
	ok tool run --allow-code c.mp x=1
	[[ $output == *"[3. 3. 3. 3.]"* ]]
	ok tool run --allow-custom c.mp x=1
	fails 3 tool run c.mp x=1
	tool show --allow-custom c.mp | sed 's/3 \* x/4 * x/' | tool show --allow-custom -p > d.mp
	refused tool run --allow-custom d.mp x=1
	ok tool run --allow-code d.mp x=1
}

@test "code: the secret is made once, for this user alone, by any number that start at once" {
	rm -rf config
	for i in $(seq 12); do tool render -t clang g.mp > "r$i.mp" & done
	wait
	[ "$(stat -c '%a %s' config/sluice/secret)" = "600 32" ]
	[ "$(ls -A config/sluice)" = secret ]
	for i in $(seq 12); do cmp r1.mp "r$i.mp"; done
	ok tool run r1.mp x=1
}

@test "code: without a secret there is no mark, and a program needs --allow-code" {
	without() {
		ok tool render -t clang g.mp
		cp stdout r.mp
		not grep -q mark <(tool show r.mp)
		refused tool run r.mp x=1
		[[ $errors == *"no secret"*"$1"* ]] || { echo "$errors"; return 1; }
		ok tool run --allow-code r.mp x=1
		[[ $output == *"[2. 2. 2. 2.]"* ]]
		ok tool run g.mp x=1
		[[ $output == *"[2. 2. 2. 2.]"* ]]
	}
	chmod 644 config/sluice/secret
	without "mode 600"
	chmod 600 config/sluice/secret
	ok tool run p.mp x=1
	mv config/sluice/secret s
	ln -s "$PWD/s" config/sluice/secret
	without "symbolic links"
	rm config/sluice/secret
	head -c 31 s > config/sluice/secret
	chmod 600 config/sluice/secret
	without "32 bytes"
	rm config/sluice/secret
	mkfifo -m 600 config/sluice/secret
	without "not a regular file"
	rm config/sluice/secret
	mkdir config/sluice/secret
	without "not a regular file"
	rm -r config
	echo > config
	without "Not a directory"
	unset XDG_CONFIG_HOME
	HOME= without "names no folder"
}
