/* What comes out of constants alone is computed once: its temporaries become `prepared`, its
 * kernels go first.
 *
 *     t0[i] = sqrt(var[i] + eps)           BUFFER t0 {…, role: "temp"}   →   BUFFER t0 {…, role: "prepared"}
 *     y[n,i] = x[n,i] / t0[i]
 *
 * It happens before anything is merged, so that later passes see from a kernel's buffer whether it
 * runs once or at each call. A value that depends on a symbolic size is not constant, nor is one
 * that would take much more memory than what it is made of: that is better computed where it is
 * wanted. */
#include "fuse.h"
#include <stdlib.h>

enum { GROWTH = 8, ROOM = 16 << 20 };   /* bytes made from n bytes of constants: at most GROWTH * n + ROOM */

typedef VEC(UOp *) List;
/* origin: bytes of the constants that it is made of */
typedef struct { VEC(int) steps; double origin; int writers; bool refused; } Temp;
typedef struct { List writes, reads; bool refused; } Step;
typedef struct { Step *step; int n; Map temp; VEC(int) left; } Plan;

static Temp *temp_of(Plan *p, UOp *buffer)
{
	Temp *t = map_get(&p->temp, PKEY(buffer));
	if (!t) {
		t = arena_alloc(sizeof *t);
		map_put(&p->temp, PKEY(buffer), t);
	}
	return t;
}

static void refuse(Plan *p, int i)
{
	if (p->step[i].refused)
		return;
	p->step[i].refused = true;
	vec_push(&p->left, i);
}

/* ---- reading the kernels */

static void touch(Plan *p, int i, UOp *buffer, bool writes)
{
	bool temp = buffer_is(buffer, "temp");
	if (!temp && (writes || !buffer_is(buffer, "const")))
		refuse(p, i);
	if (writes)
		vec_push(&p->step[i].writes, buffer);
	else
		vec_push(&p->step[i].reads, buffer);
	if (!temp)
		return;
	Temp *t = temp_of(p, buffer);
	t->writers += writes;
	vec_push(&t->steps, i);
}

static void read_step(Plan *p, int i, UOp *u)
{
	Facts *f = step_facts(u);
	if (f->sized)
		refuse(p, i);
	for (uint32_t k = 0; k < f->nwritten; k++)
		touch(p, i, step_buffer(u, f->written[k]), true);
	for (uint32_t k = 0; k < f->nread; k++)
		touch(p, i, step_buffer(u, f->read[k]), false);
}

/* Steps come in order, so what a step reads has its origin. */
static void check_growth(Plan *p, int i)
{
	Step *s = &p->step[i];
	double from = 0;
	for (size_t k = 0; k < s->reads.n; k++)
		from += buffer_is(s->reads.at[k], "temp") ? temp_of(p, s->reads.at[k])->origin
			: buffer_bytes(s->reads.at[k]);
	for (size_t k = 0; k < s->writes.n; k++) {
		if (buffer_bytes(s->writes.at[k]) > GROWTH * from + ROOM)
			refuse(p, i);
		if (buffer_is(s->writes.at[k], "temp"))
			temp_of(p, s->writes.at[k])->origin += from;
	}
}

/* ---- what is not constant spreads */

static void refuse_temp(Plan *p, UOp *buffer)
{
	if (!buffer_is(buffer, "temp"))
		return;
	Temp *t = temp_of(p, buffer);
	for (size_t k = 0; !t->refused && k < t->steps.n; k++)
		refuse(p, t->steps.at[k]);
	t->refused = true;
}

static void spread(Plan *p)
{
	for (int i = 0; i < p->n; i++)
		for (size_t k = 0; k < p->step[i].reads.n; k++) {
			UOp *b = p->step[i].reads.at[k];
			if (buffer_is(b, "temp") && !temp_of(p, b)->writers)
				refuse(p, i);
		}
	while (p->left.n) {
		Step *s = &p->step[p->left.at[--p->left.n]];
		for (size_t k = 0; k < s->writes.n; k++)
			refuse_temp(p, s->writes.at[k]);
	}
}

/* ---- the pass */

static UOp *rename_temps(Plan *p, UOp *sink)
{
	List from = {0}, to = {0};
	Map seen = {0};
	for (int i = 0; i < p->n; i++)
		for (size_t k = 0; !p->step[i].refused && k < p->step[i].writes.n; k++) {
			UOp *b = p->step[i].writes.at[k];
			if (map_get(&seen, PKEY(b)))
				continue;
			map_put(&seen, PKEY(b), b);
			vec_push(&from, b);
			const Val *arg = val_set(b->arg, "role", val_str("prepared"));
			vec_push(&to, LEAF(OP_BUFFER, b->dtype, arg));
			node_note(to.at[to.n - 1], b->note);
		}
	UOp *r = from.n ? substitute(sink, from.n, from.at, to.at) : sink;
	map_free(&seen);
	vec_free(&from);
	vec_free(&to);
	return r;
}

Graph *prepare_constants(Graph *g)
{
	Plan p = {.n = g->sink->nsrc};
	List order = {0};
	p.step = xcalloc(p.n + 1, sizeof *p.step);
	for (int i = 0; i < p.n; i++)
		read_step(&p, i, g->sink->src[i]);
	for (int i = 0; i < p.n; i++)
		check_growth(&p, i);
	spread(&p);
	UOp *sink = rename_temps(&p, g->sink);
	for (int later = 0; later < 2; later++)
		for (int i = 0; i < p.n; i++)
			if (p.step[i].refused == later)
				vec_push(&order, sink->src[i]);
	g = with_steps(g, order.n, order.at);
	for (int i = 0; i < p.n; i++) {
		vec_free(&p.step[i].writes);
		vec_free(&p.step[i].reads);
	}
	for (size_t i = 0; i < p.temp.cap; i++)
		if (p.temp.val[i])
			vec_free(&((Temp *)p.temp.val[i])->steps);
	map_free(&p.temp);
	vec_free(&p.left);
	vec_free(&order);
	free(p.step);
	return g;
}
