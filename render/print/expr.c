/* Expressions. The text of each node of a statement is made once, sources first, with the
 * precedence of its outermost operator; parentheses are printed where precedence requires them and
 * where compilers warn without them. An expression that grows too deep or too long is cut by a
 * temporary (lower cuts its own; documents from elsewhere may not be cut). */
#include "index/index.h"
#include "print/print.h"
#include <math.h>
#include <stdlib.h>

enum { DEEPEST = 40, LONGEST = 1500 };

static Text text_of(const char *s, int prec) { return (Text){s, prec, 0}; }
#define TEXT(prec, ...) text_of(arena_printf(__VA_ARGS__), prec)

static Text *slot(Printer *p, const UOp *u)
{
	if (u->id >= p->texts->cap)
		table_fit(p->texts);
	return &p->texts->at[u->id].text;
}

const char *expr_at(Printer *p, UOp *u, int prec)
{
	Text t = *slot(p, u);
	return t.prec < prec ? arena_printf("(%s)", t.s) : t.s;
}

/* ---- constants */

const char *zero_text(DType d) { return d == DT_F32 ? "0.0f" : d == DT_F64 ? "0.0" : "0"; }

static const char *float_digits(double v, bool single)
{
	for (int digits = 1; digits <= 17; digits++) {
		const char *s = arena_printf("%.*g", digits, v);
		if (single ? strtof(s, NULL) == (float)v : strtod(s, NULL) == v)
			return strpbrk(s, ".e") ? s : arena_printf("%s.0", s);
	}
	return "0.0";
}

static Text float_text(Printer *p, double v, bool single)
{
	if (isnan(v))
		return text_of(p->d->nan[!single], PREC_ATOM);
	if (isinf(v))
		return v > 0 ? text_of(p->d->inf[!single], PREC_ATOM) :
					   TEXT(PREC_UNARY, "-%s", p->d->inf[!single]);
	return TEXT(signbit(v) ? PREC_UNARY : PREC_ATOM, "%s%s", float_digits(v, single),
		single ? "f" : "");
}

static Text int_text(Printer *p, const UOp *u)
{
	int64_t v = 0;
	const char *suffix = p->d->i64_suffix;
	if (u->dtype == DT_U64) {
		uint64_t bits;
		const_get(u, &bits);
		if (p->d->u64 && bits > INT32_MAX)
			return TEXT(PREC_ATOM, p->d->u64, (unsigned long long)bits);
		return TEXT(PREC_ATOM, bits > INT32_MAX ? "%lluu%s" : "%llu",
			(unsigned long long)bits, suffix);
	}
	CHECK(const_is_int(u, &v));
	if (v == INT64_MIN)
		return TEXT(PREC_ADD, "-9223372036854775807%s - 1", suffix);
	if (v == INT32_MIN && u->dtype == DT_I32)
		return text_of("-2147483647 - 1", PREC_ADD);
	bool big = v > INT32_MAX || v < -INT32_MAX;
	const char *tail = u->dtype == DT_U32 && big ? "u" : big ? suffix : "";
	return TEXT(v < 0 ? PREC_UNARY : PREC_ATOM, "%lld%s", (long long)v, tail);
}

static Text const_text(Printer *p, UOp *u)
{
	double v;
	if (dtype_half(u->dtype)) {
		uint64_t bits = 0;
		const_get(u, &bits);
		return TEXT(PREC_ATOM, "0x%04x", (unsigned)(bits & 0xffff));
	}
	if (const_is_float(u, &v))
		return float_text(p, v, u->dtype == DT_F32);
	return int_text(p, u);
}

/* ---- arithmetic */

int operator_prec(const char *operator)
{
	static const struct { const char *text; int prec; } all[] = {
		{"|", PREC_OR}, {"^", PREC_XOR}, {"&", PREC_AND}, {"==", PREC_EQ}, {"!=", PREC_EQ},
		{"<", PREC_REL}, {"<<", PREC_SHIFT}, {">>", PREC_SHIFT}, {"+", PREC_ADD},
		{"-", PREC_ADD}, {"*", PREC_MUL}, {"/", PREC_MUL}, {"%", PREC_MUL},
	};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		if (!strcmp(all[i].text, operator))
			return all[i].prec;
	die_bug(__FILE__, __LINE__, operator);
}

