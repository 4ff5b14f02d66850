/* Expressions with lanes. A value that differs between them is a vector; any other is printed by
 * the scalar printer, and broadcast where a vector needs it:
 *
 *     (load_f32x16(&x[r0 * 40]) - acc0_0[0]) * 1.442695f
 *
 * A comparison gives a mask, all bits of a lane or none, as wide as its operands. An operation
 * without a vector instruction is a function that works lane by lane. */
#include "print/vector.h"
#include "index/ix.h"
#include <stdlib.h>

enum { DEEPEST = 40, LONGEST = 1500 };

static VText value(const char *s, int prec) { return (VText){s, prec, 0, 0}; }
#define VALUE(prec, ...) value(arena_printf(__VA_ARGS__), prec)
#define MASK(bytes, prec, ...) (VText){arena_printf(__VA_ARGS__), prec, 0, bytes}

static void tables_fit(struct Vectors *v)
{
	table_fit(&v->of->text);
	table_fit(&v->of->lane);
}

/* ---- a single lane */

static UOp *lane_of(UOp *u, int k)
{
	const Val *lane = val_int(k);
	return NODE(OP_SHUFFLE, elem(u), val_array(1, &lane), u);
}

/* Whether a lane of u is one of what its sources are in that lane. */
static bool by_lanes(const UOp *u)
{
	return u->op != OP_LET && u->op != OP_SHUFFLE && u->op != OP_RAMP;
}

static UOp *remade(Printer *p, UOp *u)
{
	struct Vectors *v = p->vectors;
	if (u->op == OP_RAMP)
		return ix_add(u->src[0], ix_const(v->at * u->arg->i));
	if (!by_lanes(u))
		return lane_of(u, v->at);
	UOp **src = arena_alloc((u->nsrc + 1) * sizeof *src);
	for (uint32_t i = 0; i < u->nsrc; i++)
		src[i] = varies(u->src[i]) ? v->of->lane.at[u->src[i]->id].u : one_lane(u->src[i]);
	return ix_remake(node_new(u->op, elem(u), u->nsrc, src, u->arg), src);
}

static bool has_lane(Printer *p, UOp *u)
{
	tables_fit(p->vectors);
	return p->vectors->of->lane.at[u->id].round == p->vectors->of->lane.round;
}

static bool needs_lane(Printer *p, UOp *u, uint32_t i)
{
	(void)p;
	return by_lanes(u) && varies(u->src[i]);
}

static void make_lane(Printer *p, UOp *u)
{
	struct Vectors *v = p->vectors;
	UOp *r = remade(p, u);
	tables_fit(v);
	v->of->lane.at[u->id].u = r;
	v->of->lane.at[u->id].round = v->of->lane.round;
}

UOp *at_lane(Printer *p, UOp *root, int k)
{
	static const Making lanes = {has_lane, needs_lane, make_lane};
	struct Vectors *v = p->vectors;
	if (!varies(root))
		return one_lane(root);
	v->at = k;
	v->of->lane.round++;
	make_first(p, root, &lanes);
	return v->of->lane.at[root->id].u;
}

int64_t lane_step(const UOp *e) { return e->op == OP_RAMP ? e->arg->i : 0; }

/* ---- pieces of text */

const char *vector_variable(Printer *p, const char *type, const char *s)
{
	const char *name = arena_printf("t%d", p->temps++);
	print_line(p, "const %s %s = %s;", type, name, s);
	return name;
}

static const char *type_of(Printer *p, const UOp *u)
{
	return vector_type(p, elem(u), p->vectors->lanes);
}

static VText *known(Printer *p, const UOp *u)
{
	tables_fit(p->vectors);
	return &p->vectors->of->text.at[u->id].text;
}

static const char *at_prec(Printer *p, UOp *u, int prec)
{
	VText t = *known(p, u);
	return t.prec < prec ? arena_printf("(%s)", t.s) : t.s;
}

