/* Runs documents whose lists have steps besides calls and copies. The list is read once, into
 * entries that know their segments, sizes and shared buffers; a call goes through these. */
#include "document/document.h"
#include "session/list.h"
#include <stdlib.h>

typedef struct Entry Entry;
typedef struct Entries { Entry *at; size_t n; VEC(Shared *) stacks; } Entries;

/* A step of the list, or a segment. Which fields it has depends on the step. */
struct Entry {
	const UOp *u;           /* NULL: a segment */
	Part *part;
	Shared *a, *b;          /* what it writes and reads; of a LOOP: turns and limit */
	Shared *test, *next;    /* conditions, or NULL */
	int variable;           /* of a BIND or LOOP */
	UOp *min, *max;         /* of a BIND */
	Entries body, other;
	VEC(Shared *) over;     /* that nothing uses after it */
	Pace *pace;             /* of a LOOP */
};

_Noreturn void list_fault(const UOp *u, const char *why)
{
	const char *name = u->op == OP_BUFFER ? buffer_name(u) : "";
	die(MALFORMED, "node %u %s%s%s%s: %s", u->id, op_name(u->op), *name ? " (" : "", name,
		*name ? ")" : "", why);
}

int list_variable(const List *l, const Val *name)
{
	for (int i = 0; i < l->env.n; i++)
		if (val_is_str(name, l->names[i]))
			return i;
	return -1;
}

/* ---- scalars and sizes */

static int64_t scalar_i64(List *l, const UOp *u, Shared *h)
{
	int64_t v;
	shared_read(l, u, h);
	if (h->a.dtype != DT_I64 || h->a.bytes != sizeof v)
		list_fault(u, "it is not an i64 scalar");
	shared_get(l, h, &v, sizeof v);
	return v;
}

static bool scalar_bool(List *l, const UOp *u, Shared *h)
{
	uint8_t v;
	shared_read(l, u, h);
	if (h->a.dtype != DT_BOOL || h->a.bytes != 1)
		list_fault(u, "it is not a bool scalar");
	shared_get(l, h, &v, 1);
	return v != 0;
}

static void size_set(List *l, int variable, int64_t v)
{
	l->env.name[variable] = l->names[variable];
	l->env.value[variable] = v;
}

static int64_t size_value(const List *l, const UOp *u, UOp *size)
{
	int64_t v;
	if (!ix_eval(size, &l->env, &v))
		list_fault(u, "a size has no value");
	return v;
}

static void run_bind(List *l, const Entry *e)
{
	int64_t n = scalar_i64(l, e->u->src[0], e->b), min = size_value(l, e->u, e->min),
		max = size_value(l, e->u, e->max);
	if (n < min || n > max)
		list_fault(e->u, arena_printf("size %s = %lld is not in [%lld, %lld]",
			e->u->arg->a[0]->s, (long long)n, (long long)min, (long long)max));
	size_set(l, e->variable, n);
}

/* ---- steps */

static void run_entries(List *l, const Entries *list);

static void run_swap(const Entry *e)
{
	Shared a = *e->a, b = *e->b;
	*e->a = b;
	*e->b = a;
	e->a->buffer = a.buffer;
	e->b->buffer = b.buffer;
}

/* Wakes threads for the turns to come: as many as the limit leaves, or without one as many as there
 * have been, each with the work of the last. */
static void turn_done(const Entry *e, int64_t work, int64_t turns)
{
	int64_t ahead;
	if (work && pace_turn(e->pace) &&
		(!mul_ok(work, turns, &ahead) || pool_worth_waking(ahead)))
		pool_wake();
}

static void run_loop(List *l, const Entry *e)
{
	const UOp *u = e->u;
	int64_t limit = e->b ? scalar_i64(l, u->src[0], e->b) : INT64_MAX, n = 0;
	const UOp *const next = e->next ? u->src[u->nsrc - 3] : NULL;
	bool more = !e->test || scalar_bool(l, u->src[e->b != NULL], e->test);
	for (size_t i = 0; i < e->body.stacks.n; i++)
		e->body.stacks.at[i]->full = false;
	vec_push(&l->turn, 0);
	bool outside = pace_begin(e->pace);
	for (; more && n < limit; n++) {
		int64_t shareable = l->shareable;
		if (n > INT32_MAX)
			die(UNSUPPORTED, "node %u LOOP: more than %d turns", u->id, INT32_MAX);
		l->turn.at[l->turn.n - 1] = n;
		size_set(l, e->variable, n);
		run_entries(l, &e->body);
		more = !e->test || scalar_bool(l, next, e->next);
		turn_done(e, l->shareable - shareable, e->b ? limit - n - 1 : n);
	}
	pace_end(e->pace, outside);
	l->turn.n--;
	for (size_t i = 0; i < e->body.stacks.n; i++)
		stack_end(l, e->body.stacks.at[i]);
	shared_set(l, e->a, &(Array){.dtype = DT_I64, .data = &n, .bytes = sizeof n});
}