/* The first operand, in the type of u where the operands are narrow and u is not. */
static const char *first_at(Printer *p, UOp *u, int prec)
{
	bool widens = u->dtype == DT_I64 && !is_narrow(p, u) && is_narrow(p, u->src[0]) &&
		is_narrow(p, u->src[1]);
	return widens ? arena_printf("(%s)%s", p->d->type[DT_I64],
				expr_at(p, u->src[0], PREC_UNARY)) :
			expr_at(p, u->src[0], prec);
}

static Text infix(Printer *p, UOp *u, const char *op)
{
	/* compilers warn about mixed operators: only + - * / % need no parentheses */
	int prec = operator_prec(op);
	bool loose = prec >= PREC_ADD;
	int left = loose ? prec : PREC_UNARY, right = loose ? prec + 1 : PREC_UNARY;
	return TEXT(prec, "%s %s %s", first_at(p, u, left), op, expr_at(p, u->src[1], right));
}

static bool known_small(UOp *u)
{
	int64_t lo, hi;
	ix_bounds(u, &lo, &hi);
	return u->dtype == DT_I64 && lo != INT64_MIN && hi != INT64_MAX;
}

/* Signed sums and products wrap: in C by a compiler flag, elsewhere through the unsigned type. */
static Text wrapping(Printer *p, UOp *u)
{
	const char *op = op_info[u->op].c_text;
	int prec = operator_prec(op);
	bool plain = dtype_float(u->dtype) || (dtype_size(u->dtype) >= 4 &&
		(p->d->wraps || !dtype_signed(u->dtype) || known_small(u)));
	if (plain)
		return infix(p, u, op);
	DType via = dtype_size(u->dtype) == 8 ? DT_U64 : DT_U32;
	if (p->d->wraps)
		return TEXT(PREC_UNARY, "(%s)(%s %s %s)", value_type(p, u),
			expr_at(p, u->src[0], prec), op, expr_at(p, u->src[1], prec + 1));
	return TEXT(PREC_UNARY, "(%s)((%s)%s %s (%s)%s)", value_type(p, u), p->d->type[via],
		expr_at(p, u->src[0], PREC_UNARY), op, p->d->type[via],
		expr_at(p, u->src[1], PREC_UNARY));
}

static Text infix_text(Printer *p, UOp *u) { return infix(p, u, op_info[u->op].c_text); }

static Text sum_text(Printer *p, UOp *u)
{
	if (u->dtype == DT_BOOL)
		return infix(p, u, op_info[u->op].c_bool);
	/* x + -3 reads better as x - 3 */
	int64_t v;
	if (u->op == OP_ADD && dtype_int(u->dtype) && dtype_size(u->dtype) >= 4 &&
	    (p->d->wraps || known_small(u)) && const_is_int(u->src[1], &v) && v < 0 &&
	    v > -INT32_MAX)
		return TEXT(PREC_ADD, "%s - %lld", first_at(p, u, PREC_ADD), (long long)-v);
	return wrapping(p, u);
}

static Text neg_text(Printer *p, UOp *u)
{
	const char *x = expr_at(p, u->src[0], PREC_ATOM);
	if (dtype_float(u->dtype) ||
		(dtype_size(u->dtype) >= 4 && (p->d->wraps || !dtype_signed(u->dtype))))
		return TEXT(PREC_UNARY, "-%s", x);
	DType via = dtype_size(u->dtype) == 8 ? DT_U64 : DT_U32;
	return TEXT(PREC_UNARY, "(%s)(0 - (%s)%s)", value_type(p, u), p->d->type[via], x);
}

static Text call(Printer *p, UOp *u, const char *fn)
{
	const char *a = expr_at(p, u->src[0], PREC_ANY);
	if (u->nsrc == 1)
		return TEXT(PREC_ATOM, "%s(%s)", fn, a);
	return TEXT(PREC_ATOM, "%s(%s, %s)", fn, a, expr_at(p, u->src[1], PREC_ANY));
}

