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

setup() { cd "$MODELS"; }

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

arm() { need arm-none-eabi-gcc qemu-system-arm; }

@test "embedded: Cortex-M3, without floating point in the processor" { arm; same m3 plain; }
@test "embedded: Cortex-M4" { arm; same m4 fused; }
@test "embedded: Cortex-M7" { arm; same m7 fused; }
@test "embedded: riscv64" { need riscv64-linux-gnu-gcc qemu-riscv64; same riscv64 fused; }

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
