/* A loop's turn is a size in its region. Elements of a tensor at a place that sizes and turns give,
 * as what a loop reads of its inputs in each turn, are views: read where they lie, not gathered.
 *
 *     GATHER(x, SIZE("n-1") - TURN)          x of [n, 8], in a loop of n turns
 *     →   RESHAPE(SHRINK(x, [["n-1-turn_0", "n-turn_0"], [0, 8]]), [8])
 *
 * A view has no gate, so the place has to be proved inside. The proof and those of later stages
 * rely on the number of turns: turn + 1 <= limit, which becomes a condition of the loop's region.
 */
#include "schedule.h"
#include "shape/shape.h"

/* ---- turns as sizes */

const Val *turn_name(Turns *t, int64_t loop)
{
	const Val *name = map_get(&t->name, (uint64_t)loop + 1);
	const char *text = arena_printf("turn_%lld", (long long)loop);
	if (name)
		return name;
	while (vars_find(text, strlen(text)))
		text = arena_printf("%s_", text);
	vars_bind(text, 0, INT32_MAX);
	name = val_str(text);
	map_put(&t->name, (uint64_t)loop + 1, (void *)name);
	return name;
}

static UOp *turn_var(const Turns *t, int64_t loop)
{
	const Val *name = map_get(&t->name, (uint64_t)loop + 1);
	return name ? vars_find(name->s, name->n) : NULL;
}

static UOp *size_within(const Turns *t, const UOp *u, int depth)
{
	const char *err;
	if (u->dtype != DT_I64 || u->shape->rank || !depth)
		return NULL;
	if (u->op == OP_ADD || u->op == OP_SUB) {
		UOp *a = size_within(t, u->src[0], depth - 1),
		    *b = size_within(t, u->src[1], depth - 1);
		return !a || !b ? NULL : u->op == OP_ADD ? ix_add(a, b) : ix_sub(a, b);
	}
	switch (u->op) {
	case OP_CONST: return ix_const(u->arg->i);
	case OP_SIZE: return size_from_val(u->arg, &err);
	case OP_BIND: return vars_find(u->arg->a[0]->s, u->arg->a[0]->n);
	case OP_TURN: return turn_var(t, u->arg->i);
	default: return NULL;
	}
}

UOp *scalar_size(const Turns *t, const UOp *u)
{
	enum { DEEPEST = 8 };
	return size_within(t, u, DEEPEST);
}

/* ---- views */

/* A size at the turn at which it is least: it grows or shrinks by the same in each. NULL: it does
 * not. */
static UOp *at_least(UOp *size, UOp *turn, UOp *limit)
{
	UOp *zero = ix_const(0), *one = ix_const(1), *last = ix_sub(limit, one);
	UOp *first = substitute(size, 1, &turn, &zero), *next = substitute(size, 1, &turn, &one);
	int64_t step;
	if (!ix_is_const(ix_sub(next, first), &step))
		return NULL;
	return step >= 0 ? first : substitute(size, 1, &turn, &last);
}

/* Is a size 0 or more in all turns? */
static bool proved(const Turns *t, UOp *size)
{
	for (size_t i = 0; size && i < t->name.cap; i++) {
		const Val *name = t->name.val[i];
		UOp *limit = name ? map_get(&t->limit, t->name.key[i]) : NULL;
		if (limit)
			size = at_least(size, vars_find(name->s, name->n), limit);
	}
	return size && ix_prove_le(ix_const(0), size);
}

UOp *slice_of(const Turns *t, const UOp *u, UOp *x)
{
	UOp *at = u->op == OP_GATHER && u->nsrc == 2 ? scalar_size(t, u->src[1]) : NULL;
	VEC(const Val *) pairs = {0};
	if (!at || shape_empty(x->shape) || !proved(t, at) ||
		!proved(t, ix_sub(ix_sub(x->shape->dim[0], ix_const(1)), at)))
		return NULL;
	vec_push(&pairs, VARR(size_to_val(at), size_to_val(ix_add(at, ix_const(1)))));
	for (int i = 1; i < x->shape->rank; i++)
		vec_push(&pairs, VARR(val_int(0), size_to_val(x->shape->dim[i])));
	UOp *s = node_new(OP_SHRINK, x->dtype, 1, &x, val_array(pairs.n, pairs.at));
	vec_free(&pairs);
	return node_new(OP_RESHAPE, x->dtype, 1, &s, shape_to_val(u->shape));
}

/* ---- conditions */

const Val *rows_joined(const Val *a, const Val *b)
{
	VEC(const Val *) rows = {0};
	for (size_t i = 0; a && a->kind == VAL_ARRAY && i < a->n; i++)
		vec_push(&rows, a->a[i]);
	for (size_t i = 0; i < b->n; i++)
		vec_push(&rows, b->a[i]);
	const Val *v = val_array(rows.n, rows.at);
	vec_free(&rows);
	return v;
}

UOp *with_turn_check(const Turns *t, int64_t loop, UOp *region)
{
	UOp *limit = map_get(&t->limit, (uint64_t)loop + 1), *turn = turn_var(t, loop);
	if (!limit)
		return region;
	const Val *row = VARR(val_str("le"), size_to_val(ix_add(turn, ix_const(1))),
		size_to_val(limit));
	return node_like(region, region->nsrc, region->src, VMAP(val_str("checks"),
		rows_joined(val_get(region->arg, "checks"), VARR(row))));
}
