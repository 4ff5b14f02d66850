/* The segments of a list. Each is a session of its own, opened when it is first reached, whose
 * inputs, outputs and states are entries of the list's table where they are; its temporaries are in
 * memory that all segments have in common. */
#include "document/document.h"
#include "prove/prove.h"
#include "session/list.h"
#include <stdlib.h>

static const char *sizes_text(const Array *a)
{
	Buf b = {0};
	for (int i = 0; i < a->rank; i++)
		buf_printf(&b, "%s%lld", i ? "," : "", (long long)a->dim[i]);
	const char *s = arena_printf("[%s]", buf_str(&b));
	buf_free(&b);
	return s;
}

/* ---- sizes */

static void add_sizes(List *l, Part *p, const NodeList *roots, bool needed)
{
	Nodes all = walk_many(roots->n, roots->at);
	for (size_t i = 0; i < all.n; i++) {
		if (all.at[i]->op != OP_VAR)
			continue;
		const Val *name = all.at[i]->arg->a[0];
		int k = list_variable(l, name);
		if (map_get(&l->turns, PKEY(name)))
			p->turns = true;
		else if (k >= 0 && (needed || *l->env.name[k]))
			vec_push(&p->sizes, k);
		else if (needed)
			die(MALFORMED, "size variable '%s' has no value", name->s);
	}
}

/* The variables that the segment's nodes, buffers and conditions mention. */
static void part_sizes(List *l, Part *p)
{
	NodeList roots = {0};
	const Val *rows = val_get(p->g->meta, "checks");
	Nodes all = walk(p->g->sink);
	vec_push(&roots, p->g->sink);
	for (size_t i = 0; i < all.n; i++)
		for (int d = 0; all.at[i]->shape && d < all.at[i]->shape->rank; d++)
			vec_push(&roots, all.at[i]->shape->dim[d]);
	add_sizes(l, p, &roots, true);
	roots.n = 0;
	for (size_t i = 0; rows && rows->kind == VAL_ARRAY && i < rows->n; i++)
		for (size_t k = 1; rows->a[i]->kind == VAL_ARRAY && k < rows->a[i]->n; k++) {
			const char *err = NULL;
			UOp *u = size_from_val(rows->a[i]->a[k], &err);
			if (u)
				vec_push(&roots, u);
		}
	add_sizes(l, p, &roots, false);
	p->opened = arena_alloc((p->sizes.n + 1) * sizeof *p->opened);
	vec_free(&roots);
}

/* Whether a size has changed since it was opened. */
static bool part_changed(List *l, Part *p)
{
	bool changed = !p->s;
	VarEnv *env = &p->in.env;
	if (!p->s)
		part_sizes(l, p);
	for (size_t i = 0; i < p->sizes.n; i++) {
		int k = p->sizes.at[i];
		if (!*l->env.name[k])
			die(MALFORMED, "size variable '%s' has no value", l->names[k]);
		changed |= l->env.value[k] != p->opened[i];
		p->opened[i] = l->env.value[k];
	}
	env->n = l->env.n;
	memcpy(env->value, l->env.value, (size_t)l->env.n * sizeof *env->value);
	memcpy(env->name, l->env.name, (size_t)l->env.n * sizeof *env->name);
	return changed;
}

/* ---- opening */

Graph *part_add(Graph *segment, void *list)
{
	List *l = list;
	Part *p = xcalloc(1, sizeof *p), *before = l->all.n ? l->all.at[l->all.n - 1] : NULL;
	p->g = segment;
	if (before) {
		p->first = before->first + before->g->sink->nsrc;
		p->number = before->number;
		for (uint32_t i = 0; i < before->g->sink->nsrc; i++)
			p->number += before->g->sink->src[i]->op == OP_CALL;
	}
	vec_push(&l->all, p);
	return segment;
}

static bool is_shared(const UOp *u)
{
	return buffer_is(u, "input") || buffer_is(u, "output") || buffer_is(u, "state");
}

static void part_places(List *l, Part *p)
{
	Session *s = p->s;
	size_t *of = xcalloc(s->b.n + 1, sizeof *of);
	for (size_t i = 0; i < s->b.n; i++)
		if (is_shared(s->b.u[i])) {
			vec_push(&p->places, ((Place){i, shared_of(l, s->b.u[i])}));
			of[i] = p->places.n;
		}
	for (size_t i = s->first; i < s->nsteps; i++)
		for (size_t k = 0; k < s->step[i].nbuf; k++)
			if (of[s->step[i].slot[k]])
				vec_push(&p->places.at[of[s->step[i].slot[k]] - 1].at,
					&s->step[i].mem[k]);
	free(of);
}

/* Opens it, or makes it fit the sizes. */
static void part_fit(List *l, Part *p)
{
	checks_make(p->g, &p->in.env);
	limits_work(count_steps(p->g, &p->in.env));
	prove_sizes(p->g, &p->in.env);
	if (p->s) {
		session_resize(p->s);
	} else {
		p->s = session_part(l->s, p->g, &p->in, p->number, p->first);
		part_places(l, p);
	}
	p->workspace = NULL;
}

/* ---- running */

static void place_temps(List *l, Part *p)
{
	if (p->s->b.plan > l->room || !l->workspace) {
		list_release(l, l->workspace, l->room);
		l->room = p->s->b.plan;
		l->workspace = list_alloc(l, l->room);
	}
	p->workspace = l->workspace;
	session_workspace(p->s, p->workspace);
}

static bool fits(const Array *have, const Array *want)
{
	bool fits = have->rank == want->rank;
	for (int d = 0; fits && d < want->rank; d++)
		fits = have->dim[d] == want->dim[d] || have->dim[d] == ANY;
	return fits;
}

static void place_buffer(List *l, Part *p, Place *at)
{
	Session *s = p->s;
	const UOp *u = s->b.u[at->slot];
	Array *a = &s->b.host[at->slot];
	Shared *h = at->shared;
	if (buffer_is(u, "output")) {
		if (!h->full || h->room < a->bytes || !fits(&h->a, a))
			shared_fit(l, h, a);
	} else if (!fits(&shared_read(l, u, h)->a, a)) {
		list_fault(u, arena_printf("shape %s, needs %s", sizes_text(&h->a),
			shape_text(u->shape)));
	}
	if (h->mem == at->mem)
		return;
	at->mem = s->b.mem[at->slot] = h->mem;
	if (l->exec->host)
		a->data = h->mem;
	for (size_t i = 0; i < at->at.n; i++)
		*at->at.at[i] = h->mem;
}

void part_run(List *l, Part *p)
{
	if (part_changed(l, p)) {
		part_fit(l, p);
	} else if (p->turns) {
		if (!checks_hold(p->g, &p->in.env))
			checks_make(p->g, &p->in.env);
		session_turn(p->s);
	}
	if (!p->workspace || p->workspace != l->workspace)
		place_temps(l, p);
	for (size_t i = 0; i < p->places.n; i++)
		place_buffer(l, p, &p->places.at[i]);
	for (size_t i = p->s->first; i < p->s->nsteps; i++)
		session_step(p->s, i);
	l->shareable += p->s->shareable;
}

void part_close(List *l, Part *p)
{
	for (size_t i = 0; i < p->places.n; i++)
		vec_free(&p->places.at[i].at);
	vec_free(&p->places);
	vec_free(&p->sizes);
	if (p->s)
		session_part_close(p->s);
	free(p);
}