const char *vector_arg(Printer *p, UOp *u)
{
	if (varies(u))
		return vector_text(p, u).s;
	return arena_printf(
		"%s(%s)", vector_fn(p, "splat", lane_dtype(elem(u))), expr_text(p, u).s);
}

const char *mask_arg(Printer *p, UOp *u, int bytes)
{
	static const DType of[] = {[1] = DT_I8, [2] = DT_I16, [4] = DT_I32, [8] = DT_I64};
	if (!varies(u))
		return arena_printf(
			"%s(%s)", vector_fn(p, "mask", of[bytes]), expr_text(p, u).s);
	VText t = vector_text(p, u);
	if (t.mask == bytes)
		return t.s;
	return vector_cast(p, of[bytes], of[t.mask], t.s);
}

/* an operand of C's own operators, which combine a scalar with a vector where the types are the
 * same */
static const char *operand(Printer *p, UOp *u, int prec)
{
	if (varies(u))
		return at_prec(p, u, prec);
	if (elem(u) != DT_F32 && elem(u) != DT_F64)
		return vector_arg(p, u);
	expr_text(p, u);
	return expr_at(p, u, prec);
}

static VText infix(Printer *p, UOp *u)
{
	const char *op = op_info[u->op].c_text;
	int prec = operator_prec(op);
	bool loose = prec >= PREC_ADD;
	int left = loose ? prec : PREC_UNARY, right = loose ? prec + 1 : PREC_UNARY;
	return VALUE(
		prec, "%s %s %s", operand(p, u->src[0], left), op, operand(p, u->src[1], right));
}

static VText call(Printer *p, UOp *u, const char *fn)
{
	const char *a = vector_arg(p, u->src[0]),
		   *b = u->nsrc > 1 ? vector_arg(p, u->src[1]) : NULL;
	return b ? VALUE(PREC_ATOM, "%s(%s, %s)", fn, a, b) : VALUE(PREC_ATOM, "%s(%s)", fn, a);
}

/* ---- masks */

static int mask_bytes(Printer *p, UOp *u) { return varies(u) ? known(p, u)->mask : 0; }

/* the common width of two masks: that of f32 when either has it, else the narrower */
static int common_bytes(Printer *p, UOp *u)
{
	int a = mask_bytes(p, u->src[0]), b = mask_bytes(p, u->src[1]);
	if (!a || !b)
		return a + b;
	return a == 4 || b == 4 ? 4 : a < b ? a : b;
}

static VText mask_infix(Printer *p, UOp *u)
{
	const char *op = op_info[u->op].c_bool;
	int bytes = common_bytes(p, u);
	const char *a = mask_arg(p, u->src[0], bytes), *b = mask_arg(p, u->src[1], bytes);
	return MASK(bytes, PREC_ANY + 1, "(%s) %s (%s)", a, op, b);
}

static VText compare_bools(Printer *p, UOp *u)
{
	int bytes = common_bytes(p, u);
	const char *a = mask_arg(p, u->src[0], bytes), *b = mask_arg(p, u->src[1], bytes);
	if (u->op == OP_CMPLT)
		return MASK(bytes, PREC_AND, "~(%s) & (%s)", a, b);
	return u->op == OP_CMPNE ? MASK(bytes, PREC_XOR, "(%s) ^ (%s)", a, b) :
				   MASK(bytes, PREC_UNARY, "~((%s) ^ (%s))", a, b);
}

static VText compare_text(Printer *p, UOp *u)
{
	struct Vectors *v = p->vectors;
	const char *op = op_info[u->op].c_text;
	if (elem(u->src[0]) == DT_BOOL)
		return compare_bools(p, u);
	int bytes = dtype_size(elem(u->src[0]));
	if (bytes * v->lanes > 64) {
		const char *a = vector_arg(p, u->src[0]), *b = vector_arg(p, u->src[1]);
		const char *name = u->op == OP_CMPLT ? "less" :
			u->op == OP_CMPEQ	     ? "equal" :
						       "differ";
		return MASK(
			bytes, PREC_ATOM, "%s(%s, %s)", vector_fn(p, name, elem(u->src[0])), a, b);
	}
	const char *a = operand(p, u->src[0], PREC_ADD), *b = operand(p, u->src[1], PREC_ADD);
	return MASK(bytes, PREC_UNARY, "(%s)(%s %s %s)", mask_type(p, bytes, v->lanes), a, op, b);
}

