/* What a kernel touches. At level schedule the STOREs' values and places are gone through, at level
 * loops one statement after another: an expression is evaluated where its statement stands, but for
 * the LETs in it, which are statements of their own.
 *
 *     LET a = x[i]; STORE y[j] = a + z[j]      reads x[i] (at the LET), z[j]; writes y[j]
 */
#include <stdlib.h>
#include "prove/accesses.h"
#include "shape/shape.h"

typedef struct {
	VEC(Access) found;
	VEC(UOp *) stack;
	TABLE(uint32_t) seen;
} Finder;

static void push(Finder *f, UOp *u)
{
	if (f->seen.at[u->id] == f->seen.round)
		return;
	f->seen.at[u->id] = f->seen.round;
	vec_push(&f->stack, u);
}

/* The LOADs that evaluating u performs. */
static void find_loads(Finder *f, UOp *u, uint32_t at)
{
	for (push(f, u); f->stack.n; ) {
		UOp *v = f->stack.at[--f->stack.n];
		if (v->op == OP_LOAD && v->src[0]->op == OP_INDEX)
			vec_push(&f->found, ((Access){.index = v->src[0],
				.gate = v->nsrc > 1 ? v->src[1] : NULL, .at = at}));
		if (v->op == OP_RSORT && v->src[2]->op == OP_INDEX)
			vec_push(&f->found,
				((Access){.index = v->src[2], .at = at, .store = true}));
		for (uint32_t i = 0; v->op != OP_LET && v->op != OP_RANGE && i < v->nsrc; i++)
			push(f, v->src[i]);
	}
}

static void find(Finder *f, UOp *statement, uint32_t at)
{
	table_round(&f->seen);
	if (statement->op == OP_LET || statement->op == OP_RANGE || statement->op == OP_IF)
		find_loads(f, statement->src[0], at);
	if (statement->op != OP_STORE)
		return;
	for (uint32_t i = 0; i < statement->nsrc; i++)
		find_loads(f, statement->src[i], at);
	if (statement->src[0]->op == OP_INDEX)
		vec_push(&f->found, ((Access){.index = statement->src[0],
			.gate = statement->nsrc > 2 ? statement->src[2] : NULL,
			.value = statement->src[1], .at = at, .store = true}));
}

Accesses kernel_accesses(UOp *kernel)
{
	static ARENA Map known;
	static ARENA Finder f;
	Accesses *a = map_get(&known, PKEY(kernel));
	if (a)
		return *a;
	f.found.n = 0;
	for (uint32_t i = 0; i < kernel->nsrc; i++)
		find(&f, kernel->src[i], i);
	Access *copy = arena_alloc((f.found.n + 1) * sizeof *copy);
	if (f.found.n)
		memcpy(copy, f.found.at, f.found.n * sizeof *copy);
	a = arena_alloc(sizeof *a);
	*a = (Accesses){copy, f.found.n};
	map_put(&known, PKEY(kernel), a);
	return *a;
}

bool proved_before(const ProvedCall *c, const char *check)
{
	static ARENA Map asked;
	uint64_t key = hash_mix(PKEY(c->kernel), PKEY(check));
	if (call_aliases(c->call))
		return false;
	for (uint32_t i = 1; i < c->call->nsrc; i++)
		key = hash_mix(key, buffer_is(c->call->src[i], "prepared"));
	bool before = map_get(&asked, key);
	map_put(&asked, key, c->kernel);
	return before;
}

Nodes lets_in(UOp *statement)
{
	static ARENA Finder f;
	static ARENA VEC(UOp *) lets;
	lets.n = 0;
	table_round(&f.seen);
	for (uint32_t i = 0; i < statement->nsrc; i++)
		push(&f, statement->src[i]);
	while (f.stack.n) {
		UOp *v = f.stack.at[--f.stack.n];
		if (v->op == OP_LET)
			vec_push(&lets, v);
		for (uint32_t i = 0; v->op != OP_LET && v->op != OP_RANGE && i < v->nsrc; i++)
			push(&f, v->src[i]);
	}
	return (Nodes){lets.at, lets.n};
}

const UOp *access_buffer(const UOp *call, const Access *a)
{
	const UOp *m = memory_of(a);
	if (m->op != OP_PARAM)
		return NULL;
	int64_t slot = param_slot(m);
	return slot < (int64_t)call->nsrc - 1 ? call->src[1 + slot] : NULL;
}

/* Under some conditions: what was opened, and the LETs that stay. */
typedef struct { UOp *const *cond; Map done, kept; int depth; } Opening;

/* What u is under n conditions. */
typedef struct { UOp *u, *to, *const *cond; size_t n; } Opened;

enum { MOST_DEPTH = 1000 };

bool is_only_item(const UOp *u)
{
	return u->op == OP_SPECIAL && u->src[0] == ix_const(1);
}

static UOp *open_node(Opening *o, UOp *u);

static UOp *opened(Opening *o, UOp *u)
{
	const UOp *s = u->op == OP_LET ? u->src[0] : u;
	bool index = op_info[s->op].index && s->nsrc == 2;
	if (u->dtype != DT_I64 || o->depth > MOST_DEPTH)
		return u;
	if (is_only_item(u))
		return ix_const(0);
	if (u->op == OP_LET && (index || s->op == OP_CONST || s->op == OP_SPECIAL))
		return map_get(&o->kept, PKEY(u)) ? u : open_node(o, u->src[0]);
	return u->op != OP_LET && index ?
		ix_remake(u, (UOp *[]){open_node(o, u->src[0]), open_node(o, u->src[1])}) : u;
}

static UOp *open_node(Opening *o, UOp *u)
{
	UOp *r = map_get(&o->done, PKEY(u));
	if (r)
		return r;
	o->depth++;
	r = opened(o, u);
	o->depth--;
	map_put(&o->done, PKEY(u), r);
	return r;
}

static void open_under(Opening *o, size_t n, UOp *const *cond)
{
	map_free(&o->done);
	map_free(&o->kept);
	o->cond = cond;
	Nodes all = walk_many(n, cond);
	for (size_t i = 0; i < all.n; i++)
		if (all.at[i]->op == OP_LET)
			map_put(&o->kept, PKEY(all.at[i]), all.at[i]);
}

UOp *index_open(UOp *u, size_t n, UOp *const *cond)
{
	static ARENA Opening last[2];
	static ARENA Map known;
	Opening *o = &last[n > 0];
	uint64_t key = hash_mix(PKEY(n ? cond : NULL), PKEY(u));
	Opened *before = map_get(&known, key);
	if (before && before->u == u && before->cond == (n ? cond : NULL) && before->n == n)
		return before->to;
	if (n && o->cond != cond)
		open_under(o, n, cond);
	before = arena_alloc(sizeof *before);
	*before = (Opened){u, open_node(o, u), n ? cond : NULL, n};
	map_put(&known, key, before);
	return before->to;
}

static const char *leaf_name(UOp *u, void *ctx)
{
	(void)ctx;
	int64_t v;
	if (ix_is_const(u, &v))
		return arena_printf("%lld", (long long)v);
	if (u->op == OP_VAR)
		return u->arg->a[0]->s;
	if (u->op == OP_SPECIAL)
		return u->arg->s;
	if (u->op == OP_RANGE)
		return arena_printf("r%d", range_axis(u));
	return arena_printf("%%%u", u->id);
}

const char *index_text(UOp *u)
{
	Buf b = {0};
	ix_print(&b, u, leaf_name, NULL);
	const char *text = arena_strdup(buf_str(&b));
	buf_free(&b);
	return text;
}
