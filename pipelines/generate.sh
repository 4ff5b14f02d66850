#!/usr/bin/env bash
# Generates tokens with a language model that has the keys and values of earlier tokens as inputs
# and outputs, as PyTorch exports GPT-2. The loop body is one graph: the cache is state, and each
# call samples the next token.
#
#     generate.sh [MODEL.onnx [TOKEN…]]      N=32 more tokens; TEMPERATURE=1 (0: the likeliest), TOP_K=40, SEED=0,
#                                            CONTEXT=256 tokens at most, prompt and all; KEEP=FILE.t keeps the program
. "$(dirname "$0")/tools.sh"
model=$(realpath "${1:-$here/../tests/models/small/gpt2.onnx}")
[ $# -gt 0 ] && shift
[ $# -gt 0 ] || set -- 1
count=${N:-32} context=${CONTEXT:-256} calls=$(($# + ${N:-32} - 1))
[ "$((calls + 1))" -le "$context" ] || { echo "$((calls + 1)) tokens do not fit CONTEXT=$context" >&2; exit 1; }

# the model's inputs and outputs: NAME DTYPE[SIZES], one per line
ends() { "$bin/info" "$model" | awk -v of="$1" '/^[a-z]/ {in_it = $1 == of; sub(/^[a-z]+/, "")} in_it'; }
caches=$(ends inputs | grep -c ',.*,.*,')
read -r dtype _ heads _ width < <(ends inputs | grep -m 1 ',.*,.*,' | sed 's/.* \([a-z0-9]*\)\[\(.*\)\]/\1 \2/; s/,/ /g')
present=y[1:] last=$(ends outputs | tail -n 1 | awk '{print $1}')
[ "$last" = logits ] && present=y[:-1]

cat > "$work/generate.t" <<END
model = load("$model")
input prompt i64[n] where n in 1..$context
input temperature f32
input seed u64
state tokens i64[$context] = 0
state pos i64 = 0                                   # tokens that the cache holds
state last i64 = 0                                  # drawn by the call before
state cache $dtype[$context, $caches, $heads, $width] = 0

token = where(pos < n, prompt[pos], last)
y = model(reshape(token, [1, 1]), split(moveaxis(cache[:pos], 0, 2), $caches))
new = concat($present)[:, :, pos:]                  # [caches, heads, 1, width]

# by the likelihood of the TOP_K best, each call with counters of its own
best, at = topk(f32(y["logits"][0, -1]), ${TOP_K:-40})
below = cumsum(softmax(best / maximum(temperature, 1e-6))) <= rand([1], key=seed, offset=pos)
drawn = where(temperature > 0, at[minimum(sum(i64(below)), ${TOP_K:-40} - 1)], at[0])

cache <- scatter(cache, pos, new[:, :, 0])
tokens <- scatter(tokens, pos, token)
last <- drawn
pos <- pos + 1
output text = concat(tokens[:pos], reshape(last, [1]))
END
[ -z "${KEEP:-}" ] || cp "$work/generate.t" "$KEEP"

"$bin/trace" "$work/generate.t" | "$bin/fuse" | "$bin/render" -t clang | "$bin/compile" > "$work/generate.mp"
"$bin/run" "$work/generate.mp" prompt="$(printf %s, "$@")" temperature="${TEMPERATURE:-1}" seed="${SEED:-0}" \
	-n "$calls" --profile -o "$work" 2> "$work/times" || { cat "$work/times" >&2; exit 1; }
od -An -v -td8 -w8 -j128 "$work/text.npy" | paste -s -d' ' | tr -s ' '
awk '/ ms each;/ {printf "%.1f tokens/s\n", 1000 / $3}' "$work/times"
