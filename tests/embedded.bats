#!/usr/bin/env bats
# Packed networks on microcontrollers: Cortex-M3, M4 and M7 on QEMU's boards, RISC-V in its user
# mode. To add a network, write its program in embedded/models.sh.
load helpers

setup_file() {
	export MODELS=$BATS_FILE_TMPDIR
	SLUICE_BIN=$BIN STEPS=60 bash "$TESTS/embedded/models.sh" "$MODELS" 2> /dev/null
	local m
	for m in sine mlp conv; do
		tool trace "$MODELS/$m.t" | tool fuse > "$MODELS/$m.mp"
		tool pack --embedded --name $m -o "$MODELS/lib" "$MODELS/$m.mp"
	done
	cat > "$MODELS/x.t" <<-END
		const images = load("$ROOT/pipelines/digits.npz", "images")
		output sine = ones([1]) * 2, mlp = f32(images[1003]) / 16, conv = f32(images[1003]) / 16
	END
	tool trace "$MODELS/x.t" | tool run -o "$MODELS/x"
}

# each test builds in a folder of its own
setup() {
	cp -r "$MODELS/." "$BATS_TEST_TMPDIR"
	cd "$BATS_TEST_TMPDIR"
}

need() {
	local c
	for c; do
		command -v "$c" > where || skip "no $c"
	done
}

# on BOARD NAME [OPTION…]: its output becomes NAME.BOARD.npy, what was measured NAME.BOARD.txt
on() {
	python3 "$TESTS/embedded/embedded.py" "$1" "$2" lib "x/$2.npy" "${@:3}" > "$2.$1.txt"
	mv lib/y.npy "$2.$1.npy"
}

# same BOARD HOST: each network has the same bits on both, which are near what run gives
same() {
	local m
	for m in sine mlp conv; do
		on "$1" $m
		on "$2" $m
		cmp "$m.$1.npy" "$m.$2.npy"
		ok tool run "$m.mp" x="x/$m.npy" -o "$m.npy"
		tool diff --rtol 1e-5 --atol 1e-5 "$m.npy" "$m.$1.npy"
	done
}

# holds BOARD COMPILER…: what pack states is what is measured on it: memory exactly, flash within the few bytes
# of the program that calls it, the stack as a bound that is not far
holds() {
	local m stated
	for m in sine mlp conv; do
		ok tool pack --embedded --cc "${*:2}" --name $m -o lib "$m.mp"
		stated=$output
		on "$1" $m --image
		awk -v name="$1 $m" '
			FNR == NR { measured[$1] = $2; next }
			$1 == "workspace" { workspace = $2; alive = $4 }
			$1 == "stack" { stack = $2 }
			$1 == "flash" { flash = $2 }
			END {
				off = measured["own"] - flash
				over = stack - measured["stack"]
				if (workspace != measured["workspace"] || workspace > 1.05 * alive ||
						off < 0 || off > 100 || over < 0 || over > 160) {
					print name ": flash off by " off ", stack by " over ", workspace " workspace " of " alive
					exit 1
				}
			}' "$m.$1.txt" - <<< "$stated"
	done
}

arm() { need arm-none-eabi-gcc qemu-system-arm; }

@test "embedded: Cortex-M3, without floating point in the processor" { arm; same m3 plain; }
@test "embedded: Cortex-M4" { arm; same m4 fused; }
@test "embedded: Cortex-M7" { arm; same m7 fused; }
@test "embedded: riscv64" { need riscv64-linux-gnu-gcc qemu-riscv64; same riscv64 fused; }

@test "embedded: what pack states holds, Cortex-M3" {
	arm
	holds m3 arm-none-eabi-gcc -mthumb -mcpu=cortex-m3
}

@test "embedded: what pack states holds, Cortex-M4" {
	arm
	holds m4 arm-none-eabi-gcc -mthumb -mcpu=cortex-m4 -mfloat-abi=hard -mfpu=fpv4-sp-d16
	# a call of the convolutions took 792277 instructions, and 5 kB of stack, with the tiles of -t c
	[ "$(awk '$1 == "instructions" { print $2 }' conv.m4.txt)" -lt 320000 ]
	[ "$(awk '$1 == "stack" { print $2 }' conv.m4.txt)" -lt 256 ]
}

@test "embedded: multiply-adds, and a compiler that is not there" {
	ok tool pack --embedded --name conv -o other conv.mp
	# 16 channels of 8x8 from 1 by 3x3, 32 of 4x4 from 16, and 10 from 512
	[[ $output =~ "conv_call "+" "*"$((16 * 64 * 9 + 32 * 16 * 16 * 9 + 5120)) multiply-adds" ]]
	fails 1 tool pack --embedded --cc no-such-compiler --name conv -o other conv.mp
	fails 2 tool pack --embedded -t clang --name conv -o other conv.mp
}

@test "embedded: the network is a sine" {
	cat > grid.t <<-'END'
		x = f32(arange(629)) / 100
		output x = x[:, none], sine = sin(x)[:, none]
	END
	tool trace grid.t | tool run -o grid
	tool trace sine.t | tool vmap -a x=0 -n 629 | tool run x=grid/x.npy -o grid
	tool diff --rtol 0 --atol 0.03 grid/sine.npy grid/y.npy
	not tool diff --rtol 0 --atol 0.0003 grid/sine.npy grid/y.npy > differs
}

@test "embedded: every model of the tests is lowered, and proved" {
	local m
	for m in "$TESTS"/models/small/*.onnx; do
		tool trace "$m" | tool fuse | tool lower -t embedded > l.mp
		tool prove l.mp > proved || { echo "$m"; return 1; }
	done
}