static Text helper_text(Printer *p, UOp *u)
{
	return call(p, u, is_narrow(p, u) ? helper_places(&p->helpers, u->op) :
						    helper_binary(&p->helpers, u->op, u->dtype));
}

const char *language_function(const Dialect *d, Op op, DType t)
{
	const char *named = d->named[op];
	char name[64];
	if (named)
		return named;
	snprintf(name, sizeof name, d->function[t == DT_F64], op_info[op].c_text);
	return arena_strdup(name);
}

static Text function_text(Printer *p, UOp *u)
{
	if (!dtype_float(u->dtype))
		return helper_text(p, u);
	return call(p, u, language_function(p->d, u->op, u->dtype));
}

static Text extreme_text(Printer *p, UOp *u)
{
	return u->dtype == DT_BOOL ? infix(p, u, op_info[u->op].c_bool) : helper_text(p, u);
}

static Text division_text(Printer *p, UOp *u)
{
	return op_is_simple(u) ? infix_text(p, u) : helper_text(p, u);
}

static Text compare_text(Printer *p, UOp *u)
{
	/* compilers warn about < between conditions */
	if (u->op == OP_CMPLT && u->src[0]->dtype == DT_BOOL)
		return TEXT(PREC_WHERE + 1, "!%s && %s", expr_at(p, u->src[0], PREC_ATOM),
			expr_at(p, u->src[1], PREC_ATOM));
	const char *op = op_info[u->op].c_text;
	return TEXT(operator_prec(op), "%s %s %s", expr_at(p, u->src[0], PREC_ADD), op,
		expr_at(p, u->src[1], PREC_ADD));
}

static Text shift_text(Printer *p, UOp *u)
{
	int64_t by;
	if (!op_is_simple(u) || !const_is_int(u->src[1], &by))
		return helper_text(p, u);
	const char *x = expr_at(p, u->src[0], PREC_UNARY), *op = op_info[u->op].c_text;
	if (u->op == OP_SHR)
		return TEXT(PREC_SHIFT, "%s %s %d", first_at(p, u, PREC_UNARY), op, (int)by);
	DType via = dtype_size(u->dtype) == 8 ? DT_U64 : DT_U32;
	return TEXT(PREC_UNARY, "(%s)((%s)%s %s %d)", value_type(p, u), p->d->type[via], x, op,
		(int)by);
}

/* compilers want conditions of & and | in parentheses */
static Text where_text(Printer *p, UOp *u)
{
	return TEXT(PREC_WHERE, "%s ? %s : %s", expr_at(p, u->src[0], PREC_EQ),
		expr_at(p, u->src[1], PREC_OR), expr_at(p, u->src[2], PREC_WHERE));
}

static Text recip_text(Printer *p, UOp *u)
{
	return TEXT(PREC_MUL, "%s / %s", u->dtype == DT_F64 ? "1.0" : "1.0f",
		expr_at(p, u->src[0], PREC_UNARY));
}

static Text mulacc_text(Printer *p, UOp *u)
{
	const char *fn = helper_mulacc(&p->helpers, u->dtype);
	if (fn)
		return TEXT(PREC_ATOM, "%s(%s, %s, %s)", fn, expr_at(p, u->src[0], PREC_ANY),
			expr_at(p, u->src[1], PREC_ANY), expr_at(p, u->src[2], PREC_ANY));
	if (u->dtype == DT_BOOL)
		return TEXT(PREC_OR, "(%s & %s) | %s", expr_at(p, u->src[0], PREC_UNARY),
			expr_at(p, u->src[1], PREC_UNARY), expr_at(p, u->src[2], PREC_UNARY));
	if (!dtype_float(u->dtype) && !p->d->wraps) {
		const char *via = p->d->type[dtype_size(u->dtype) == 8 ? DT_U64 : DT_U32];
		return TEXT(PREC_UNARY, "(%s)((%s)%s * (%s)%s + (%s)%s)", value_type(p, u), via,
			expr_at(p, u->src[0], PREC_UNARY), via, expr_at(p, u->src[1], PREC_UNARY),
			via, expr_at(p, u->src[2], PREC_UNARY));
	}
	return TEXT(PREC_ADD, "%s * %s + %s", expr_at(p, u->src[0], PREC_MUL),
		expr_at(p, u->src[1], PREC_UNARY), expr_at(p, u->src[2], PREC_MUL));
}