/* Is a condition that is the same in all lanes one of places? Then the processor predicts it; one
 * of data it does not. */
static bool of_places(UOp *c)
{
	int64_t lo[2], hi[2];
	while (c->op == OP_LET)
		c = c->src[0];
	if (c->op == OP_AND || c->op == OP_OR)
		return of_places(c->src[0]) && of_places(c->src[1]);
	if (op_info[c->op].cls != CLASS_COMPARE)
		return false;
	for (int i = 0; i < 2; i++)
		ix_bounds(c->src[i], &lo[i], &hi[i]);
	return lo[0] != INT64_MIN && lo[1] != INT64_MIN && hi[0] != INT64_MAX && hi[1] != INT64_MAX;
}

/* WHERE(c, x + y, x) of floats: y; with x and x + y exchanged if k is 1. NULL: it is none. */
static UOp *added_some(const UOp *u, int k)
{
	const UOp *sum = u->src[1 + k];
	bool is = sum->op == OP_ADD && sum->src[0] == u->src[2 - k] &&
		(elem(u) == DT_F32 || elem(u) == DT_F64);
	return is ? sum->src[1] : NULL;
}

/* by a mask of lanes, or by one condition for all of them */
static VText add_if(Printer *p, UOp *u, int k)
{
	UOp *c = u->src[0];
	DType d = elem(u);
	const char *a = vector_arg(p, u->src[2 - k]), *b = vector_arg(p, added_some(u, k)), *set;
	if (varies(c)) {
		set = mask_arg(p, c, dtype_size(d));
	} else {
		expr_text(p, c);
		set = expr_at(p, c, PREC_ANY);
	}
	if (k)
		set = arena_printf("%s(%s)", varies(c) ? "~" : "!", set);
	const char *fn = vector_fn(p, varies(c) ? "add_if" : "add_all_if", d);
	return VALUE(PREC_ATOM, "%s(%s, %s, %s)", fn, a, b, set);
}

static VText where_text(Printer *p, UOp *u)
{
	UOp *c = u->src[0];
	if (elem(u) == DT_BOOL) {
		const char *m = mask_arg(p, c, 4), *a = mask_arg(p, u->src[1], 4);
		return MASK(4, PREC_ATOM, "%s(%s, %s, %s)", vector_fn(p, "where", DT_I32), m, a,
			mask_arg(p, u->src[2], 4));
	}
	const char *a = vector_arg(p, u->src[1]), *b = vector_arg(p, u->src[2]);
	if (!varies(c) && of_places(c)) {
		expr_text(p, c);
		return VALUE(PREC_WHERE, "%s ? %s : %s", expr_at(p, c, PREC_EQ), a, b);
	}
	for (int k = 0; k < 2; k++)
		if (added_some(u, k))
			return add_if(p, u, k);
	DType d = lane_dtype(elem(u));
	return VALUE(PREC_ATOM, "%s(%s, %s, %s)", vector_fn(p, "where", d),
		mask_arg(p, c, dtype_size(d)), a, b);
}

/* ---- arithmetic */

static VText infix_text(Printer *p, UOp *u)
{
	return elem(u) == DT_BOOL ? mask_infix(p, u) : infix(p, u);
}

static bool is_dot(const UOp *u)
{
	return u->op == OP_DOTU8I8 || u->op == OP_DOTI8 || u->op == OP_DOTI16;
}

/* Which source of a sum is a DOT, whose instruction adds it to the other one; -1: none. */
static int dot_in(const UOp *u)
{
	return u->op != OP_ADD ? -1 : is_dot(u->src[1]) ? 1 : is_dot(u->src[0]) ? 0 : -1;
}

