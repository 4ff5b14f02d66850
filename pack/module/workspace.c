/* Where temporaries are. Each is alive from the first entry of the list that uses it to the last;
 * one that more than a segment of a loop uses, in all of the loop. Two that are exchanged are alive
 * together, and as large as each other.
 *
 * Where all sizes are numbers the plan is that of document/memplan.c. Else offsets are sums of
 * symbolic sizes: temporaries that are never alive together share a region of the workspace, the
 * largest first, and each region begins where the one before ends. On a GPU each region is memory
 * of its own, and none is a part of another. The last region is the first thread's scratch, behind
 * which those of other threads are. */
#include "module/module.h"
#include <stdlib.h>

typedef struct {
	size_t buffer;
	int first, last;        /* entries */
	int segment;            /* the only one that uses it, or -1 */
	int from, to;           /* the outermost loop that uses it, or -1 */
	UOp *room;
	int64_t most;           /* the greatest number of bytes */
} Life;
typedef struct {
	Function *f;
	VEC(Life) life;
	Map of;                 /* BUFFER → 1 + its life */
	NodeList pairs;         /* exchanged: two by two */
	int entry, segment;
	int depth;              /* of loops */
	VEC(size_t) looped;     /* lives that the outermost loop at hand uses */
} Plan;

static Life *life_of(Plan *p, UOp *u)
{
	size_t k = (size_t)(uintptr_t)map_get(&p->of, PKEY(u));

	if (k)
		return &p->life.at[k - 1];
	const Buffer *b = function_buffer(p->f, u);
	int64_t low, most;
	if (b->place != PLACE_TEMP)
		return NULL;
	ix_bounds(b->room, &low, &most);
	vec_push(&p->life, ((Life){
		.buffer = b - p->f->buffer.at,
		.first = p->entry, .last = p->entry, .segment = p->segment, .from = -1, .to = -1,
		.room = b->room, .most = most,
	}));
	map_put(&p->of, PKEY(u), (void *)(uintptr_t)p->life.n);
	return &p->life.at[p->life.n - 1];
}

static void touch(Plan *p, UOp *u, bool step)
{
	Life *l = u->op == OP_BUFFER ? life_of(p, u) : NULL;

	if (!l)
		return;
	l->last = p->entry;
	if (step || l->segment != p->segment)
		l->segment = -1;
	if (p->depth)
		vec_push(&p->looped, (size_t)(l - p->life.at));
}

static void go_through(Plan *p, const UOp *list);

static void go_step(Plan *p, const UOp *u)
{
	size_t from = p->looped.n;
	int begin = p->entry;

	p->segment++;
	p->depth += u->op == OP_LOOP;
	for (uint32_t k = 0; k < u->nsrc; k++)
		touch(p, u->src[k], true);
	for (uint32_t k = 0; k < u->nsrc; k++)
		if (u->src[k]->op == OP_REGION)
			go_through(p, u->src[k]);
	p->depth -= u->op == OP_LOOP;
	if (u->op == OP_LOOP && !p->depth) {
		/* conditions and the number of turns are read and written at its end too */
		p->entry++;
		for (size_t i = from; i < p->looped.n; i++) {
			Life *l = &p->life.at[p->looped.at[i]];
			if (l->from < 0)
				l->from = begin;
			l->to = p->entry;
		}
		p->looped.n = 0;
	}
	if (u->op == OP_SWAP && function_buffer(p->f, u->src[0])->place == PLACE_TEMP) {
		vec_push(&p->pairs, u->src[0]);
		vec_push(&p->pairs, u->src[1]);
	}
	p->segment++;
}

static void go_through(Plan *p, const UOp *list)
{
	for (uint32_t i = 0; i < list->nsrc; i++, p->entry++) {
		UOp *u = list->src[i];
		for (uint32_t k = 0; !list_step(u) && k < u->nsrc; k++)
			touch(p, u->src[k], false);
		if (list_step(u))
			go_step(p, u);
	}
	p->segment++;
}

/* Lifetimes over all turns of loops, and of pairs. */
static void widen(Plan *p)
{
	for (size_t i = 0; i < p->life.n; i++) {
		Life *l = &p->life.at[i];
		if (l->segment >= 0 || l->from < 0)
			continue;
		l->first = l->from < l->first ? l->from : l->first;
		l->last = l->to > l->last ? l->to : l->last;
	}
	for (bool again = true; again;) {
		again = false;
		for (size_t i = 0; i < p->pairs.n; i += 2) {
			Life *a = life_of(p, p->pairs.at[i]), *b = life_of(p, p->pairs.at[i + 1]);
			int first = a->first < b->first ? a->first : b->first;
			int last = a->last > b->last ? a->last : b->last;
			UOp *room = a->room == b->room ? a->room : ix_max(a->room, b->room);
			again |= a->room != room || b->room != room || a->first != first ||
				b->first != first || a->last != last || b->last != last;
			a->first = b->first = first;
			a->last = b->last = last;
			a->room = b->room = room;
			a->most = b->most = a->most > b->most ? a->most : b->most;
		}
	}
}

/* ---- offsets */

static UOp *rounded_up(UOp *bytes, int64_t align)
{
	UOp *n = ix_const(align);

	return ix_mul(ix_div(ix_add(bytes, ix_const(align - 1)), n), n);
}