/* ---- conversions */

static const char *wide_text(Printer *p, UOp *x)
{
	if (!dtype_half(x->dtype))
		return expr_at(p, x, PREC_ANY);
	return arena_printf(
		"%s(%s)", helper_cast(&p->helpers, DT_F32, x->dtype), expr_at(p, x, PREC_ANY));
}

static Text to_bool(Printer *p, UOp *x)
{
	const char *s = expr_at(p, x, PREC_ADD);
	if (dtype_half(x->dtype))
		return TEXT(PREC_EQ, "(%s & 0x7fff) != 0", expr_at(p, x, PREC_UNARY));
	return TEXT(PREC_EQ, "%s != %s", s, zero_text(x->dtype));
}

static Text to_half(Printer *p, DType to, UOp *x)
{
	DType from = x->dtype;
	bool direct = from == DT_F32 || from == DT_F64 || dtype_half(from);
	if (!direct && to == DT_BF16 && dtype_size(from) >= 4)
		return TEXT(PREC_ATOM, "%s(%s)", helper_cast(&p->helpers, to, from),
			expr_at(p, x, PREC_ANY));
	/* f16: every integer below its limit is exact in f32, or far from halfway */
	const char *s = direct ? wide_text(p, x) :
				 arena_printf("(float)%s", expr_at(p, x, PREC_UNARY));
	return TEXT(PREC_ATOM, "%s(%s)",
		helper_cast(&p->helpers, to, from == DT_F64 ? DT_F64 : DT_F32), s);
}

static Text cast_text(Printer *p, UOp *u)
{
	UOp *x = u->src[0];
	DType to = u->dtype, from = x->dtype;
	if (to == from)
		return *slot(p, x);
	if (to == DT_BOOL)
		return to_bool(p, x);
	if (dtype_half(to))
		return to_half(p, to, x);
	if (dtype_half(from) && to == DT_F32)
		return text_of(wide_text(p, x), PREC_ATOM);
	if (dtype_int(to) && dtype_float(from))
		return TEXT(PREC_ATOM, "%s(%s)",
			helper_cast(&p->helpers, to, dtype_half(from) ? DT_F32 : from),
			wide_text(p, x));
	if (dtype_half(from))
		return TEXT(PREC_UNARY, "(%s)%s", value_type(p, u), wide_text(p, x));
	return TEXT(PREC_UNARY, "(%s)%s", value_type(p, u), expr_at(p, x, PREC_UNARY));
}

static Text bitcast_text(Printer *p, UOp *u)
{
	DType from = u->src[0]->dtype;
	bool reinterprets = u->dtype == DT_F32 || u->dtype == DT_F64 || from == DT_F32 ||
		from == DT_F64;
	if (u->dtype == from)
		return *slot(p, u->src[0]);
	if (u->dtype == DT_BOOL)
		return to_bool(p, u->src[0]);
	if (reinterprets)
		return TEXT(PREC_ATOM, "%s(%s)", helper_bits(&p->helpers, u->dtype, from),
			expr_at(p, u->src[0], PREC_ANY));
	return TEXT(PREC_UNARY, "(%s)%s", value_type(p, u), expr_at(p, u->src[0], PREC_UNARY));
}

/* ---- places */

static bool one_element(const UOp *storage)
{
	return storage->op == OP_DEFINE_REG && storage->arg->a[1]->kind == VAL_INT &&
		storage->arg->a[1]->i == 1;
}

UOp *place_of(const Printer *p, const UOp *index)
{
	if (index->nsrc != 2 || !map_get(&p->names, PKEY(index->src[0])))
		die(MALFORMED, "node %u INDEX: its storage is not declared, or it is not flat",
			index->id);
	return index->src[1];
}

