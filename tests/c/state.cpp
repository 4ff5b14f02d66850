/* state.t in C++ */
#include <sluice/tensor.h>
using namespace sluice;

SLUICE_FUNCTION(average, ARG(x, F64, 3))
{
	Tensor mean = state("mean", zeros({3}));
	Tensor count = state("count", cast(0, I64));
	count = assign(count, count + 1);
	mean = assign(mean, mean + (x - mean) / cast(count, F64));
	output("mean", mean);
	output("first", mean[0]);
}
