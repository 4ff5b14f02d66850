/* The nodes that run in a loop's turn, or in one branch of a condition, and copies of them with
 * loops and bound sizes of their own.
 *
 *     %3 CARRY [0, 0] %4 MUL %3 w %5 LOOP …     body: %4; its copy for h: MUL h w
 *
 * Equal nodes are one node, so the copy has to read something else than the original: what a copied
 * body reads for TURN and CARRY, and for a branch all values from outside, selected by the
 * condition. Otherwise both would be computed where the original's and the copy's users both see
 * them: outside of the branch. */
#include "primitives/primitives.h"
#include "derive/derive.h"
#include <stdlib.h>

static int64_t loop_of(const UOp *u)
{
	return u->op == OP_TURN ? u->arg->i : u->op == OP_CARRY ? u->arg->a[0]->i :
		u->op == OP_LOOP ? val_get(u->arg, "id")->i : -1;
}

static Map bound_sizes(void)
{
	Map binds = {0};

	binds_of(steps_made()->binds.n, steps_made()->binds.at, &binds);
	return binds;
}

/* Whether u has a marked source, or mentions a marked BIND. */
static bool any_read(const UOp *u, const Map *binds, const uint8_t *of)
{
	NodeList named = {0};
	bool any = false;

	for (uint32_t k = 0; k < u->nsrc && !any; k++)
		any = of[u->src[k]->id];
	mentions_of(u, binds, &named);
	for (size_t i = 0; i < named.n && !any; i++)
		any = of[named.at[i]->id];
	vec_free(&named);
	return any;
}

static void mark_reads(const UOp *u, const Map *binds, uint8_t *of)
{
	NodeList named = {0};

	for (uint32_t k = 0; k < u->nsrc; k++)
		of[u->src[k]->id] = 1;
	mentions_of(u, binds, &named);
	for (size_t i = 0; i < named.n; i++)
		of[named.at[i]->id] = 1;
	vec_free(&named);
}

Nodes nodes_within(Nodes all, size_t n, UOp *const *root, const Map *given)
{
	Map binds = bound_sizes();
	uint8_t *need = xcalloc(node_limit(), 1);
	Nodes r = {arena_alloc((all.n + 1) * sizeof *r.at), 0};

	for (size_t i = 0; i < n; i++)
		need[root[i]->id] = 1;
	for (size_t i = all.n; i-- > 0;)
		if (need[all.at[i]->id] && !(given && map_get(given, PKEY(all.at[i]))))
			mark_reads(all.at[i], &binds, need);
	for (size_t i = 0; i < all.n; i++)
		if (need[all.at[i]->id])
			r.at[r.n++] = all.at[i];
	free(need);
	map_free(&binds);
	return r;
}

/* The turn and the states of `loop` itself stand for what its body reads. */
static Body body_of(Nodes all, const uint8_t *in, const UOp *loop)
{
	Body b = {0};

	for (size_t i = 0; i < all.n; i++) {
		UOp *u = all.at[i];
		if (!in[u->id])
			continue;
		map_put(&b.in, PKEY(u), u);
		if (!loop || (u->op != OP_TURN && u->op != OP_CARRY) || loop_of(u) != loop_of(loop))
			vec_push(&b.nodes, u);
	}
	return b;
}

void body_free(Body *b)
{
	vec_free(&b->nodes);
	map_free(&b->in);
}

/* ---- bodies of loops */

/* Marks what depends on the turns and states of these loops, and adds the loops that run inside.
 * Returns whether there were such. */
static bool depend(Nodes all, const UOp *loop, const Map *binds, Map *ids, uint8_t *in)
{
	bool more = false;

	for (size_t i = 0; i < all.n; i++) {
		UOp *u = all.at[i];
		uint64_t id = (uint64_t)loop_of(u) + 1;
		in[u->id] = any_read(u, binds, in);
		if (u->op == OP_LOOP && loop_of(u) == loop_of(loop))
			in[u->id] = 0;
		else if ((u->op == OP_TURN || u->op == OP_CARRY) && map_get(ids, id))
			in[u->id] = 1;
		if (u->op == OP_LOOP && in[u->id] && !map_get(ids, id)) {
			map_put(ids, id, u);
			more = true;
		}
	}
	return more;
}