const char *expr_place(Printer *p, UOp *index)
{
	UOp *place = place_of(p, index);
	const char *name = map_get(&p->names, PKEY(index->src[0])), *at = place_pointed(p, index);
	if (at || one_element(index->src[0]))
		return at ? at : name;
	return arena_printf("%s[%s]", name, expr_at(p, place, PREC_ANY));
}

static Text load_text(Printer *p, UOp *u)
{
	const char *place = expr_place(p, u->src[0]);
	bool byte = u->dtype == DT_BOOL && u->src[0]->src[0]->op == OP_PARAM;
	if (byte)
		place = arena_printf("%s != 0", place);
	if (u->nsrc == 1 || u->src[1] == p->gate)
		return text_of(place, byte ? PREC_EQ : PREC_ATOM);
	return TEXT(PREC_WHERE, "%s ? %s : %s", expr_at(p, u->src[1], PREC_EQ),
		byte ? arena_printf("(%s)", place) : place, zero_text(u->dtype));
}

/* ---- the forms of ops.h */

static Text (*const forms[C_COUNT])(Printer *, UOp *) = {
#define FORM(NAME, fn) [C_##NAME] = fn,
	C_FORMS(FORM)
#undef FORM
};

static void cut_long(Printer *p, UOp *u, Text *t)
{
	for (uint32_t i = 0; i < u->nsrc; i++)
		t->depth = slot(p, u->src[i])->depth + 1 > t->depth ?
			slot(p, u->src[i])->depth + 1 :
			t->depth;
	if (u->op == OP_INDEX || (t->depth < DEEPEST && strlen(t->s) < LONGEST))
		return;
	const char *name = arena_printf("t%d", p->temps++);
	print_line(p, "const %s %s = %s;", value_type(p, u), name, t->s);
	*t = text_of(name, PREC_ATOM);
}

static void make_text(Printer *p, UOp *u)
{
	const char *name = map_get(&p->names, PKEY(u));
	Text t = {"", PREC_ATOM, 0};
	if (name)
		t.s = name;
	else if (!p->d->value && u->op == OP_BROADCAST)
		t = *slot(p, u->src[0]);
	else if (p->vectors && u->op == OP_SHUFFLE)
		t = vector_lane(p, u);
	else if (p->d->value && u->op != OP_INDEX)
		t.s = p->d->value(p, u);
	else if (!p->d->value && forms[op_info[u->op].c])
		t = forms[op_info[u->op].c](p, u);
	else if (u->op != OP_INDEX)
		t.s = NULL;
	if (!t.s)
		die(MALFORMED, "node %u %s: used where it has no value", u->id, op_name(u->op));
	if (!name && !p->d->value && u->op != OP_BROADCAST)
		cut_long(p, u, &t);
	*slot(p, u) = t;
	p->texts->at[u->id].statement = p->texts->round;
}

void make_first(Printer *p, UOp *root, const Making *m)
{
	VEC(UOp *) stack = {0};
	if (m->made(p, root))
		return;
	vec_push(&stack, root);
	while (stack.n) {
		UOp *u = stack.at[stack.n - 1];
		size_t n = stack.n;
		bool made = m->made(p, u);
		for (uint32_t i = 0; !made && i < u->nsrc; i++)
			if (m->needs(p, u, i) && !m->made(p, u->src[i]))
				vec_push(&stack, u->src[i]);
		if (stack.n > n)
			continue;
		if (!made)
			m->make(p, u);
		stack.n--;
	}
	vec_free(&stack);
}

static bool has_text(Printer *p, UOp *u)
{
	slot(p, u);
	return p->texts->at[u->id].statement == p->texts->round;
}

/* a node that has a name (a LET, a range, storage) needs no text for its sources, nor has a place
 * with a pointer */
static bool needs_text(Printer *p, UOp *u, uint32_t i)
{
	return !map_get(&p->names, PKEY(u)) && u->op != OP_SHUFFLE &&
		!(u->op == OP_INDEX && place_pointed(p, u));
}

Text expr_text(Printer *p, UOp *u)
{
	static const Making texts = {has_text, needs_text, make_text};
	make_first(p, u, &texts);
	return *slot(p, u);
}
