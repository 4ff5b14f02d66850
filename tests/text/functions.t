# functions of the program, blocks, several values
def power(x, n=2) {
	if n == 0 {
		return 1
	} else if n % 2 == 1 {
		return x * power(x, n - 1)
	}
	half = power(x, n // 2)
	return half * half
}
def two(x) = x + 1, x - 1
def around(x, by=pi) = two(x)[0] * by

x = f32(arange(4))
up, down = x.two()
total = 0
for k in 1..3 { total += power(x, k) }
for w in [10, 20] { total = total + w }
a, b = split(x, 2)
output cube = power(x, n=3), up, down, total, a, b, turn = around(x, by=2)