/* whole: with the LOOP, its turn and its states */
static Body run_in(Nodes all, UOp *loop, bool whole)
{
	Map binds = bound_sizes(), ids = {0};
	uint8_t *in = xcalloc(node_limit(), 1);

	map_put(&ids, (uint64_t)loop_of(loop) + 1, loop);
	while (depend(all, loop, &binds, &ids, in))
		;
	in[loop->id] = whole;
	Body b = body_of(all, in, whole ? NULL : loop);
	free(in);
	map_free(&binds);
	map_free(&ids);
	return b;
}

Body loop_body(Nodes all, UOp *loop) { return run_in(all, loop, false); }

/* ---- branches */

/* Marks what the marked nodes reach, but for this branch's values. */
static void reach(Nodes all, const Map *binds, const UOp *branch, bool other, uint8_t *of)
{
	for (size_t i = all.n; i-- > 0;) {
		const UOp *u = all.at[i];
		size_t n = u == branch ? (size_t)u->arg->i : 0, from = other ? 1 + n : 1;
		if (!of[u->id])
			continue;
		if (!n)
			mark_reads(u, binds, of);
		for (uint32_t k = 0; n && k < u->nsrc; k++)
			of[u->src[k]->id] |= k < from || k >= from + n;
	}
}

/* Leaves only the branch's own: no turn or state of a loop around it, no value of a loop or branch
 * outside, no leaf but those of its loops and sizes. */
static void keep_own(Nodes all, const Map *binds, uint8_t *in)
{
	Map ids = {0};

	for (size_t i = 0; i < all.n; i++)
		if (in[all.at[i]->id] && all.at[i]->op == OP_LOOP)
			map_put(&ids, (uint64_t)loop_of(all.at[i]) + 1, all.at[i]);
	for (size_t i = 0; i < all.n; i++) {
		UOp *u = all.at[i];
		if (u->op == OP_TURN || u->op == OP_CARRY)
			in[u->id] &= map_get(&ids, (uint64_t)loop_of(u) + 1) != NULL;
		else if (u->op == OP_PICK)
			in[u->id] &= in[u->src[0]->id];
		else if (!u->nsrc)
			in[u->id] &= any_read(u, binds, in);
	}
	map_free(&ids);
}

Body branch_body(Nodes all, const Map *given, size_t nroots, UOp *const *root, UOp *branch,
	bool other)
{
	Map binds = bound_sizes();
	uint8_t *outside = xcalloc(node_limit(), 1), *in = xcalloc(node_limit(), 1);
	size_t n = (size_t)branch->arg->i;

	for (size_t i = 0; i < nroots; i++)
		outside[root[i]->id] = 1;
	for (size_t i = 0; given && i < all.n; i++)
		outside[all.at[i]->id] |= map_get(given, PKEY(all.at[i])) != NULL;
	reach(all, &binds, branch, other, outside);
	for (size_t k = 0; k < n; k++)
		in[branch->src[1 + k + (other ? n : 0)]->id] = 1;
	for (size_t i = all.n; i-- > 0;)
		if (in[all.at[i]->id])
			mark_reads(all.at[i], &binds, in);
	for (size_t i = 0; i < all.n; i++)
		in[all.at[i]->id] &= !outside[all.at[i]->id];
	keep_own(all, &binds, in);
	Body b = body_of(all, in, NULL);
	free(outside);
	free(in);
	map_free(&binds);
	return b;
}

/* ---- what a body reads */

NodeList body_reads(const Body *b, size_t nroots, UOp *const *root)
{
	NodeList r = {0};
	Map seen = {0};

	for (size_t i = 0; i < nroots + b->nodes.n; i++) {
		UOp *u = i < nroots ? root[i] : b->nodes.at[i - nroots];
		for (uint32_t k = 0; k < (i < nroots ? 1 : u->nsrc); k++) {
			UOp *s = i < nroots ? u : u->src[k];
			if (map_get(&b->in, PKEY(s)) || map_get(&seen, PKEY(s)))
				continue;
			map_put(&seen, PKEY(s), s);
			vec_push(&r, s);
		}
	}
	map_free(&seen);
	return r;
}

/* ---- copies */

typedef struct {
	Map *to;                /* node → its copy */
	Map ids;                /* a loop's id + 1 → its copy's id + 1 */
	NodeMade *make;         /* what a copy is, NULL: the same with other sources */
	NodeList from, size;    /* sizes that the body binds, and those of the copy */
} Copy;

