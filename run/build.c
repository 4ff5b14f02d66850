/* Every missing object of a document: each runtime builds its own. A program whose object is already there (from
 * `compile`) is left alone; one whose object has gone since is built again from its source. */
#include "run.h"
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

int cores(void)
{
	cpu_set_t set;
	long n = sysconf(_SC_NPROCESSORS_ONLN);

	if (!sched_getaffinity(0, sizeof set, &set))
		n = CPU_COUNT(&set);
	return n < 1 ? 1 : n > 256 ? 256 : (int)n;
}

void build_programs(Programs *p, const BuildOptions *o)
{
	static void (*const builder[])(size_t, Program *const *, const BuildOptions *) = {
		[RUNTIME_CPU] = build_cpu, [RUNTIME_OPENCL] = NULL, [RUNTIME_CUDA] = build_cuda,
	};
	Program **missing = xmalloc((p->n + 1) * sizeof *missing);

	for (size_t k = 0; k < sizeof builder / sizeof *builder; k++) {
		size_t n = 0;
		for (size_t i = 0; i < p->n; i++) {
			Program *q = &p->at[i];
			if (q->object && access(q->object, R_OK))
				q->object = q->entry = NULL;
			if (q->runtime == (Runtime)k && !q->object)
				missing[n++] = q;
		}
		if (n && builder[k])
			builder[k](n, missing, o);
	}
	free(missing);
}
