#include <sluice/tensor.h>
using namespace sluice;

static const double weights[4][4] = {
	{0.5, 0, 0, 0.25}, {0, 0.5, 0.25, 0}, {0.25, 0.5, 0, 0}, {0, 0, 0.25, 0.5}};

SLUICE_FUNCTION(loops, SIZE(n, 0, 64), ARG(x, F64, n, 4), ARG(a, F64))
{
	Tensor h = zeros({4}, KW(dtype, F64)), states, w = constant(weights);
	LOOP(i, n, &h) {
		h = tanh(x[i] + matmul(h, w)) * cast(i + 1, F64);
		APPEND(states, h);
	}
	output("h", h);
	output("states", stack(states));
	Tensor r = cast(1, F64), turns = cast(0, F64);
	WHILE(logical_and(abs(r * r - a) > 1e-9, turns < 50), &r, &turns) {
		r = (r + a / r) / 2;
		turns += 1;
	}
	output("r", r);
	output("turns", turns);
	Tensor few, sign = cast(1, F64), total = cast(0, F64);
	IF(r > 1.0, &few) {
		few = x(RANGE(NONE, floordiv(n, 2)));
	} else {
		few = x;
	}
	IF(r < a, &sign)
		sign = cast(-1, F64);
	output("few", few);
	output("sign", sign);
	LOOP(i, n, &total)
		LOOP(j, i + 1, &total)
			total += x(i, 0) * cast(j + 1, F64);
	output("total", total);
}