static VText dot_onto(Printer *p, const UOp *dot, const char *sum)
{
	const char *a = vector_arg(p, dot->src[0]), *b = vector_arg(p, dot->src[1]);
	return VALUE(PREC_ATOM, "%s(%s, %s, %s)", dot_fn(p, dot->op), a, b, sum);
}

static VText sum_text(Printer *p, UOp *u)
{
	int dot = dot_in(u);
	if (dot < 0)
		return infix_text(p, u);
	return dot_onto(p, u->src[dot], vector_arg(p, u->src[1 - dot]));
}

static VText neg_text(Printer *p, UOp *u)
{
	return VALUE(PREC_UNARY, "-%s", at_prec(p, u->src[0], PREC_ATOM));
}

static VText recip_text(Printer *p, UOp *u)
{
	return VALUE(PREC_MUL, "%s / %s", elem(u) == DT_F64 ? "1.0" : "1.0f",
		at_prec(p, u->src[0], PREC_UNARY));
}

static VText mulacc_text(Printer *p, UOp *u)
{
	if (elem(u) == DT_BOOL) {
		const char *a = mask_arg(p, u->src[0], 4), *b = mask_arg(p, u->src[1], 4);
		return MASK(4, PREC_OR, "((%s) & (%s)) | (%s)", a, b, mask_arg(p, u->src[2], 4));
	}
	const char *a = vector_arg(p, u->src[0]), *b = vector_arg(p, u->src[1]);
	const char *c = vector_arg(p, u->src[2]);
	if ((elem(u) == DT_F32 || elem(u) == DT_F64) && p->d->mulacc[elem(u) == DT_F64])
		return VALUE(
			PREC_ATOM, "%s(%s, %s, %s)", vector_fn(p, "mulacc", elem(u)), a, b, c);
	return VALUE(PREC_ADD, "(%s) * (%s) + (%s)", a, b, c);
}

static VText extreme_text(Printer *p, UOp *u)
{
	if (elem(u) == DT_BOOL)
		return mask_infix(p, u);
	double with;
	bool number = const_is_float(one_lane(u->src[1]), &with) && with != 0 && with == with;
	const char *name = arena_printf(number ? "%s_with" : "%s", op_word(u->op));
	return call(p, u, vector_fn(p, name, elem(u)));
}

/* an instruction where there is one, else the library's function lane by lane */
static VText function_text(Printer *p, UOp *u)
{
	if (vector_has(op_word(u->op)))
		return call(p, u, vector_fn(p, op_word(u->op), elem(u)));
	const char *fn = dtype_float(elem(u)) ? language_function(p->d, u->op, elem(u)) :
						 helper_binary(&p->helpers, u->op, elem(u));
	return call(p, u, lanewise_fn(p, fn, elem(u), elem(u), u->nsrc));
}

static VText helper_text(Printer *p, UOp *u)
{
	if (u->op == OP_THREEFRY)
		return call(p, u, threefry_fn(p));
	if (is_dot(u))
		return dot_onto(p, u, arena_printf("%s(0)", vector_fn(p, "splat", elem(u))));
	return call(p, u, lanewise_fn(p, helper_binary(&p->helpers, u->op, elem(u)), elem(u),
		elem(u), u->nsrc));
}

/* lane by lane where no vector's arithmetic is exact */
static VText division_text(Printer *p, UOp *u)
{
	if (dtype_size(elem(u)) > 4)
		return helper_text(p, u);
	return call(p, u, divide_fn(p, op_word(u->op), elem(u)));
}

static VText shift_text(Printer *p, UOp *u)
{
	int64_t by;
	if (const_is_int(one_lane(u->src[1]), &by) && by >= 0 && by < 8 * dtype_size(elem(u)))
		return VALUE(PREC_SHIFT, "%s %s %d", at_prec(p, u->src[0], PREC_UNARY),
			op_info[u->op].c_text, (int)by);
	return call(p, u, vector_fn(p, op_word(u->op), elem(u)));
}

/* ---- conversions */

