#!/usr/bin/env bash
# Trains a small causal transformer on a text, character by character, and then lets it write.
#
#     train-char.sh [TEXT [FOLDER]]      TEXT: a file (the pages of this project); in FOLDER, if given, stay the programs and
#                                        the states: the same command goes on where it was stopped
#     STEPS=1000 WRITE=400 SEED=1        steps of training, characters to write, the key of all random numbers
. "$(dirname "$0")/tools.sh"
steps=${STEPS:-1000} write=${WRITE:-400} seed=${SEED:-1}
folder=$(mkdir -p "${2:-$work}" && cd "${2:-$work}" && pwd)

# the ASCII characters, as an array of bytes
if [ -n "${1:-}" ]; then cat "$1"; else cat "$here"/../README.md "$here"/../*/README.md; fi | tr -cd '\n -~' > "$work/ascii"
count=$(wc -c < "$work/ascii")
[ "$count" -gt 1000 ] || { echo "a text of $count characters is too short" >&2; exit 1; }
npy="{'descr': '|u1', 'fortran_order': False, 'shape': ($count,), }"
{ printf '\x93NUMPY\x01\x00\x76\x00%-117s\n' "$npy"; cat "$work/ascii"; } > "$folder/text.npy"

# shared by training and writing: 64 characters at a time, 2 blocks of 4 heads, width 64
cat > "$work/net.t" <<'END'
def heads(x) = moveaxis(x.reshape(x.shape[0], 64, 4, 16), 2, 1)
def block(x, qkv, out, up, down) {
	q, k, v = split(rmsnorm(x) @ qkv, 3, axis=-1)
	a = attention(heads(q), heads(k), heads(v), causal=true)
	x = x + moveaxis(a, 1, 2).reshape(x.shape) @ out
	return x + gelu(rmsnorm(x) @ up) @ down
}
# for characters t[n, 64], the logits of the characters that follow
def net(t, letters, places, qkv, out, up, down) {
	x = embedding(t, letters) + places
	for i in 0..1 { x = block(x, qkv[i], out[i], up[i], down[i]) }
	return rmsnorm(x) @ letters.T
}
END

{ cat "$work/net.t"; cat <<END; } > "$folder/train.t"
const text = load("text.npy")
state letters f32[128, 64] = randn([128, 64], key=${seed}1) * 0.05
state places f32[64, 64] = randn([64, 64], key=${seed}2) * 0.05
state qkv f32[2, 64, 192] = randn([2, 64, 192], key=${seed}3) * 0.1
state out f32[2, 64, 64] = randn([2, 64, 64], key=${seed}4) * 0.05
state up f32[2, 64, 256] = randn([2, 64, 256], key=${seed}5) * 0.1
state down f32[2, 256, 64] = randn([2, 256, 64], key=${seed}6) * 0.05
state step i64 = 0
state mean f32 = 0

# 16 random pieces of the text in each step
start = randint([16, 1], 0, $((count - 64)), key=$seed, offset=step * 16)
piece = i64(text[start + arange(65)])
all = [letters, places, qkv, out, up, down]
loss = cross_entropy(net(piece[:, :-1], letters, places, qkv, out, up, down), piece[:, 1:])
all <- adamw(all, clip_by_norm(grad(loss, all), 1), lr=4e-3 * warmup(step, 50) * cosine_decay(step, $steps, last=0.05))
mean <- where(step == 0, loss, mean * 0.98 + loss * 0.02)
step <- step + 1
output loss = mean
END

{ cat "$work/net.t"; cat <<END; } > "$folder/write.t"
$(for w in letters places qkv out up down; do echo "const $w = load(\"states.safetensors\", \"$w\")"; done)
const text = load("text.npy")
input temperature f32
state last i64[64] = i64(text[:64])                 # what the next one follows
state written i64[$write] = 0
state pos i64 = 0
logits = net(last[none], letters, places, qkv, out, up, down)[0, -1]
below = cumsum(softmax(logits / maximum(temperature, 1e-3))) <= rand([1], key=$seed, offset=pos)
drawn = minimum(sum(i64(below)), 127)
written <- scatter(written, pos, drawn)
last <- concat(last[1:], reshape(drawn, [1]))
pos <- pos + 1
output written
END

compiled() { "$bin/trace" "$folder/$1.t" | "$bin/fuse" | "$bin/render" -t clang | "$bin/compile" > "$folder/$1.mp"; }
compiled train
resume=()
[ ! -f "$folder/states.safetensors" ] || resume=(--load "$folder/states.safetensors")
"$bin/run" "$folder/train.mp" --until "$steps" --save "$folder/states.safetensors" --save-every 100 "${resume[@]}" \
	-o "$folder" ${EVERY:+--every "$EVERY"}
compiled write
"$bin/run" "$folder/write.mp" temperature="${TEMPERATURE:-0.7}" -n "$write" -o "$folder"
od -An -v -tu8 -w8 -j128 "$folder/written.npy" | awk '{printf "%c", $1 + 0}'
echo
od -An -v -tf4 -j128 "$folder/loss.npy" | awk '{printf "loss: %.3f after '"$steps"' steps\n", $1}'