static void run_entry(List *l, const Entry *e)
{
	const UOp *u = e->u;
	if (!u) {
		part_run(l, e->part);
		return;
	}
	switch (u->op) {
	case OP_BIND: run_bind(l, e); break;
	case OP_LOOP: run_loop(l, e); break;
	case OP_IF:
		run_entries(l, scalar_bool(l, u->src[0], e->test) ? &e->body : &e->other);
		break;
	case OP_SWAP: run_swap(e); break;
	case OP_APPEND: stack_push(l, u, e->a, shared_read(l, u->src[1], e->b)); break;
	case OP_TAKE:
		shared_read(l, u->src[1], e->b);
		if (e->a != e->b)
			shared_copy(l, e->a, e->b);
		break;
	default: break;
	}
}

static void run_entries(List *l, const Entries *list)
{
	for (size_t i = 0; i < list->n; i++) {
		const Entry *e = &list->at[i];
		run_entry(l, e);
		for (size_t k = 0; k < e->over.n; k++)
			shared_drop(l, e->over.at[k]);
	}
}

/* ---- reading the list */

/* A list within others, and its entry that is being read. */
typedef struct Scope { const struct Scope *outer; int depth; Entries *list; size_t at; } Scope;

/* part: the next segment */
typedef struct { List *l; Scope *scope; size_t part; } Reader;

/* An entry uses a buffer. Its scope is the innermost list that has all its uses. */
static Shared *used(Reader *r, const UOp *u, bool writes)
{
	Shared *h = shared_of(r->l, u);
	const Scope *a = h->scope, *b = r->scope;
	if (!a) {
		a = b;
		h->first = writes ? b : NULL;
	}
	while (a != b)
		if (a->depth > b->depth)
			a = a->outer;
		else if (b->depth > a->depth)
			b = b->outer;
		else
			a = a->outer, b = b->outer;
	h->scope = a;
	h->last = a->at;
	return h;
}

static UOp *size_read(const UOp *u, const Val *v)
{
	const char *err = NULL;
	UOp *size = size_from_val(v, &err);
	if (!size)
		list_fault(u, err ? err : "no size");
	return size;
}

static void read_entries(Reader *r, const UOp *list, Entries *to);

static void read_loop(Reader *r, Entry *e, const UOp *u)
{
	UOp *const *src = u->src;
	e->variable = list_variable(r->l, val_get(u->arg, "turn"));
	e->pace = arena_alloc(sizeof *e->pace);
	e->b = val_get(u->arg, "limit")->b ? used(r, *src++, false) : NULL;
	if (val_get(u->arg, "while")->b) {
		e->test = used(r, src[0], false);
		e->next = used(r, src[1], false);
	}
	e->a = used(r, u->src[u->nsrc - 2], true);
	read_entries(r, u->src[u->nsrc - 1], &e->body);
}

static void read_step(Reader *r, Entry *e, const UOp *u)
{
	e->u = u;
	if (u->op == OP_LOOP) {
		read_loop(r, e, u);
	} else if (u->op == OP_IF) {
		e->test = used(r, u->src[0], false);
		read_entries(r, u->src[1], &e->body);
		read_entries(r, u->src[2], &e->other);
	} else if (u->op == OP_BIND) {
		e->b = used(r, u->src[0], false);
		e->variable = list_variable(r->l, u->arg->a[0]);
		e->min = size_read(u, u->arg->a[1]);
		e->max = size_read(u, u->arg->a[2]);
	} else {
		e->b = used(r, u->src[1], false);
		e->a = used(r, u->src[0], u->op == OP_TAKE);
	}
}

/* The next of the segments, which segments_map has made in this order. */
static void read_segment(Reader *r, Entry *e)
{
	e->part = r->l->all.at[r->part++];
	Nodes all = walk(e->part->g->sink);
	for (size_t i = 0; i < all.n; i++)
		if (all.at[i]->op == OP_BUFFER && !buffer_is(all.at[i], "temp") &&
			!buffer_is(all.at[i], "const") && !buffer_is(all.at[i], "prepared"))
			used(r, all.at[i], buffer_is(all.at[i], "output"));
}

static void read_entries(Reader *r, const UOp *list, Entries *to)
{
	bool begun = false;
	Scope *outer = r->scope, *scope = arena_alloc(sizeof *scope);
	*scope = (Scope){outer, outer ? outer->depth + 1 : 0, to};
	r->scope = scope;
	to->at = xcalloc(list->nsrc + 1, sizeof *to->at);
	for (uint32_t i = 0; i < list->nsrc; i++) {
		const UOp *u = list->src[i];
		bool step = list_step(u);
		if (!step && begun)
			continue;
		begun = !step;
		scope->at = to->n;
		Entry *e = &to->at[to->n++];
		if (step)
			read_step(r, e, u);
		else
			read_segment(r, e);
		if (u->op == OP_APPEND)
			vec_push(&to->stacks, e->a);
	}
	r->scope = outer;
}

