/* The steps that write and that read each buffer. */
#include "fuse.h"
#include <stdlib.h>

Use *use_of(Uses *u, const UOp *buffer)
{
	table_fit(&u->of);
	Use **at = &u->of.at[buffer->id];
	if (!*at) {
		*at = arena_alloc(sizeof **at);
		(*at)->buffer = buffer;
		(*at)->temp = buffer_is(buffer, "temp") || buffer_is(buffer, "prepared");
	}
	return *at;
}

static void turn_add(Turn **list, int step)
{
	if (*list && (*list)->step == step)
		return;
	Turn *t = arena_alloc(sizeof *t);
	*t = (Turn){step, *list};
	*list = t;
}

void uses_add(Uses *u, const UOp *call, const Facts *f, int step)
{
	for (uint32_t i = 0; i < f->nwritten; i++)
		turn_add(&use_of(u, step_buffer(call, f->written[i]))->writers, step);
	for (uint32_t i = 0; i < f->nread; i++)
		turn_add(&use_of(u, step_buffer(call, f->read[i]))->readers, step);
}

bool turn_from(const Turn *t, int a, int b)
{
	for (; t; t = t->next)
		if (t->step >= a && t->step < b)
			return true;
	return false;
}

void uses_free(Uses *u)
{
	table_free(&u->of);
	*u = (Uses){0};
}
