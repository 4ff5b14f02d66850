/* forms.t in C */
#include <sluice/tensor.h>

static const double base[2][3] = {{1, 2, 3}, {4, 5, 6}};
static const int ids[] = {2, 0};

static Tensor scaled(Tensor x) { return sub(mul(x, 2), 1); }

SLUICE_FUNCTION(forms, SIZE(n, 1, 64), ARG(q, F64, n, 3), ARG(w, F32, 3))
{
	Tensor p = scaled(q), b = constant(base);
	for (int i = 0; i < 2; i++)
		p = add(add(p, mul(sin(q), (i + 1) / 2.0)), at(b, i));
	output("p", p);
	output("total", sum(q, KW(axis, 0), KW(keepdims, true)));
	output("parts", at(q, RANGE(NONE, floordiv(n, 2)), NEW, RANGE(NONE, NONE, -1)));
	output("picked", at(q, ALL, constant(ids)));
	output("last", at(q, -1, REST));
	output("mixed", where(greater(w, 0.5), w, div(neg(w), 3.0)));
	output("half", add(w, 0.5));
	output("joined", concat(w, LIST(1.0, 2.0)));
	output("even", equal(mod(w, 2), 0));
	Tensor best = topk(w, 2);
	for (int i = 0; i < length(best); i++)
		output(i ? "b" : "a", at(best, i));
	output("twice", add(mul(size(q, 0), 2), w));
	output("product", matmul(q, transpose(b)));
	output("whole", div(arange(dim(q, 1)), 2));
	/* a number of C, by C's own function */
	double root = sqrt(acos(-1.0));
	output("area", mul(root, at(q, 0)));
	/* sizes that are data */
	output("some", compress(w, greater(w, 0.3)));
	output("places", nonzero(greater(q, 0.5)));
}