static VText to_bool(Printer *p, UOp *x)
{
	int bytes = dtype_size(elem(x));
	const char *type = mask_type(p, bytes, p->vectors->lanes), *s = at_prec(p, x, PREC_ADD);
	if (dtype_half(elem(x)))
		return MASK(bytes, PREC_UNARY, "(%s)((%s & 0x7fff) != 0)", type,
			at_prec(p, x, PREC_UNARY));
	return MASK(bytes, PREC_UNARY, "(%s)(%s != %s)", type, s, zero_text(elem(x)));
}

static VText from_bool(Printer *p, UOp *u)
{
	static const DType of[] = {[1] = DT_I8, [2] = DT_I16, [4] = DT_I32, [8] = DT_I64};
	int bytes = dtype_size(elem(u));
	const char *m = mask_arg(p, u->src[0], bytes);
	if (dtype_int(elem(u)))
		return VALUE(PREC_AND, "(%s)(%s) & 1", type_of(p, u), m);
	UOp *one = const_num(elem(u), 1.0);
	uint64_t bits = 0;
	const_get(one, &bits);
	return VALUE(PREC_UNARY, "(%s)((%s) & %s(%lld))", type_of(p, u), m,
		vector_fn(p, "splat", of[bytes]), (long long)bits);
}

static VText cast_text(Printer *p, UOp *u)
{
	UOp *x = u->src[0];
	DType to = elem(u), from = elem(x);
	if (to == from)
		return *known(p, x);
	if (to == DT_BOOL)
		return to_bool(p, x);
	if (from == DT_BOOL)
		return from_bool(p, u);
	if (dtype_int(to) && dtype_int(from) && dtype_size(to) == dtype_size(from))
		return VALUE(PREC_UNARY, "(%s)%s", type_of(p, u), at_prec(p, x, PREC_UNARY));
	return value(vector_cast(p, to, from, at_prec(p, x, PREC_ANY)), PREC_ATOM);
}

static VText bitcast_text(Printer *p, UOp *u)
{
	if (lane_dtype(elem(u)) == lane_dtype(elem(u->src[0])))
		return *known(p, u->src[0]);
	return VALUE(PREC_UNARY, "(%s)%s", type_of(p, u), at_prec(p, u->src[0], PREC_UNARY));
}

static VText load_text(Printer *p, UOp *u) { return vector_load(p, u); }

/* a constant is the same in all lanes: it is not asked for */
static VText const_text(Printer *p, UOp *u) { die_bug(__FILE__, __LINE__, op_name(u->op)); }

/* base, base + step, … */
static VText ramp_text(Printer *p, UOp *u)
{
	DType d = elem(u);
	int64_t base = 1;
	const char *lane = arena_printf("%s()", vector_fn(p, "lane", d));
	const char *splat = vector_fn(p, "splat", d);

	if (u->arg->i != 1)
		lane = arena_printf("%s * %s(%lld)", lane, splat, (long long)u->arg->i);
	if (const_is_int(u->src[0], &base) && !base)
		return value(lane, u->arg->i == 1 ? PREC_ATOM : PREC_MUL);
	return VALUE(PREC_ADD, "%s(%s) + %s", splat, expr_text(p, u->src[0]).s, lane);
}

static const char *shuffled(Printer *p, UOp *u, int bytes)
{
	struct Vectors *v = p->vectors;
	const char *src[2];
	int lanes = v->lanes;
	Buf b = {0};

	v->lanes = dtype_lanes(u->src[0]->dtype);
	for (uint32_t i = 0; i < u->nsrc; i++)
		src[i] = bytes ? mask_arg(p, u->src[i], bytes) : vector_arg(p, u->src[i]);
	v->lanes = lanes;
	buf_printf(&b, "__builtin_shufflevector(%s, %s", src[0], src[u->nsrc - 1]);
	for (uint32_t i = 0; i < u->arg->n; i++)
		buf_printf(&b, ", %d", (int)u->arg->a[i]->i);
	buf_printf(&b, ")");
	return buf_keep(&b);
}

