/* The data of a session between its calls: inputs that change, states, outputs, times. */
#include "session/steps.h"
#include <stdlib.h>

static bool is_state(const UOp *u) { return buffer_is(u, "state"); }

/* ---- inputs */

void session_fed(Session *s)
{
	s->fed = arena_alloc((s->in->n + 1) * sizeof *s->fed);
	for (size_t i = s->first; i < s->nsteps; i++)
		for (size_t k = 0; k < s->step[i].nbuf; k++) {
			const UOp *u = s->b.u[s->step[i].slot[k]];
			const Array *a = buffer_is(u, "input") ? input_of(s->in, u) : NULL;
			if (!a || !s->in->fed[a - s->in->at])
				continue;
			s->fed[a - s->in->at].slot = s->step[i].slot[k];
			vec_push(&s->fed[a - s->in->at].mem, &s->step[i].mem[k]);
		}
}

void session_input(Session *s, size_t k, void *data)
{
	Fed *f = s->g->level > LV_GRAPH && !s->list ? &s->fed[k] : NULL;

	s->in->at[k].data = data;
	if (!f || !f->mem.n)
		return;
	s->b.host[f->slot].data = data;
	buffer_put(&s->b, f->slot);
	for (size_t i = 0; i < f->mem.n && s->b.exec->host; i++)
		*f->mem.at[i] = data;
}

/* ---- states */

static int by_name(const void *a, const void *b)
{
	return strcmp(buffer_name(*(UOp *const *)a), buffer_name(*(UOp *const *)b));
}

size_t session_states(Session *s, const char *const **names, const Array **at)
{
	size_t most = s->b.n + s->states.n + 1, n = 0;
	const char **name = arena_alloc(most * sizeof *name);
	Array *array = arena_alloc(most * sizeof *array);
	UOp **u = arena_alloc(most * sizeof *u);
	Map by = {0};

	for (size_t i = 0; i < s->b.n; i++)
		if (is_state(s->b.u[i])) {
			u[n++] = s->b.u[i];
			map_put(&by, PKEY(s->b.u[i]), buffer_get(&s->b, i));
		}
	for (size_t i = 0; i < s->states.n; i++) {
		u[n++] = s->states.at[i].buffer;
		map_put(&by, PKEY(s->states.at[i].buffer), &s->states.at[i].at);
	}
	qsort(u, n, sizeof *u, by_name);
	for (size_t i = 0; i < n; i++) {
		name[i] = buffer_name(u[i]);
		array[i] = *(Array *)map_get(&by, PKEY(u[i]));
	}
	map_free(&by);
	*names = name;
	*at = array;
	return n;
}

void session_states_put(Session *s)
{
	for (size_t i = 0; i < s->b.n; i++)
		if (is_state(s->b.u[i]))
			buffer_put(&s->b, i);
}

/* ---- deferred copies */

/* A copy of a state to an output can wait until the outputs are read, unless later steps write the
 * state or read the output. So training does not copy the weights in every call. */
void session_defer(Session *s)
{
	bool *used = arena_alloc(s->b.n + 1), *changed = arena_alloc(s->b.n + 1);

	for (size_t i = s->nsteps; i-- > s->first && !session_inspects(&s->o);) {
		Step *t = &s->step[i];
		uint64_t written = t->kind == STEP_COPY ? 1 : call_writes(t->node);
		t->deferred = t->kind == STEP_COPY && !used[t->slot[0]] && !changed[t->slot[1]] &&
			buffer_is(s->b.u[t->slot[0]], "output") && is_state(s->b.u[t->slot[1]]);
		for (size_t k = 0; k < t->nbuf; k++) {
			used[t->slot[k]] = true;
			changed[t->slot[k]] |= k >= 64 || written >> k & 1;
		}
	}
}

/* ---- results */

/* The numbers of the output BUFFERs, in the order of the output names. */
static const size_t *output_slots(Session *s)
{
	if (s->output)
		return s->output;
	size_t *slot = arena_alloc((s->nout + 1) * sizeof *slot);
	Map by = {0};

	for (size_t k = 0; k < s->b.n; k++)
		if (buffer_is(s->b.u[k], "output"))
			map_put(&by, PKEY(val_get(s->b.u[k]->arg, "name")),
				(void *)(uintptr_t)(k + 1));
	for (size_t i = 0; i < s->nout; i++) {
		slot[i] = (uintptr_t)map_get(&by, PKEY(val_str(s->names[i]))) - 1;
		if (slot[i] == (size_t)-1)
			die(MALFORMED, "output '%s' has no BUFFER", s->names[i]);
	}
	map_free(&by);
	s->output = slot;
	return slot;
}

size_t session_outputs(Session *s, const char *const **names, const Array **at)
{
	const size_t *slot = s->g->level > LV_GRAPH && !s->list ? output_slots(s) : NULL;

	for (size_t i = s->first; i < s->nsteps; i++)
		if (s->step[i].deferred)
			session_step(s, i);
	for (size_t i = 0; slot && i < s->nout; i++)
		s->out[i] = *buffer_get(&s->b, slot[i]);
	for (size_t i = 0; s->list && i < s->nout; i++)
		s->out[i] = list_output(s, s->names[i], &s->out[i]);
	*names = s->names;
	*at = s->out;
	return s->nout;
}