static UOp *copy_of(const Map *to, UOp *u)
{
	UOp *v = map_get(to, PKEY(u));
	return v ? v : u;
}

static const Val *new_id(Copy *c, int64_t id)
{
	uint64_t key = (uint64_t)id + 1;
	uintptr_t to = (uintptr_t)map_get(&c->ids, key);

	if (!to) {
		to = (uintptr_t)steps_made()->next_loop++ + 1;
		map_put(&c->ids, key, (void *)to);
	}
	return val_int((int64_t)to - 1);
}

/* The arg with the copy's sizes and loops. */
static const Val *arg_of(Copy *c, const UOp *u)
{
	const Val *arg = sizes_replaced(u, c->from.n, c->from.at, c->size.at);

	if (u->op == OP_TURN)
		return new_id(c, loop_of(u));
	if (u->op == OP_LOOP)
		return val_set(arg, "id", new_id(c, loop_of(u)));
	if (u->op != OP_CARRY)
		return arg;
	const Val *id = new_id(c, loop_of(u));
	return arg->n == 3 ? VARR(id, arg->a[1], arg->a[2]) : VARR(id, arg->a[1]);
}

/* A size of the copy's own. */
static UOp *bind_copy(Copy *c, UOp *u, UOp *value)
{
	const Val *arg = arg_of(c, u), *name = u->arg->a[0];
	UOp *size = t_bind_anew(name->s, value, arg->a[1], arg->a[2]);

	vec_push(&c->from, vars_find(name->s, name->n));
	vec_push(&c->size, size);
	return steps_made()->binds.at[steps_made()->binds.n - 1];
}

static UOp *node_copy(Copy *c, UOp *u)
{
	UOp **src = arena_alloc((u->nsrc + 1) * sizeof *src);

	for (uint32_t k = 0; k < u->nsrc; k++)
		src[k] = copy_of(c->to, u->src[k]);
	if (u->op == OP_BIND)
		return bind_copy(c, u, src[0]);
	const Val *arg = arg_of(c, u);
	UOp *v = c->make ? c->make(u, src, arg) : node_new(u->op, u->dtype, u->nsrc, src, arg);
	if (u->op == OP_TURN || u->op == OP_CARRY)
		step_made(v);
	node_note(v, u->note);
	return v;
}

void body_copy(const Body *b, size_t nroots, UOp *const *root, Map *to)
{
	nodes_copy((Nodes){b->nodes.at, b->nodes.n}, nroots, root, to, NULL);
}

void nodes_copy(Nodes all, size_t nroots, UOp *const *root, Map *to, NodeMade *make)
{
	Nodes need = nodes_within(all, nroots, root, to);
	Copy c = {.to = to, .make = make};

	for (size_t i = 0; i < need.n; i++)
		if (!map_get(to, PKEY(need.at[i])))
			map_put(to, PKEY(need.at[i]), node_copy(&c, need.at[i]));
	map_free(&c.ids);
	vec_free(&c.from);
	vec_free(&c.size);
}

Nodes nodes_with_binds(size_t n, UOp *const *root)
{
	const NodeList *binds = &steps_made()->binds;
	UOp **all = arena_alloc((n + binds->n + 1) * sizeof *all);

	memcpy(all, root, n * sizeof *root);
	if (binds->n)
		memcpy(all + n, binds->at, binds->n * sizeof *all);
	return walk_many(n + binds->n, all);
}

/* The loops whose turn or states u depends on, as bits of their ids; those from 63 on share one. */
static uint64_t loops_around(const UOp *u, const uint64_t *around)
{
	uint64_t set = 0, own = loop_of(u) < 0 ? 0 : 1ull << (loop_of(u) < 63 ? loop_of(u) : 63);

	for (uint32_t k = 0; k < u->nsrc; k++)
		set |= around[u->src[k]->id];
	return u->op == OP_LOOP ? set & ~own : set | own;
}

/* Marks what depends on `from`, through the loops that read it. What is behind a DETACH does not,
 * but in a loop that does: there is no value from before the step in its turns. */
