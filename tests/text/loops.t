# loops and branches that are data
input x f32[n, 4] where n in 0..64
input k i32

# power iteration, until the vector stays
const a f64 = [[2, 1, 0], [1, 3, 1], [0, 1, 4]]
v = f64([1, 0, 0])
step = 1.0
while step > 1e-9 {
	w = a @ v
	w = w / norm(w)
	step = max(abs(w - v))
	v = w
}
output value = v @ a @ v, vector = round(v, 6)

# greedy decoding: the next token by a table, until the end or k tokens
const next f32 = [[0, 9, 1, 1], [0, 0, 9, 1], [2, 0, 0, 9], [0, 0, 0, 9]]
token = i64(0)
tokens = [token]
while token != 3 {
	token = argmax(next[token])
	tokens += [token]
}
output tokens = stack(tokens)

# a simulation, with what it has been so far, and how often a bound was met
level = 0
most = -inf
met = 0
levels = []
for i in 0..n - 1 {
	level = level * 0.5 + sum(x[i]) - i
	most = maximum(most, level)
	if level > 0.5 {
		level = 0.5
		met += 1
	} else if level < -0.25 {
		level = -0.25
	}
	levels += [level, most]
}
output level, most, met, levels = stack(levels)

# bounds that are data; a loop in a loop; rows, and a list in a list
pairs = 0
for i in 1..k {
	for j in i..k { pairs += i * j }
}
sums = []
for row in x {
	partial = []
	total = 0
	for e in 0..n - 1 {
		total += row[e % 4]
		partial += [total]
	}
	sums += [stack(partial)]
}
output pairs, sums = stack(sums)

# a function that branches, sizes that differ between branches
def twice(v) {
	if sum(v) > 2 { return v * 2 } else { return -v }
}
rows = []
for r in x { rows += [twice(r)] }
if k > 2 { few = x[:1] } else { few = x }
kind = 1 if k > 2 else 0.5
output rows = concat(rows), few, kind, none_of = not (k > 2 or k < 0)

# long loops of known bounds, and what is known while tracing
far = f32(0)
for i in 0..1999 { far = far * 0.5 + sum(x) }
count = 0
while count < 5000 { count += 1 }
output far, count
