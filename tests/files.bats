#!/usr/bin/env bats
# Files that are not what they should be, and what a process leaves behind: FIFOs, archives that lie about their sizes, files cut
# while they are mapped, outputs all or none, temporary files after a signal.
load helpers

setup() { cd "$BATS_TEST_TMPDIR" || exit 1; }

# a document whose constant is in a file
in_file() {
	doc "{uop: 1, level: \"graph\", nodes: [[\"BUFFER\",\"f32\",[],{name:\"w\",shape:[$2],role:\"const\",file:[\"$1\",0,$(($2 * 4))]}],
		[\"ADD\",\"f32\",[0,0],nil],[\"SINK\",nil,[1],{names:[\"y\"]}]]}"
}

@test "a FIFO, a folder or a device named by a document is refused without waiting" {
	mkfifo fifo
	mkdir folder
	local at
	for at in fifo folder /dev/tty /dev/zero; do
		in_file "$at" 4 > g.mp
		fails 4 timeout 10 "$BIN/run" g.mp
		[[ $errors == *regular* ]] || { echo "$errors"; return 1; }
		fails 4 timeout 10 "$BIN/run" --interpret g.mp
	done
	mkfifo fifo.npy
	printf 'output y = load("fifo.npy")\n' > p.t
	capture timeout 10 "$BIN/trace" p.t
	[ "$status" = 4 ]
	in_file none 4 > g.mp
	fails 1 "$BIN/run" g.mp
}

@test "a file that is too short, or is cut while it is read, is the input's fault" {
	head -c 15 /dev/zero > short
	in_file short 4 > g.mp
	fails 4 "$BIN/run" g.mp
	fails 4 "$BIN/run" --interpret g.mp
	# cut between the calls of one run
	head -c 4000000 /dev/zero > long
	in_file long 1000000 | "$BIN/schedule" > g.mp
	"$BIN/run" --interpret -n 1000000 g.mp -o out.npz > stdout 2> stderr &
	local run=$!
	for _ in $(seq 100); do
		grep -q "/long" "/proc/$run/maps" && break
		sleep 0.05
	done
	: > long
	local status=0
	wait "$run" || status=$?
	[ "$status" = 4 ]
	[ ! -s stdout ]
	[ "$(cat stderr)" = "run: long: it became shorter while it was read" ]
	[ ! -e out.npz ]
}

@test "an archive is unpacked only as far as its array goes" {
	python3 - <<-'E'
	import io, struct, zipfile, zlib
	def npy(shape, data):
	    head = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
	    return b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head.encode() + data
	def write(name, data):
	    with zipfile.ZipFile(name, "w", zipfile.ZIP_DEFLATED) as z: z.writestr("x.npy", data)
	write("good.npz", npy("(4,)", bytes(16)))
	write("more.npz", npy("(4,)", bytes(64 << 20)))      # a small array, and 64 MB behind it
	write("less.npz", npy("(1000000000,)", bytes(16)))
	b = bytearray(open("good.npz", "rb").read())
	at = b.rfind(b"PK\1\2")
	b[at + 24:at + 28] = struct.pack("<I", 1 << 31)        # the directory lies
	open("lie.npz", "wb").write(b)
	b[at + 24:at + 28] = struct.pack("<I", 140)
	open("low.npz", "wb").write(b)
	E
	doc '[["BUFFER","f32",[],{name:"x",shape:[4],role:"input"}],["ADD","f32",[0,0],nil],["SINK",nil,[1],{names:["y"]}]]' > g.mp
	ok "$BIN/run" --interpret g.mp x=good.npz
	local f
	for f in more less lie low; do
		fails 4 bash -c "ulimit -v 400000; exec \"$BIN/run\" --interpret g.mp x=$f.npz"
		printf 'output y = load("%s.npz", "x")\n' $f > p.t
		capture "$BIN/trace" p.t
		[ $f = low ] || [ "$status" = 4 ]
	done
}

three() {
	doc '[["BUFFER","f32",[],{name:"x",shape:[1],role:"input"}],["ADD","f32",[0,0],nil],["EXPAND","f32",[0],[1000]],
		["NEG","f32",[0],nil],["SINK",nil,[1,2,3],{names:["a","b","c"]}]]' > three.mp
}

