#include <sluice/tensor.h>

static const double weights[4][4] = {
	{0.5, 0, 0, 0.25}, {0, 0.5, 0.25, 0}, {0.25, 0.5, 0, 0}, {0, 0, 0.25, 0.5}};

static Tensor cell(Tensor x, Tensor h) { return tanh(add(x, matmul(h, constant(weights)))); }

SLUICE_FUNCTION(loops, SIZE(n, 0, 64), ARG(x, F64, n, 4), ARG(a, F64))
{
	Tensor h = zeros(LIST(4), KW(dtype, F64)), states = {0};
	LOOP(i, n, &h) {
		h = mul(cell(at(x, i), h), cast(add(i, 1), F64));
		APPEND(states, h);
	}
	output("h", h);
	output("states", stack(states));
	Tensor r = cast(1, F64), turns = cast(0, F64);
	WHILE(logical_and(greater(abs(sub(mul(r, r), a)), 1e-9), less(turns, 50)), &r, &turns) {
		r = div(add(r, div(a, r)), 2);
		turns = add(turns, 1);
	}
	output("r", r);
	output("turns", turns);
	Tensor few = {0}, sign = cast(1, F64), total = cast(0, F64);
	IF(greater(r, 1.0), &few)
		few = at(x, RANGE(NONE, floordiv(n, 2)));
	else
		few = x;
	IF(less(r, a), &sign)
		sign = cast(-1, F64);
	output("few", few);
	output("sign", sign);
	LOOP(i, n, &total)
		LOOP(j, add(i, 1), &total)
			total = add(total, mul(at(x, i, 0), cast(add(j, 1), F64)));
	output("total", total);
}