Text vector_lane(Printer *p, UOp *u)
{
	int lanes = dtype_lanes(u->src[0]->dtype), k = (int)u->arg->a[0]->i % lanes;
	UOp *src = u->src[u->arg->a[0]->i / lanes];
	VText t;

	p->vectors->lanes = lanes;
	if (lanes == 1 || src->op == OP_BROADCAST)
		return expr_text(p, src);
	t = vector_text(p, src);
	const char *s = t.prec < PREC_ATOM ? arena_printf("(%s)", t.s) : t.s;
	return (Text){arena_printf(t.mask ? "%s[%d] != 0" : "%s[%d]", s, k),
		t.mask ? PREC_EQ : PREC_ATOM, t.depth};
}

/* scalars side by side */
static VText put_together(Printer *p, UOp *u)
{
	Buf b = {0};
	for (uint32_t i = 0; i < u->arg->n; i++)
		buf_printf(&b, "%s%s", i ? ", " : "", expr_text(p, u->src[u->arg->a[i]->i]).s);
	const char *s = arena_printf("__extension__ (%s){%s}", type_of(p, u), buf_str(&b));
	buf_free(&b);
	return value(s, PREC_ATOM);
}

static VText shuffle_text(Printer *p, UOp *u)
{
	int bytes = elem(u) == DT_BOOL ? 4 : 0;
	if (!bytes && !has_lanes(u->src[0]))
		return put_together(p, u);
	return (VText){shuffled(p, u, bytes), PREC_ATOM, 0, bytes};
}

/* ---- the forms of ops.h */

static VText (*const forms[C_COUNT])(Printer *, UOp *) = {
#define FORM(NAME, fn) [C_##NAME] = fn,
	C_FORMS(FORM)
#undef FORM
};

VText vector_cut(Printer *p, UOp *u)
{
	struct Vectors *v = p->vectors;
	VText t = vector_text(p, u);
	if (t.variable)
		return t;
	const char *type = t.mask ? mask_type(p, t.mask, v->lanes) : type_of(p, u);
	t = (VText){vector_variable(p, type, t.s), PREC_ATOM, 0, t.mask, true};
	return *known(p, u) = t;
}

static void make_text(Printer *p, UOp *u)
{
	struct Vectors *v = p->vectors;
	const VText *let = u->op == OP_LET ? map_get(&v->lets, PKEY(u)) : NULL;
	VText t;
	int lanes = v->lanes;
	v->lanes = dtype_lanes(u->dtype);
	if (let)
		t = *let;
	else if (u->op == OP_RAMP)
		t = ramp_text(p, u);
	else if (u->op == OP_SHUFFLE)
		t = shuffle_text(p, u);
	else if (forms[op_info[u->op].c])
		t = forms[op_info[u->op].c](p, u);
	else
		die(MALFORMED, "node %u %s: used where it has no value", u->id, op_name(u->op));
	for (uint32_t i = 0; i < u->nsrc && !let; i++)
		if (v->of->text.at[u->src[i]->id].statement == p->texts->round &&
		    known(p, u->src[i])->depth >= t.depth)
			t.depth = known(p, u->src[i])->depth + 1;
	*known(p, u) = t;
	v->of->text.at[u->id].statement = p->texts->round;
	if (t.depth >= DEEPEST || strlen(t.s) >= LONGEST)
		vector_cut(p, u);
	v->lanes = lanes;
}

static bool has_text(Printer *p, UOp *u)
{
	tables_fit(p->vectors);
	return p->vectors->of->text.at[u->id].statement == p->texts->round;
}

/* the sources whose text a value needs; load_text handles places */
static bool needs_text(Printer *p, UOp *u, uint32_t i)
{
	(void)p;
	return u->op != OP_LET && u->op != OP_RAMP && (u->op != OP_LOAD || i > 0) &&
		(int)i != dot_in(u) && varies(u->src[i]);
}

VText vector_text(Printer *p, UOp *root)
{
	static const Making texts = {has_text, needs_text, make_text};
	make_first(p, root, &texts);
	return p->vectors->of->text.at[root->id].text;
}
