/* Builds every missing object of a document, each with its runtime's builder. A program that
 * already has an object (from `compile`) is left alone; one whose object has been deleted since is
 * built again from its source. */
#include "build/build.h"
#include <stdlib.h>
#include <unistd.h>

void build_programs(size_t n, Program *const *p, const BuildOptions *o)
{
	static void (*const builder[])(size_t, Program *const *, const BuildOptions *) = {
		[RUNTIME_CPU] = build_cpu, [RUNTIME_OPENCL] = NULL, [RUNTIME_CUDA] = build_cuda,
	};
	Program **missing = arena_alloc((n + 1) * sizeof *missing);

	for (size_t k = 0; k < sizeof builder / sizeof *builder; k++) {
		size_t m = 0;
		for (size_t i = 0; i < n; i++) {
			if (p[i]->object && access(p[i]->object, R_OK))
				p[i]->object = p[i]->entry = NULL;
			if (p[i]->runtime == (Runtime)k && !p[i]->object)
				missing[m++] = p[i];
		}
		if (m && builder[k])
			builder[k](m, missing, o);
	}
}
