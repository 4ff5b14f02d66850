/* Runs documents whose lists have steps besides calls and copies. Each segment between two steps is
 * a session of its own, opened when it is first reached; its memory is made to fit when a size has
 * changed. What segments and steps share is in a table by name, in memory for the sizes that it
 * really has. */
#include "document/document.h"
#include "prove/prove.h"
#include "session/steps.h"
#include <stdlib.h>

/* A size of what has no elements, as no turn has said it. */
enum { ANY = -1 };

/* A buffer that several segments or steps use. full: it has been written. */
typedef struct { Array a; size_t room; bool full; } Shared;

typedef struct {
	Graph *g;
	Session *s;             /* NULL: not opened yet */
	Inputs in;
	NodeList sizes;         /* the variables that it mentions, but turns */
	int64_t *opened;        /* their values when it was opened */
	Buf where;
} Part;

struct List {
	Map shared;             /* key_of() a buffer → Shared */
	Map temps;              /* name → BUFFER of the temporaries */
	Map parts;              /* first CALL or MEMCPY of a segment, as g has it → Part */
	VEC(Part *) all;
	VarEnv env;
	Map turns;              /* names of the turns' variables */
};

static _Noreturn void fault(const UOp *u, const char *why)
{
	const char *name = u->op == OP_BUFFER ? buffer_name(u) : "";
	die(MALFORMED, "node %u %s%s%s%s: %s", u->id, op_name(u->op), *name ? " (" : "", name,
		*name ? ")" : "", why);
}

static const char *sizes_text(const Array *a)
{
	Buf b = {0};
	for (int i = 0; i < a->rank; i++)
		buf_printf(&b, "%s%lld", i ? "," : "", (long long)a->dim[i]);
	const char *s = arena_printf("[%s]", buf_str(&b));
	buf_free(&b);
	return s;
}

/* ---- the table */

/* An output may have the name of an input or constant. */
static Shared *shared_named(List *l, const Val *name, bool output)
{
	uint64_t key = PKEY(name) * 2 + output;
	Shared *h = map_get(&l->shared, key);
	if (!h) {
		h = xcalloc(1, sizeof *h);
		map_put(&l->shared, key, h);
	}
	return h;
}

static Shared *shared_of(List *l, const UOp *buffer)
{
	return shared_named(l, val_get(buffer->arg, "name"), buffer_is(buffer, "output"));
}

/* Room for an array of these sizes; what is there stays. */
static void shared_fit(Shared *h, const Array *a)
{
	void *old = h->a.data;
	if (!old || h->room < a->bytes) {
		size_t room = a->bytes + (old ? a->bytes / 2 : 0) + 64;
		h->a.data = xaligned(64, (room + 63) / 64 * 64);
		if (old && h->a.bytes)
			memcpy(h->a.data, old, h->a.bytes < room ? h->a.bytes : room);
		free(old);
		h->room = room;
	}
	void *data = h->a.data;
	h->a = *a;
	h->a.data = data;
	h->a.owned = false;
	h->full = true;
}

static void shared_set(Shared *h, const Array *from)
{
	shared_fit(h, from);
	if (from->bytes)
		memcpy(h->a.data, from->data, from->bytes);
}

/* The state of that name, or NULL. */
static const Array *state_of(const Session *s, const UOp *u)
{
	for (size_t i = 0; i < s->states.n; i++)
		if (!strcmp(buffer_name(s->states.at[i].buffer), buffer_name(u)))
			return &s->states.at[i].at;
	return NULL;
}

/* What a buffer holds: given by the user or the document, or written. A segment has what it reads
 * as inputs. */
static Array content_of(Session *s, const UOp *u)
{
	const Array *given = buffer_is(u, "input") ? input_of(s->in, u) : NULL;
	if (!given && (buffer_is(u, "input") || buffer_is(u, "state")))
		given = state_of(s, u);
	if (given)
		return *given;
	Shared *h = shared_of(s->list, u);
	if (!h->full && buffer_is(u, "const")) {
		Array a = buffer_content(u, &s->list->env);
		shared_set(h, &a);
		array_free(&a);
	}
	if (!h->full)
		fault(u, "nothing has been written to it");
	return h->a;
}

static int64_t scalar_i64(Session *s, const UOp *u)
{
	Array a = content_of(s, u);
	int64_t v;
	if (a.dtype != DT_I64 || a.bytes != sizeof v)
		fault(u, "it is not an i64 scalar");
	memcpy(&v, a.data, sizeof v);
	return v;
}