static void entries_free(Entries *list)
{
	for (size_t i = 0; i < list->n; i++) {
		entries_free(&list->at[i].body);
		entries_free(&list->at[i].other);
		vec_free(&list->at[i].over);
	}
	vec_free(&list->stacks);
	free(list->at);
}

/* ---- opening, calling, closing */

static void add_variable(List *l, const char *name)
{
	if (l->env.n == SIZES_MOST)
		die(UNSUPPORTED, "more than %d sizes", SIZES_MOST);
	l->names[l->env.n++] = name;
}

static void find_names(List *l, const Graph *g)
{
	Nodes all = walk(g->sink);
	const VarEnv *env = &l->s->in->env;
	for (int i = 0; i < env->n; i++)
		add_variable(l, env->name[i]);
	for (size_t i = 0; i < all.n; i++) {
		UOp *u = all.at[i];
		const Val *bound = u->op == OP_LOOP ? val_get(u->arg, "turn") :
			u->op == OP_BIND ? u->arg->a[0] : NULL;
		if (bound && list_variable(l, bound) < 0)
			add_variable(l, bound->s);
		if (u->op == OP_LOOP)
			map_put(&l->turns, PKEY(bound), u);
		if (u->op == OP_BUFFER && buffer_is(u, "temp"))
			map_put(&l->temps, PKEY(val_get(u->arg, "name")), u);
	}
}

/* The list's own buffers are dropped after their last use; in a region only those that each turn
 * writes first. */
static void find_last(List *l)
{
	for (size_t i = 0; i < l->shared.cap; i++) {
		Shared *h = l->shared.val[i];
		if (h && !h->given && !h->output && (!h->scope->outer || h->first == h->scope))
			vec_push(&h->scope->list->at[h->last].over, h);
	}
}

void list_open(Session *s)
{
	List *l = xcalloc(1, sizeof *l);
	Reader r = {.l = l};
	s->list = l;
	l->s = s;
	l->exec = s->loaded->exec;
	l->top = xcalloc(1, sizeof *l->top);
	states_open(s->g, s->in, &s->states);
	find_names(l, s->g);
	segments_map(s->g, part_add, l);
	read_entries(&r, s->g->sink, l->top);
	CHECK(r.part == l->all.n);
	find_last(l);
}

void list_call(Session *s)
{
	List *l = s->list;
	const VarEnv *env = &s->in->env;
	for (int i = 0; i < l->env.n; i++) {
		l->env.name[i] = i < env->n ? l->names[i] : "";
		l->env.value[i] = i < env->n ? env->value[i] : 0;
	}
	shared_begin(l);
	run_entries(l, l->top);
	shared_end(l);
	l->exec->sync();
}

Array list_output(const Session *s, const char *name, Array *old)
{
	List *l = s->list;
	for (size_t i = 0; i < l->shared.cap; i++) {
		const Shared *h = l->shared.val[i];
		if (!h || !h->full || !h->output || strcmp(buffer_name(h->buffer), name))
			continue;
		bool known = true;
		for (int d = 0; d < h->a.rank; d++)
			known &= h->a.dim[d] != ANY;
		if (!known)
			break;
		array_free(old);
		Array a = l->exec->host ? h->a : array_raw(h->a.dtype, h->a.rank, h->a.dim);
		if (l->exec->host)
			a.data = h->mem;
		else
			shared_get(l, h, a.data, a.bytes);
		return a;
	}
	die(MALFORMED, "output '%s' is not written", name);
}

const char *list_turn(const List *l)
{
	const char *text = "";
	for (size_t i = 0; i < l->turn.n; i++)
		text = arena_printf("%s%s%lld", text, i ? "," : "", (long long)l->turn.at[i]);
	return text;
}

Session *list_session(const List *l, size_t i)
{
	for (size_t k = 0; k < l->all.n; k++)
		if (l->all.at[k]->s && !i--)
			return l->all.at[k]->s;
	return NULL;
}

MemoryUse list_memory(const List *l)
{
	MemoryUse u = {.plan = (double)l->most};
	const Session *part;
	for (size_t i = 0; (part = list_session(l, i)); i++)
		u.weights += memory_use(part->g, &part->b).weights;
	for (size_t i = 0; i < l->s->in->n; i++)
		u.given += (double)l->s->in->at[i].bytes;
	for (size_t i = 0; i < l->s->states.n; i++)
		u.states += (double)l->s->states.at[i].at.bytes;
	for (size_t i = 0; i < l->shared.cap; i++) {
		const Shared *h = l->shared.val[i];
		if (!h || !h->output)
			continue;
		u.given += (double)h->a.bytes;
		u.plan -= (double)h->room;
	}
	return u;
}

void list_close(Session *s)
{
	List *l = s->list;
	for (size_t i = 0; i < l->all.n; i++)
		part_close(l, l->all.at[i]);
	list_release(l, l->workspace, l->room);
	shared_free(l);
	entries_free(l->top);
	free(l->top);
	map_free(&l->turns);
	map_free(&l->temps);
	vec_free(&l->all);
	vec_free(&l->turn);
	free(l);
}
