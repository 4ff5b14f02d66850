/* Builds every missing object of a document, each with its runtime's builder. A program that
 * already has an object (from `compile`) is left alone; one whose object cannot be read or loaded,
 * or was changed since, is built again from its source. */
#include "build/build.h"
#include <stdlib.h>

static bool is_missing(Program *p, bool load)
{
	if (p->object && object_given(p, load)) {
		const Val *hash = val_get(p->u->arg, "object_hash");
		p->made = hash ? hash->s : p->key;
		p->given = true;
		return false;
	}
	if (p->object && !*p->src)
		die(FAILED, "%s: its object '%s' cannot be loaded, and its source is not there",
			p->where, p->object);
	p->object = p->entry = NULL;
	return true;
}

void build_programs(size_t n, Program *const *p, const BuildOptions *o)
{
	static void (*const builder[])(size_t, Program *const *, const BuildOptions *) = {
		[RUNTIME_CPU] = build_cpu, [RUNTIME_OPENCL] = NULL, [RUNTIME_CUDA] = build_cuda,
	};
	Program **missing = arena_alloc((n + 1) * sizeof *missing);

	for (size_t k = 0; k < sizeof builder / sizeof *builder; k++) {
		size_t m = 0;
		for (size_t i = 0; i < n; i++)
			if (p[i]->runtime == (Runtime)k && builder[k] && is_missing(p[i], o->load))
				missing[m++] = p[i];
		if (m)
			builder[k](m, missing, o);
	}
}
