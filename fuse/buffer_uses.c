/* The steps that write and that read each buffer. */
#include "fuse.h"
#include <stdlib.h>

BufferUse *use_of(BufferUses *u, const UOp *buffer)
{
	table_fit(&u->of);
	BufferUse **at = &u->of.at[buffer->id];
	if (!*at) {
		*at = arena_alloc(sizeof **at);
		(*at)->buffer = buffer;
		(*at)->temp = buffer_is(buffer, "temp") || buffer_is(buffer, "prepared");
	}
	return *at;
}

static void access_add(Access **list, int step)
{
	if (*list && (*list)->step == step)
		return;
	Access *t = arena_alloc(sizeof *t);
	*t = (Access){step, *list};
	*list = t;
}

void uses_add(BufferUses *u, const UOp *call, const StepFacts *f, int step)
{
	for (uint32_t i = 0; i < f->nwritten; i++)
		access_add(&use_of(u, step_buffer(call, f->written[i]))->writers, step);
	for (uint32_t i = 0; i < f->nread; i++)
		access_add(&use_of(u, step_buffer(call, f->read[i]))->readers, step);
}

bool access_from(const Access *t, int a, int b)
{
	for (; t; t = t->next)
		if (t->step >= a && t->step < b)
			return true;
	return false;
}

void uses_free(BufferUses *u)
{
	table_free(&u->of);
	*u = (BufferUses){0};
}
