#!/usr/bin/env bash
# The three networks in f32, trained here: a sine by a perceptron 1-16-16-1, and those of
# pipelines/train-digits.sh for one image. Writes sine.t, mlp.t, conv.t into FOLDER.
#
#     models.sh FOLDER        [STEPS=N: of a digits net, 200]
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
folder=$(mkdir -p "$1" && cd "$1" && pwd)
export SLUICE_BIN=${SLUICE_BIN:-$here/../../build/bin}

cat > "$folder/sine.train.t" <<'END'
state w1 f32[1, 16] = randn([1, 16], key=1)
state b1 f32[16] = randn([16], key=1) * rand([16], key=2) * -2 * pi
state w2 f32[16, 16] = randn([16, 16], key=3) * 0.35
state b2 f32[16] = 0
state w3 f32[16, 1] = randn([16, 1], key=4) * 0.35
state b3 f32[1] = 0
state step i64 = 0
x = rand([256, 1], key=5, offset=step * 256) * (2 * pi)
weights = [w1, b1, w2, b2, w3, b3]
error = relu(relu(x @ w1 + b1) @ w2 + b2) @ w3 + b3 - sin(x)
loss = mean(error ** 2)
weights <- adamw(weights, grad(loss, weights), lr=0.02 * cosine_decay(step, 6000), weight_decay=0)
step <- step + 1
output loss
END
"$SLUICE_BIN/trace" "$folder/sine.train.t" |
	"$SLUICE_BIN/run" --until 6000 --save "$folder/sine.safetensors" -o "$folder"

# net NAME INPUT OUTPUT WEIGHTS…: NAME.t, from the definitions on standard input
net() {
	local name=$1 input=$2 output=$3 w
	{
		echo "input x f32[$input]"
		for w in "${@:4}"; do echo "const $w = load(\"$name.safetensors\", \"$w\")"; done
		cat
		echo "output y = $output"
	} > "$folder/$name.t"
}
net sine 1 'relu(relu(x @ w1 + b1) @ w2 + b2) @ w3 + b3' w1 b1 w2 b2 w3 b3 < /dev/null

# digits NAME STEPS WEIGHTS…
digits() {
	NETS=$1 STEPS=$2 "$here/../../pipelines/train-digits.sh" "$folder" >&2
	sed '/^const/,$ d' "$folder/$1.test.t" |
		net "$1" '8, 8' 'net(x.reshape(1, 8, 8), 0)[0]' "${@:3}"
	sed -i '1a step = 0' "$folder/$1.t"
}
digits mlp "${STEPS:-200}" w1 b1 w2 b2
digits conv "${STEPS:-200}" c1 a1 c2 a2 w b