static void region_new(Function *f, const Life *l, int64_t offset)
{
	vec_push(&f->region, ((Region){l->room, offset}));
	f->buffer.at[l->buffer].region = f->region.n - 1;
	f->buffer.at[l->buffer].room = l->room;
}

static bool all_numbers(const Plan *p)
{
	for (size_t i = 0; i < p->life.n; i++)
		if (!ix_is_const(p->life.at[i].room, &(int64_t){0}))
			return false;
	return true;
}

static void plan_numbers(Plan *p)
{
	Function *f = p->f;
	size_t n = p->life.n;
	int64_t *size = xcalloc(n + 1, sizeof *size), *at = xcalloc(n + 1, sizeof *at);
	int *first = xcalloc(n + 1, sizeof *first), *last = xcalloc(n + 1, sizeof *last);

	for (size_t i = 0; i < n; i++) {
		const Life *l = &p->life.at[i];
		bool keeps = f->buffer.at[l->buffer].keeps;
		size[i] = l->most;
		first[i] = keeps ? 0 : l->first;
		last[i] = keeps ? p->entry : l->last;
	}
	f->bytes = memory_plan(n, size, first, last, (int)f->align, at, &f->bound);
	f->fixed = true;
	for (size_t i = 0; i < n; i++)
		region_new(f, &p->life.at[i], at[i]);
	free(size);
	free(at);
	free(first);
	free(last);
}

static int by_size(const void *a, const void *b)
{
	const Life *x = a, *y = b;

	return x->most != y->most ? (x->most < y->most) - (x->most > y->most) :
		(x->buffer > y->buffer) - (x->buffer < y->buffer);
}

static void plan_symbolic(Plan *p)
{
	Function *f = p->f;
	VEC(size_t) in = {0};           /* region of each life before */

	qsort(p->life.at, p->life.n, sizeof *p->life.at, by_size);
	for (size_t i = 0; i < p->life.n; i++) {
		const Life *l = &p->life.at[i];
		bool keeps = f->buffer.at[l->buffer].keeps, is_free = false;
		size_t r = 0;
		for (; r < f->region.n && !keeps && !is_free; r += !is_free) {
			is_free = true;
			for (size_t k = 0; k < i && is_free; k++) {
				const Life *o = &p->life.at[k];
				is_free = in.at[k] != r ||
					(o->last < l->first || l->last < o->first);
				is_free &= in.at[k] != r || !f->buffer.at[o->buffer].keeps;
			}
		}
		if (!is_free) {
			region_new(f, l, -1);
			r = f->region.n - 1;
		} else {
			Region *at = &f->region.at[r];
			at->bytes = at->bytes == l->room ? at->bytes : ix_max(at->bytes, l->room);
			f->buffer.at[l->buffer].region = r;
			f->buffer.at[l->buffer].room = l->room;
		}
		vec_push(&in, r);
	}
	vec_free(&in);
}

/* A size that is a number must be one that memory could be set aside for; a sum of symbolic ones
 * must not overflow, whatever the caller's sizes are. */
static void check_sizes(const Plan *p)
{
	enum { MOST = 40, MOST_SYMBOLIC = 56 };         /* bits */

	for (size_t i = 0; i < p->life.n; i++) {
		const Life *l = &p->life.at[i];
		int bits = ix_is_const(l->room, &(int64_t){0}) ? MOST : MOST_SYMBOLIC;
		const UOp *u = p->f->buffer.at[l->buffer].u;
		if (l->most < 0 || l->most >> bits)
			die(UNSUPPORTED,
				"%s %s: its size has no bound that memory could be set aside for: "
				"give sizes smaller ones (--max NAME=N), or values (trace --set)",
				buffer_name(u), shape_text(u->shape));
	}
}

/* Whether temporaries of different types of C have some bytes of the workspace in turn. */
static bool has_types(const Plan *p)
{
	const Function *f = p->f;

	for (size_t i = 0; i < p->life.n; i++)
		for (size_t k = 0; k < i; k++) {
			const Life *x = &p->life.at[i], *y = &p->life.at[k];
			const Buffer *a = &f->buffer.at[x->buffer], *b = &f->buffer.at[y->buffer];
			const Region *r = &f->region.at[a->region], *s = &f->region.at[b->region];
			bool apart = r->offset < 0 ? r != s :
				r->offset + x->most <= s->offset ||
				s->offset + y->most <= r->offset;
			if (!apart && strcmp(type_name(a->u->dtype), type_name(b->u->dtype)))
				return true;
		}
	return false;
}

void workspace_plan(Function *f)
{
	Plan p = {.f = f};

	go_through(&p, f->g->sink);
	widen(&p);
	check_sizes(&p);
	if (!f->target && all_numbers(&p))
		plan_numbers(&p);
	else
		plan_symbolic(&p);
	f->retyped = f->scratch || has_types(&p);
	if (f->scratch) {
		vec_push(&f->region, ((Region){ix_const(f->scratch), f->fixed ? f->bytes : -1}));
		f->bytes += f->scratch;
		f->bound += f->scratch;
	}
	for (size_t i = 0; i < f->region.n; i++)
		f->region.at[i].bytes = rounded_up(f->region.at[i].bytes, f->align);
	vec_free(&p.life);
	map_free(&p.of);
	vec_free(&p.pairs);
	vec_free(&p.looped);
}