static bool scalar_bool(Session *s, const UOp *u)
{
	Array a = content_of(s, u);
	if (a.dtype != DT_BOOL || a.bytes != 1)
		fault(u, "it is not a bool scalar");
	return *(const uint8_t *)a.data != 0;
}

/* ---- sizes */

static void size_set(List *l, const char *name, int64_t v)
{
	int i = 0;
	while (i < l->env.n && strcmp(l->env.name[i], name))
		i++;
	if (i == SIZES_MOST)
		die(UNSUPPORTED, "more than %d sizes", SIZES_MOST);
	l->env.name[i] = name;
	l->env.value[i] = v;
	l->env.n += i == l->env.n;
}

static int64_t size_value(Session *s, const UOp *u, const Val *size)
{
	const char *err = NULL;
	int64_t v;
	UOp *x = size_from_val(size, &err);
	if (!x || !ix_eval(x, &s->list->env, &v))
		fault(u, "a size has no value");
	return v;
}

static void run_bind(Session *s, const UOp *u)
{
	int64_t n = scalar_i64(s, u->src[0]), min = size_value(s, u, u->arg->a[1]),
		max = size_value(s, u, u->arg->a[2]);
	if (n < min || n > max)
		fault(u, arena_printf("size %s = %lld is not in [%lld, %lld]", u->arg->a[0]->s,
			(long long)n, (long long)min, (long long)max));
	size_set(s->list, u->arg->a[0]->s, n);
}

/* ---- segments */

/* The variables that the segment's nodes and buffers mention. */
static void part_sizes(List *l, Part *p)
{
	NodeList roots = {0};
	Nodes all = walk(p->g->sink);
	for (size_t i = 0; i < all.n; i++)
		for (int d = 0; all.at[i]->shape && d < all.at[i]->shape->rank; d++)
			vec_push(&roots, all.at[i]->shape->dim[d]);
	vec_push(&roots, p->g->sink);
	all = walk_many(roots.n, roots.at);
	for (size_t i = 0; i < all.n; i++)
		if (all.at[i]->op == OP_VAR && !map_get(&l->turns, PKEY(all.at[i]->arg->a[0])))
			vec_push(&p->sizes, all.at[i]);
	p->opened = arena_alloc((p->sizes.n + 1) * sizeof *p->opened);
	vec_free(&roots);
}

static Graph *part_add(Graph *segment, void *ctx)
{
	List *l = ctx;
	Part *p = xcalloc(1, sizeof *p);
	Nodes all = walk(segment->sink);
	p->g = segment;
	for (size_t i = 0; i < all.n; i++)
		p->in.n += all.at[i]->op == OP_BUFFER && buffer_is(all.at[i], "input");
	p->in.buffer = arena_alloc((p->in.n + 1) * sizeof *p->in.buffer);
	p->in.at = arena_alloc((p->in.n + 1) * sizeof *p->in.at);
	p->in.fed = arena_alloc((p->in.n + 1) * sizeof *p->in.fed);
	for (size_t i = 0, k = 0; i < all.n; i++)
		if (all.at[i]->op == OP_BUFFER && buffer_is(all.at[i], "input")) {
			p->in.fed[k] = true;
			p->in.buffer[k++] = all.at[i];
		}
	part_sizes(l, p);
	vec_push(&l->all, p);
	return segment;
}

/* Whether a size has changed since it was opened. */
static bool part_changed(const List *l, Part *p)
{
	bool changed = !p->s;
	for (size_t i = 0; i < p->sizes.n; i++) {
		int64_t v;
		if (!ix_eval(p->sizes.at[i], &l->env, &v))
			die(MALFORMED, "size variable '%s' has no value",
				p->sizes.at[i]->arg->a[0]->s);
		changed |= v != p->opened[i];
		p->opened[i] = v;
	}
	return changed;
}

static bool fits(const Array *have, const Array *want)
{
	bool fits = have->rank == want->rank;
	for (int d = 0; fits && d < want->rank; d++)
		fits = have->dim[d] == want->dim[d] || have->dim[d] == ANY;
	return fits;
}

static void part_inputs(Session *s, Part *p)
{
	for (size_t i = 0; i < p->in.n; i++) {
		Array want, have = content_of(s, p->in.buffer[i]);
		buffer_array(p->in.buffer[i], &p->in.env, &want);
		if (!fits(&have, &want))
			fault(p->in.buffer[i], arena_printf("shape %s, needs %s",
				sizes_text(&have), shape_text(p->in.buffer[i]->shape)));
		memcpy(have.dim, want.dim, sizeof have.dim);
		p->in.at[i] = have;
	}
}

