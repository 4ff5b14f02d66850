/* Pointers to places. Where a tile was written out, the places of its elements in a buffer differ
 * by constants; three or more of them have a pointer to where they begin:
 *
 *     acc1 = mulacc_f32x16(v4, load_f32x16(&w[r3 * 256 + r5 * 16 + 4096]), acc1);
 *     →  const float *p0 = &w[r3 * 256 + r5 * 16]; … load_f32x16(&p0[4096])
 *
 * It is declared before the first statement that uses it, for the statements up to the next loop's
 * begin or end. A person reads less, and a compiler: gcc 12 takes 0.83 of the time for a
 * contraction and 0.6 for elements that lie apart, and its code is the same. Places that depend on
 * what is loaded stay as they are, since a load may not be moved before its gate. */
#include "print/vector.h"
#include "index/ix.h"
#include "shape/shape.h"

enum { MANY = 3 };
typedef struct { UOp *base; int n; const char *name; } Pointer;
/* Of an INDEX: its pointer and how far behind that it is; NULL: it has none. */
typedef struct { Pointer *at; int64_t offset; } Pointed;

static ARENA Map pointers;              /* INDEX of the base → Pointer */
static ARENA Map pointed;               /* INDEX → Pointed */
static ARENA TABLE(uint32_t) seen;      /* by node: the number of the last visit */

/* ---- a place and its pointer */

/* Is it made of ranges, sizes and names alone, and divided by constants? */
static bool is_plain(UOp *place)
{
	static ARENA VEC(const UOp *) todo;
	bool plain = place->op != OP_CONST;
	vec_push(&todo, place);
	while (todo.n) {
		const UOp *u = todo.at[--todo.n];
		bool divides = u->op == OP_FLOORDIV || u->op == OP_FLOORMOD || u->op == OP_IDIV ||
			u->op == OP_MOD;
		plain &= u->op != OP_LOAD && u->op != OP_SHUFFLE && !has_lanes(u) &&
			(!divides || u->src[1]->op == OP_CONST);
		bool named = u->op == OP_LET || u->op == OP_RANGE;
		for (uint32_t i = 0; plain && !named && i < u->nsrc; i++)
			vec_push(&todo, u->src[i]);
	}
	return plain;
}

static Pointed *point(Printer *p, UOp *index)
{
	Pointed *is = map_get(&pointed, PKEY(index));
	if (is)
		return is;
	is = arena_alloc(sizeof *is);
	*is = (Pointed){NULL, 0};
	map_put(&pointed, PKEY(index), is);
	Sum s;
	sum_of(&s, index->src[1]);
	UOp *first = ix_sub(index->src[1], ix_const(s.k));
	if (!is_plain(first))
		return is;
	UOp *base = NODE(OP_INDEX, index->dtype, VNIL, index->src[0], first);
	is->at = map_get(&pointers, PKEY(base));
	if (!is->at) {
		is->at = arena_alloc(sizeof *is->at);
		*is->at = (Pointer){base, 0, NULL};
		map_put(&pointers, PKEY(base), is->at);
	}
	is->offset = s.k;
	is->at->n++;
	return is;
}

static void declare(Printer *p, Pointer *at)
{
	UOp *buffer = at->base->src[0];
	DType d = at->base->dtype;
	const char *name = arena_printf("p%d", p->pointers++);
	expr_text(p, at->base);
	print_line(p, "%s%s *%s = &%s;", is_stored(p, (int)param_slot(buffer)) ? "" : "const ",
		p->d->type[d == DT_BOOL ? DT_U8 : d], name, expr_place(p, at->base));
	at->name = name;
}

/* ---- the places of a statement */

/* Calls fn with each place in a buffer of a node, lane by lane where they are no neighbours. */
static void visit_index(Printer *p, UOp *u, void (*fn)(Printer *p, UOp *one))
{
	UOp *place = u->src[1];
	int lanes = varies(place) && lane_step(place) != 1 ? dtype_lanes(place->dtype) : 1;
	for (int k = 0; k < lanes; k++)
		fn(p, NODE(OP_INDEX, elem(u), VNIL, u->src[0], at_lane(p, place, k)));
}

static void visit(Printer *p, const UOp *statement, void (*fn)(Printer *p, UOp *one))
{
	static ARENA VEC(UOp *) todo;
	for (uint32_t i = 0; i < statement->nsrc; i++)
		vec_push(&todo, statement->src[i]);
	while (todo.n) {
		UOp *u = todo.at[--todo.n];
		table_fit(&seen);
		if (seen.at[u->id] == seen.round || u->op == OP_LET || u->op == OP_RANGE)
			continue;
		seen.at[u->id] = seen.round;
		if (u->op == OP_INDEX && u->nsrc == 2 && u->src[0]->op == OP_PARAM)
			visit_index(p, u, fn);
		for (uint32_t i = 0; i < u->nsrc; i++)
			vec_push(&todo, u->src[i]);
	}
}

static void count_one(Printer *p, UOp *one) { point(p, one); }

static void declare_one(Printer *p, UOp *one)
{
	Pointed *is = map_get(&pointed, PKEY(one));
	if (is && is->at && is->at->n >= MANY && !is->at->name)
		declare(p, is->at);
}

static bool in_group(const UOp *u)
{
	return u->op == OP_LET || u->op == OP_STORE || u->op == OP_PREFETCH ||
		u->op == OP_DEFINE_REG;
}

void places_begin(Printer *p, uint32_t i)
{
	UOp *const *at = p->kernel->src;
	if (!p->vectors || (i && in_group(at[i]) && in_group(at[i - 1])))
		return;
	map_free(&pointers);
	map_free(&pointed);
	table_round(&seen);
	for (; i < p->kernel->nsrc && in_group(at[i]); i++)
		visit(p, at[i], count_one);
}

void places_declare(Printer *p, const UOp *statement)
{
	if (!p->vectors || !in_group(statement))
		return;
	table_round(&seen);
	visit(p, statement, declare_one);
}

const char *place_pointed(Printer *p, const UOp *index)
{
	const Pointed *is = p->vectors ? map_get(&pointed, PKEY(index)) : NULL;
	return !is || !is->at || !is->at->name ? NULL :
		arena_printf("%s[%lld]", is->at->name, (long long)is->offset);
}