@test "the outputs of a run are all there or none" {
	three
	mkdir -p out/c.npy
	fails 1 "$BIN/run" --interpret three.mp x=1 -o out
	[ "$(ls out)" = c.npy ]
	rmdir out/c.npy
	ok "$BIN/run" --interpret three.mp x=1 -o out
	[ "$(ls out | tr '\n' ' ')" = "a.npy b.npy c.npy " ]
	# a disk that is full at the second output: what was there stays as it was
	cp -r out before
	fails 1 bash -c "ulimit -f 1; trap '' XFSZ; exec \"$BIN/run\" --interpret three.mp x=2 -o out"
	local f
	for f in a b c; do
		cmp out/$f.npy before/$f.npy
	done
	[ "$(ls out | wc -l)" = 3 ]
	# a folder made for them goes again
	fails 1 bash -c "ulimit -f 1; trap '' XFSZ; exec \"$BIN/run\" --interpret three.mp x=2 -o new"
	[ ! -e new ]
}

# a compiler that never ends, so that run can be stopped while it compiles
@test "nothing temporary is left after SIGTERM, SIGHUP and SIGINT" {
	three
	mkdir bin
	printf '#!/bin/sh\ncase $* in *" -o "*) touch "${0%%/*}/started"; exec sleep 20;; esac\nexec cc "$@"\n' > bin/slow-cc
	chmod +x bin/slow-cc
	export XDG_CACHE_HOME=$PWD/cache
	local sig status
	for sig in TERM HUP INT; do
		rm -f bin/started
		# a shell ignores SIGINT in what it starts in the background
		python3 -c 'import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_DFL); os.execv(sys.argv[1], sys.argv[1:])' \
			"$BIN/run" --cc "$PWD/bin/slow-cc" three.mp x=1 &
		local run=$!
		for _ in $(seq 200); do
			[ -e bin/started ] && break
			sleep 0.05
		done
		[ -e bin/started ]
		[ "$(find cache -name 'tmp.*' | wc -l)" -ge 1 ]        # one for each unit
		kill -$sig "$run"
		status=0
		wait "$run" || status=$?
		[ "$status" = $((128 + $(kill -l $sig))) ]
		[ "$(find cache -name 'tmp.*' | wc -l)" = 0 ]
	done
	sleep 0.2
	not pgrep -f "$PWD/bin/slow-cc"
}

@test "a message is one line whatever it quotes" {
	printf 'x' > "$(printf 'a\nb\033[1m\xe2\x80\xaec\xff')"
	fails 4 "$BIN/show" "$(printf 'a\nb\033[1m\xe2\x80\xaec\xff')"
	[[ $errors == 'trace: a\nb\x1b[1m\xe2\x80\xaec\xff'* ]] || { echo "$errors"; return 1; }
	fails 1 "$BIN/show" "$(printf '%5000s' '' | tr ' ' x)"
}

@test "ranges of size 0 are no endless loop" {
	doc '{uop: 1, level: "schedule", nodes: [["CONST","i64",[],0],["BUFFER","f32",[],{name:"x",shape:[40,5],role:"input"}],
		["BUFFER","f32",[],{name:"y",shape:[1,5],role:"output"}],["RANGE","i64",[0],[0,"loop"]],["RANGE","i64",[0],[1,"reduce"]],
		["PARAM","f32",[],{slot:1,shape:[40,5]}],["INDEX","f32",[5,4,3],nil],["LOAD","f32",[6],nil],["RREDUCE","f32",[7,4],"ADD"],
		["PARAM","f32",[],{slot:0,shape:[1,5]}],["INDEX","f32",[9,0,3],nil],["STORE",nil,[10,8],nil],["KERNEL",nil,[11],{name:"r"}],
		["CALL",nil,[12,2,1],nil],["SINK",nil,[13],{names:["y"]}]]}' > z.mp
	timeout 20 "$BIN/run" --interpret z.mp x=rand
}