/* Opens it, or makes it fit the sizes. */
static void part_ready(Session *s, Part *p)
{
	bool changed = part_changed(s->list, p);
	p->in.env = s->list->env;
	part_inputs(s, p);
	checks_make(p->g, &p->in.env);
	if (changed) {
		limits_work(count_steps(p->g, &p->in.env));
		prove_sizes(p->g, &p->in.env);
	}
	if (!p->s)
		p->s = session_part(s, p->g, &p->in);
	else if (changed)
		session_resize(p->s);
	else
		session_turn(p->s);
}

/* Passes the states that it writes to it, or takes them back. */
static void part_states(const Session *s, Part *p, bool back)
{
	for (size_t i = 0; i < p->s->b.n; i++) {
		const UOp *u = p->s->b.u[i];
		const Array *whole = buffer_is(u, "state") ? state_of(s, u) : NULL;
		Array *own = whole ? buffer_get(&p->s->b, i) : NULL;
		if (whole && back)
			memcpy(whole->data, own->data, own->bytes);
		else if (whole)
			memcpy(own->data, whole->data, own->bytes);
		if (whole && !back)
			buffer_put(&p->s->b, i);
	}
}

static void run_part(Session *s, Part *p)
{
	const char *const *names;
	const Array *at;
	part_ready(s, p);
	part_states(s, p, false);
	for (size_t i = 0; i < p->in.n; i++)
		session_input(p->s, i, p->in.at[i].data);
	session_call(p->s);
	size_t n = session_outputs(p->s, &names, &at);
	for (size_t i = 0; i < n; i++) {
		const Val *name = val_str(names[i]);
		bool output = !map_get(&s->list->temps, PKEY(name));
		shared_set(shared_named(s->list, name, output), &at[i]);
	}
	part_states(s, p, true);
}

/* ---- steps */

static void run_list(Session *s, const UOp *list);

static void run_append(Session *s, const UOp *u)
{
	Shared *to = shared_of(s->list, u->src[0]);
	Array v = content_of(s, u->src[1]), grown = v;
	int64_t n = to->full ? to->a.dim[0] : 0;
	if (n && (to->a.rank != v.rank + 1 ||
		memcmp(to->a.dim + 1, v.dim, (size_t)v.rank * sizeof *v.dim)))
		fault(u, "the values of its turns differ in shape");
	grown.rank = v.rank + 1;
	grown.dim[0] = n + 1;
	memcpy(grown.dim + 1, v.dim, (size_t)v.rank * sizeof *v.dim);
	grown.bytes = v.bytes * (size_t)(n + 1);
	shared_fit(to, &grown);
	if (v.bytes)
		memcpy((char *)to->a.data + v.bytes * (size_t)n, v.data, v.bytes);
}

static void run_swap(Session *s, const UOp *u)
{
	Shared *a = shared_of(s->list, u->src[0]), *b = shared_of(s->list, u->src[1]), c = *a;
	*a = *b;
	*b = c;
}

/* The stacks of a LOOP are empty when it starts. */
static void stacks_begin(Session *s, const UOp *region)
{
	for (uint32_t i = 0; i < region->nsrc; i++)
		if (region->src[i]->op == OP_APPEND)
			shared_of(s->list, region->src[i]->src[0])->full = false;
}

static void stacks_end(Session *s, const UOp *region)
{
	for (uint32_t i = 0; i < region->nsrc; i++) {
		const UOp *u = region->src[i];
		const UOp *to = u->op == OP_APPEND ? u->src[0] : NULL;
		if (!to || shared_of(s->list, to)->full)
			continue;
		Array none = {.dtype = to->dtype, .rank = to->shape->rank};
		for (int d = 1; d < none.rank; d++)
			none.dim[d] = ANY;
		shared_fit(shared_of(s->list, to), &none);
	}
}

static void run_loop(Session *s, const UOp *u)
{
	bool limited = val_get(u->arg, "limit")->b, tested = val_get(u->arg, "while")->b;
	const char *turn = val_get(u->arg, "turn")->s;
	UOp *const *src = u->src;
	int64_t limit = limited ? scalar_i64(s, *src++) : INT64_MAX, n = 0;
	bool more = !tested || scalar_bool(s, src[0]);
	const UOp *next = tested ? src[1] : NULL, *region = u->src[u->nsrc - 1];
	stacks_begin(s, region);
	for (; more && n < limit; n++) {
		if (n > INT32_MAX)
			die(UNSUPPORTED, "node %u LOOP: more than %d turns", u->id, INT32_MAX);
		size_set(s->list, turn, n);
		run_list(s, region);
		more = !tested || scalar_bool(s, next);
	}
	stacks_end(s, region);
	shared_set(shared_of(s->list, u->src[u->nsrc - 2]),
		&(Array){.dtype = DT_I64, .data = &n, .bytes = sizeof n});
}

