/* state.t in C */
#include <sluice/tensor.h>

SLUICE_FUNCTION(average, ARG(x, F64, 3))
{
	Tensor mean = state("mean", zeros(LIST(3)));
	Tensor count = state("count", cast(0, I64));
	count = assign(count, add(count, 1));
	mean = assign(mean, add(mean, div(sub(x, mean), cast(count, F64))));
	output("mean", mean);
	output("first", at(mean, 0));
}
