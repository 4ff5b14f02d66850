/* forms.t in C++ */
#include <sluice/tensor.h>
using namespace sluice;

static const double base[2][3] = {{1, 2, 3}, {4, 5, 6}};

static Tensor scaled(Tensor x) { return x * 2 - 1; }

SLUICE_FUNCTION(forms, SIZE(n, 1, 64), ARG(q, F64, n, 3), ARG(w, F32, 3))
{
	Tensor p = scaled(q), b = constant(base);
	for (int i = 0; i < 2; i++)
		p = p + sin(q) * ((i + 1) / 2.0) + b[i];
	output("p", p);
	output("total", sum(q, KW(axis, 0), KW(keepdims, true)));
	output("parts", q(RANGE(NONE, floordiv(n, 2)), NEW, RANGE(NONE, NONE, -1)));
	output("picked", q(ALL, std::vector<int>{2, 0}));
	output("last", q(-1, REST));
	output("mixed", where(w > 0.5, w, -w / 3.0));
	output("half", 0.5 + w);
	output("joined", concat(w, {1.0, 2.0}));
	output("even", w % 2 == 0);
	Tensor best = topk(w, 2);
	for (int i = 0; i < length(best); i++)
		output(i ? "b" : "a", best[i]);
	Tensor twice = size(q, 0);
	twice *= 2;
	output("twice", twice + w);
	output("product", matmul(q, transpose(base)));
	output("whole", arange(dim(q, 1)) / 2);
	double root = sqrt(acos(-1.0));
	output("area", root * q[0]);
	output("some", compress(w, w > 0.3));
	output("places", nonzero(q > 0.5));
}