static void run_entry(Session *s, const UOp *u)
{
	Array a;
	switch (u->op) {
	case OP_BIND: run_bind(s, u); break;
	case OP_LOOP: run_loop(s, u); break;
	case OP_IF: run_list(s, u->src[scalar_bool(s, u->src[0]) ? 1 : 2]); break;
	case OP_SWAP: run_swap(s, u); break;
	case OP_APPEND: run_append(s, u); break;
	case OP_TAKE:
		a = content_of(s, u->src[1]);
		if (u->src[0] != u->src[1])
			shared_set(shared_of(s->list, u->src[0]), &a);
		break;
	default: break;
	}
}

static void run_list(Session *s, const UOp *list)
{
	bool begun = false;
	for (uint32_t i = 0; i < list->nsrc; i++) {
		const UOp *u = list->src[i];
		bool step = list_step(u);
		if (step)
			run_entry(s, u);
		else if (!begun)
			run_part(s, map_get(&s->list->parts, hash_mix(list->id, i) | 1));
		begun = !step;
	}
}

/* ---- opening and closing */

/* Puts the segments of a list, which segments_map has made in this order, where run_list finds
 * them. */
static void place_parts(List *l, const UOp *list, size_t *next)
{
	bool begun = false;
	for (uint32_t i = 0; i < list->nsrc; i++) {
		const UOp *u = list->src[i];
		bool step = list_step(u);
		for (uint32_t k = 0; step && k < u->nsrc; k++)
			if (u->src[k]->op == OP_REGION)
				place_parts(l, u->src[k], next);
		if (!step && !begun)
			map_put(&l->parts, hash_mix(list->id, i) | 1, l->all.at[(*next)++]);
		begun = !step;
	}
}

static void find_names(List *l, const Graph *g)
{
	Nodes all = walk(g->sink);
	for (size_t i = 0; i < all.n; i++) {
		UOp *u = all.at[i];
		if (u->op == OP_LOOP)
			map_put(&l->turns, PKEY(val_get(u->arg, "turn")), u);
		if (u->op == OP_BUFFER && buffer_is(u, "temp"))
			map_put(&l->temps, PKEY(val_get(u->arg, "name")), u);
	}
}

void list_open(Session *s)
{
	const SessionOptions *o = &s->o;
	List *l = xcalloc(1, sizeof *l);
	size_t next = 0;
	if (o->feeds || o->keep || o->dump || o->range || o->check_nan || o->profile ||
		o->interpret_only)
		die(UNSUPPORTED, "--feed, --keep, --dump, --check-range, --check-nan, --profile "
			"and --interpret-only are not supported with loops, branches and sizes "
			"that data gives");
	s->list = l;
	states_open(s->g, s->in, &s->states);
	find_names(l, s->g);
	segments_map(s->g, part_add, l);
	place_parts(l, s->g->sink, &next);
	CHECK(next == l->all.n);
}

void list_call(Session *s)
{
	List *l = s->list;
	l->env = s->in->env;
	for (size_t i = 0; i < l->shared.cap; i++)
		if (l->shared.val[i])
			((Shared *)l->shared.val[i])->full = false;
	run_list(s, s->g->sink);
}

Array list_output(const Session *s, const char *name)
{
	const Shared *h = shared_named(s->list, val_str(name), true);
	bool known = h->full;
	for (int d = 0; known && d < h->a.rank; d++)
		known = h->a.dim[d] != ANY;
	if (!known)
		die(MALFORMED, "output '%s' is not written", name);
	return h->a;
}

void list_close(Session *s)
{
	List *l = s->list;
	for (size_t i = 0; i < l->all.n; i++) {
		if (l->all.at[i]->s)
			session_close(l->all.at[i]->s);
		vec_free(&l->all.at[i]->sizes);
		free(l->all.at[i]);
	}
	for (size_t i = 0; i < l->shared.cap; i++)
		if (l->shared.val[i]) {
			free(((Shared *)l->shared.val[i])->a.data);
			free(l->shared.val[i]);
		}
	map_free(&l->shared);
	map_free(&l->parts);
	map_free(&l->turns);
	map_free(&l->temps);
	vec_free(&l->all);
	free(l);
}
