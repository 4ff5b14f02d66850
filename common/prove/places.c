/* Each index that a kernel loads from or stores to lies inside its buffer. */
#include "prove/prove.h"
#include "shape/shape.h"

void prove_places(const ProvedCall *c)
{
	if (!c->kernel)
		return;
	for (uint32_t i = 0; i < c->kernel->nsrc; i++) {
		UOp *s = c->kernel->src[i];
		int64_t lo, hi;
		if (s->op != OP_RANGE)
			continue;
		ix_bounds(s->src[0], &lo, &hi);
		if (hi < 0)
			prove_fault(c, "a RANGE of size %lld", (long long)hi);
	}
}
