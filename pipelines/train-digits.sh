#!/usr/bin/env bash
# Trains two networks on the first 1000 images of handwritten digits and tests them on the other
# 797: a perceptron with two layers and a small convolutional network. Each step distorts the images
# slightly, as hands do.
#
#     train-digits.sh [FOLDER]    in FOLDER, if given, stay the programs and the states: the same command goes on where it
#                                 was stopped; EVERY=200 prints the loss on the way, NETS=mlp or conv trains one alone, STEPS=N so long
. "$(dirname "$0")/tools.sh"
folder=$(mkdir -p "${1:-$work}" && cd "${1:-$work}" && pwd)
data=$here/digits.npz

# the first 1000 images and their labels, as run feeds them
cat > "$work/first.t" <<END
const images = load("$data", "images")
const labels = load("$data", "labels")
output x = images[:1000], y = labels[:1000]
END
"$bin/trace" "$work/first.t" | "$bin/run" -o "$folder"

# images x[n, 8, 8], each randomly rotated, scaled, slanted and moved: [n, 8, 8]
cat > "$work/change.t" <<'END'
def draw(count, key, most) = contiguous((rand([count, 1], key=key, offset=step * count) * 2 - 1) * most)
def change(x) {
	count, place = x.shape[0], f32(arange(8))
	i, j = f32(arange(64) // 8) - 3.5, f32(arange(64) % 8) - 3.5
	turn, larger, slant = draw(count, 11, 0.3), 1 + draw(count, 12, 0.15), draw(count, 13, 0.3)
	c, s = contiguous(larger * cos(turn)), contiguous(larger * sin(turn))
	u = c * i + s * j + draw(count, 14, 1) + 3.5
	v = c * j - s * i + slant * i + draw(count, 15, 1) + 3.5
	rows = relu(1 - abs(u[:, :, none] - place))          # how much a pixel takes of each row and column
	columns = relu(1 - abs(v[:, :, none] - place))
	return sum((rows @ x) * columns, axis=-1).reshape(count, 8, 8)
}
END

# mlp: the weights, their first values, and the logits of images x[n, 8, 8]
mlp_weights='w1 b1 w2 b2'
cat > "$work/mlp.state" <<'END'
state w1 f32[64, 512] = randn([64, 512], key=1) * (2 / 64) ** 0.5
state b1 f32[512] = 0
state w2 f32[512, 10] = randn([512, 10], key=2) * (1 / 512) ** 0.5
state b2 f32[10] = 0
END
cat > "$work/mlp.net" <<'END'
def net(x, p) {
	h = relu(x.reshape(-1, 64) @ w1 + b1)
	return dropout(h, p, key=3, offset=step * h.size) @ w2 + b2
}
END

conv_weights='c1 a1 c2 a2 w b'
cat > "$work/conv.state" <<'END'
state c1 f32[16, 1, 3, 3] = randn([16, 1, 3, 3], key=1) * (2 / 9) ** 0.5
state a1 f32[16] = 0
state c2 f32[32, 16, 3, 3] = randn([32, 16, 3, 3], key=2) * (2 / 144) ** 0.5
state a2 f32[32] = 0
state w f32[512, 10] = randn([512, 10], key=3) * (1 / 512) ** 0.5
state b f32[10] = 0
END
cat > "$work/conv.net" <<'END'
def net(x, p) {
	h = max_pool(relu(conv2d(x.reshape(-1, 1, 8, 8), c1, a1, padding=1)), 2)
	h = relu(conv2d(h, c2, a2, padding=1)).reshape(x.shape[0], 512)
	return dropout(h, p, key=4, offset=step * h.size) @ w + b
}
END

# the programs of NAME: train.t takes STEPS steps of 100 images, test.t classifies the other images
programs() {    # NAME STEPS RATE DROPOUT WEIGHTS…
	local name=$1 steps=$2 rate=$3 dropout=$4
	shift 4
	{ cat "$work/change.t" "$work/$name.net" "$work/$name.state"; cat <<-END; } > "$folder/$name.train.t"
		input x u8[100, 8, 8]
		input y u8[100]
		state step i64 = 0
		weights = [$(echo "$@" | tr ' ' ',')]
		loss = cross_entropy(net(change(f32(x) / 16), $dropout), i64(y))
		weights <- adamw(weights, grad(loss, weights), lr=$rate * warmup(step, 50) * cosine_decay(step, $steps), weight_decay=0.05)
		step <- step + 1
		output loss
	END
	{ cat "$work/$name.net"; cat <<-END; } > "$folder/$name.test.t"
		$(for w; do echo "const $w = load(\"$name.safetensors\", \"$w\")"; done)
		const images = load("$data", "images")
		const labels = load("$data", "labels")
		const step = 0
		output accuracy = mean(f32(argmax(net(f32(images[1000:]) / 16, 0), axis=1) == i64(labels[1000:])))
	END
}

train() {       # NAME STEPS RATE DROPOUT
	local name=$1 steps=$2 resume=() weights=$1_weights from to
	local states=$folder/$name.safetensors
	programs "$@" ${!weights}
	"$bin/trace" "$folder/$name.train.t" | "$bin/fuse" | "$bin/render" -t clang | "$bin/compile" > "$folder/$name.mp"
	[ ! -f "$states" ] || resume=(--load "$states")
	from=$(us)
	"$bin/run" "$folder/$name.mp" --feed x="$folder/x.npy" --feed y="$folder/y.npy" --shuffle 1 --until "$steps" "${resume[@]}" \
		--save "$states" --save-every 500 ${EVERY:+--every "$EVERY"} -o "$folder"
	to=$(us)
	"$bin/trace" "$folder/$name.test.t" | "$bin/run" -o "$folder"
	value() { od -An -v -tf4 -j128 "$folder/$1.npy" | tr -d ' '; }
	awk -v name="$name" -v loss="$(value loss)" -v right="$(value accuracy)" -v steps="$steps" -v ms=$(((to - from) / 1000)) \
		'BEGIN { printf "%-5s accuracy: %.4f on 797 images, loss %.4f after %d steps, %.1f s\n", name, right, loss, steps, ms / 1000 }'
}

for net in ${NETS:-mlp conv}; do
	case $net in
	mlp) train mlp "${STEPS:-4000}" 5e-3 0.3 ;;
	conv) train conv "${STEPS:-1600}" 5e-3 0.2 ;;
	*) echo "no net '$net': mlp or conv" >&2; exit 2 ;;
	esac
done