static uint8_t *moved_by(Nodes all, const UOp *from)
{
	Map binds = bound_sizes(), ids = {0};
	uint8_t *moved = xcalloc(node_limit(), 1);
	uint64_t *around = xcalloc(node_limit(), sizeof *around);
	bool more = true;

	while (more) {
		more = false;
		for (size_t i = 0; i < all.n; i++) {
			UOp *u = all.at[i];
			uint64_t id = (uint64_t)loop_of(u) + 1;
			around[u->id] = loops_around(u, around);
			bool still = u->op == OP_DETACH && !around[u->id];
			moved[u->id] = u == from || (!still && any_read(u, &binds, moved)) ||
				((u->op == OP_TURN || u->op == OP_CARRY) && map_get(&ids, id));
			if (u->op == OP_LOOP && moved[u->id] && !map_get(&ids, id)) {
				map_put(&ids, id, u);
				more = true;
			}
		}
	}
	free(around);
	map_free(&binds);
	map_free(&ids);
	return moved;
}

UOp *node_moved(UOp *root, UOp *from, UOp *to)
{
	Nodes all = nodes_with_binds(1, &root);
	uint8_t *moved = moved_by(all, from);
	Map copy = {0};

	for (size_t i = 0; i < all.n; i++)
		if (!moved[all.at[i]->id])
			map_put(&copy, PKEY(all.at[i]), all.at[i]);
	map_put(&copy, PKEY(from), to);
	nodes_copy(all, 1, &root, &copy, NULL);
	UOp *r = map_get(&copy, PKEY(root));
	free(moved);
	map_free(&copy);
	return r;
}

UOp *loop_copy(UOp *loop)
{
	Map to = {0};
	Nodes all = nodes_with_binds(1, &loop);
	Body b = run_in(nodes_within(all, 1, &loop, NULL), loop, true);
	body_copy(&b, 1, &loop, &to);
	UOp *copy = map_get(&to, PKEY(loop));
	body_free(&b);
	map_free(&to);
	return copy;
}

/* ---- the same loop with more */

UOp *state_add(const UOp *carry, UOp *init, const Shape *shape)
{
	int64_t id = loop_of(carry), k = 0;

	while (steps_carry(steps_made(), id, k))
		k++;
	const Val *at = val_int(k), *loop = val_int(id);
	return step_made(NODE(OP_CARRY, init->dtype,
		shape ? VARR(loop, at, shape_to_val(shape)) : VARR(loop, at), init));
}

UOp *loop_version(UOp *loop, const LoopMore *of)
{
	LoopParts p = loop_parts(loop);
	NodeList src = {0};

	for (UOp *const *at = loop->src; at < p.state; at++)
		vec_push(&src, *at);
	for (size_t k = 0; k < of->state.n; k++)
		vec_push(&src, of->state.at[k]);
	for (size_t k = 0; k < of->value.n; k++)
		vec_push(&src, of->value.at[k]);
	for (size_t k = 0; k < of->carry.n; k++)
		vec_push(&src, of->carry.at[k]);
	UOp *u = node_new(OP_LOOP, DT_NONE, src.n, src.at,
		val_set(val_set(loop->arg, "states", val_int((int64_t)of->state.n)), "values",
			val_int((int64_t)of->value.n)));
	node_note(u, loop->note);
	vec_free(&src);
	steps_made()->versions = true;
	return u;
}

static void append(NodeList *l, size_t n, UOp *const *first, const NodeList *more)
{
	for (size_t i = 0; i < n + more->n; i++)
		vec_push(l, i < n ? first[i] : more->at[i - n]);
}

UOp *loop_with(UOp *loop, const LoopMore *more)
{
	LoopParts p = loop_parts(loop);
	LoopMore all = {0};

	append(&all.carry, (size_t)p.states, p.carry, &more->carry);
	append(&all.state, (size_t)p.states, p.state, &more->state);
	append(&all.value, (size_t)p.values, p.value, &more->value);
	UOp *u = loop_version(loop, &all);
	vec_free(&all.carry);
	vec_free(&all.state);
	vec_free(&all.value);
	return u;
}

UOp *pick_like(const UOp *pick, UOp *of, int64_t k)
{
	const Val *arg = val_int(k);

	if (pick->arg->kind == VAL_ARRAY)
		arg = VARR(arg, pick->arg->a[1]);
	return NODE(OP_PICK, pick->dtype, arg, of);
}

int64_t pick_place(const UOp *pick)
{
	return pick->arg->kind == VAL_ARRAY ? pick->arg->a[0]->i : pick->arg->i;
}
