/* Indices and sizes as text, and their evaluation. Sizes are written in the contract's grammar with
 * the fewest parentheses ("n*2-1", "(n+m)//2"); indices for people are fully parenthesised
 * ("((idx1*10)+idx0)"). */
#include "index/ix.h"
#include <ctype.h>
#include <stdlib.h>

/* nodes printed of one index: as text, shared nodes could fill a disk */
enum { TEXT_MOST = 1 << 16 };
enum { NEST_MOST = 200 };          /* nesting of parentheses and signs in a size */

/* ---- printing -------------------------------------------------------------------------------- */

/* Text still to print: a node, within an operator of precedence `outer`, or plain text. */
typedef struct { UOp *u; const char *s; int outer; } Piece;
typedef struct {
	VEC(Piece) todo;
	const char *(*name)(UOp *, void *);
	void *ctx;
	bool full;
} IndexPrinter;

static void push(IndexPrinter *p, UOp *u, const char *s, int outer)
{
	vec_push(&p->todo, ((Piece){u, s, outer}));
}

static const char *leaf_name(UOp *u)
{
	int64_t v;

	if (ix_is_const(u, &v))
		return arena_printf("%lld", (long long)v);
	if (u->op == OP_CONST && u->arg->kind == VAL_BOOL)
		return u->arg->b ? "true" : "false";
	bool array = u->arg->kind == VAL_ARRAY && u->arg->n;
	if (u->op == OP_RANGE && array && u->arg->a[0]->kind == VAL_INT)
		return arena_printf("r%lld", (long long)u->arg->a[0]->i);
	if (u->op == OP_VAR && array && u->arg->a[0]->kind == VAL_STR)
		return u->arg->a[0]->s;
	if (u->op == OP_SPECIAL && u->arg->kind == VAL_STR)
		return u->arg->s;
	return arena_printf("%%%u", u->id);
}

/* The operator of an index or of a condition on indices, else NULL. */
static const char *sign_of(UOp *u)
{
	if (u->op == OP_AND)
		return u->dtype == DT_BOOL ? " and " : NULL;
	return u->op == OP_CMPLT || op_info[u->op].index ? op_info[u->op].infix : NULL;
}

/* "and" is not &: it binds less than all others */
static int strength(UOp *u)
{
	return u->op == OP_AND ? INFIX_NONE : (int)op_info[u->op].precedence;
}

/* "x*-1" or "-1" after a plus is printed as a minus. */
static UOp *minus_of(UOp *u)
{
	int64_t c;

	if (ix_is_const(u, &c) && c < 0 && c != INT64_MIN)
		return ix_const(-c);
	if (u->op != OP_MUL || !ix_is_const(u->src[1], &c) || c >= 0 || c == INT64_MIN)
		return NULL;
	return c == -1 ? u->src[0] : NODE(OP_MUL, DT_I64, VNIL, u->src[0], ix_const(-c));
}

/* x*-1 is printed as -x, unless the minus would bind differently: -n%2 is (-n)%2. */
static bool negative(UOp *u)
{
	int64_t c;

	if (u->op != OP_MUL || !ix_is_const(u->src[1], &c) || c != -1)
		return false;
	for (u = u->src[0]; u->op == OP_MUL; u = u->src[0])
		;
	return !sign_of(u);
}

static void print_one(IndexPrinter *p, Buf *out, Piece x)
{
	const char *sign = sign_of(x.u);
	int own = sign ? strength(x.u) : INFIX_POWER;
	bool parens = sign && (p->full || own < x.outer);
	UOp *second = sign ? x.u->src[1] : NULL, *minus = NULL;

	if (!sign) {
		const char *s = p->name ? p->name(x.u, p->ctx) : NULL;
		buf_printf(out, "%s", s ? s : leaf_name(x.u));
		return;
	}
	if (!p->full && x.outer <= own && negative(x.u)) {
		push(p, x.u->src[0], NULL, own);
		buf_add(out, "-", 1);
		return;
	}
	if (!p->full && x.u->op == OP_ADD && (minus = minus_of(second))) {
		second = minus;
		sign = "-";
	}
	if (parens)
		buf_add(out, "(", 1);
	if (parens)
		push(p, NULL, ")", 0);
	/* operators associate to the left: one of equal precedence on the right needs parentheses
	 */
	push(p, second, NULL, own + 1);
	push(p, NULL, sign, 0);
	push(p, x.u->src[0], NULL, own);
}

static void print(Buf *out, UOp *u, bool full, const char *(*name)(UOp *, void *), void *ctx)
{
	IndexPrinter p = {.name = name, .ctx = ctx, .full = full};
	int printed = 0;

	for (push(&p, u, NULL, 0); p.todo.n; ) {
		Piece x = p.todo.at[--p.todo.n];
		if (!x.u) {
			buf_add(out, x.s, strlen(x.s));
		} else if (++printed <= TEXT_MOST) {
			print_one(&p, out, x);
		} else {
			buf_printf(out, "…");
			break;
		}
	}
	vec_free(&p.todo);
}

void ix_print(Buf *out, UOp *u, const char *(*name)(UOp *, void *), void *ctx)
{
	print(out, u, true, name, ctx);
}

const Val *size_to_val(UOp *size)
{
	int64_t v;
	Buf b = {0};

	if (ix_is_const(size, &v))
		return val_int(v);
	print(&b, size, false, NULL, NULL);
	const Val *s = val_strn(b.s, b.n);
	buf_free(&b);
	return s;
}

/* ---- variables ------------------------------------------------------------------------------- */

static ARENA struct { UOp **at; size_t n; } vars;
static ARENA VEC(UOp *) bound;
/* Texts of sizes that were parsed, until other names stand for variables. */
static ARENA Map parsed;

bool size_name(const Val *v)
{
	if (v->kind != VAL_STR || !v->n || isdigit((unsigned char)v->s[0]))
		return false;
	for (size_t i = 0; i < v->n; i++)
		if (!(isalnum((unsigned char)v->s[i]) && (unsigned char)v->s[i] < 128) &&
			v->s[i] != '_')
			return false;
	return true;
}

static const char *declare(const Val *name, const Val *range)
{
	if (!size_name(name))
		return "a size variable's name is not made of letters, digits and _";
	if (vars_find(name->s, name->n))
		return arena_printf("size variable %.100s is declared twice", name->s);
	if (range->kind != VAL_ARRAY || range->n != 2
	    || range->a[0]->kind != VAL_INT || range->a[1]->kind != VAL_INT
	    || range->a[0]->i < 0 || range->a[1]->i < range->a[0]->i)
		return arena_printf(
			"size variable %.100s is not [min, max] with 0 <= min <= max", name->s);
	vars.at[vars.n++] = ix_var(name->s, range->a[0]->i, range->a[1]->i);
	return NULL;
}

const char *vars_declare(const Val *map)
{
	vars.n = 0;
	map_free(&parsed);
	if (!map || map->kind == VAL_NIL)
		return NULL;
	if (map->kind != VAL_MAP)
		return "vars is not a map";
	if (map->n > 64)
		return "more than 64 size variables";
	vars.at = arena_alloc((map->n + 1) * sizeof *vars.at);
	for (size_t i = 0; i < map->n; i++) {
		const char *err = declare(map->a[2 * i], map->a[2 * i + 1]);
		if (err)
			return err;
	}
	return NULL;
}

UOp *vars_find(const char *name, size_t n)
{
	for (size_t i = 0; i < vars.n; i++) {
		const Val *v = vars.at[i]->arg->a[0];
		if (v->n == n && !memcmp(v->s, name, n))
			return vars.at[i];
	}
	for (size_t i = 0; i < bound.n; i++) {
		const Val *v = bound.at[i]->arg->a[0];
		if (v->n == n && !memcmp(v->s, name, n))
			return bound.at[i];
	}
	return NULL;
}

UOp *vars_bind(const char *name, int64_t min, int64_t max)
{
	UOp *var = ix_var(name, min, max);
	vec_push(&bound, var);
	map_free(&parsed);
	return var;
}

void vars_unbind(void)
{
	bound.n = 0;
	map_free(&parsed);
}

bool var_is_bound(const UOp *var)
{
	for (size_t i = 0; i < bound.n; i++)
		if (bound.at[i] == var)
			return true;
	return false;
}

bool size_is_bound(const UOp *size)
{
	bool is = size->op == OP_VAR && var_is_bound(size);
	for (uint32_t i = 0; !is && i < size->nsrc; i++)
		is = size_is_bound(size->src[i]);
	return is;
}

/* ---- parsing --------------------------------------------------------------------------------- */

/* sum: product {(+|-) product};  product: factor {(*|//|%) factor}, as ops.def spells them;
 * factor: -factor | int | name | (sum) */
typedef struct { const char *s, *end, *err; int nest; } IndexReader;

static UOp *read_sum(IndexReader *r);

static UOp *fail(IndexReader *r, const char *err)
{
	if (!r->err)
		r->err = err;
	return ix_const(0);
}

static int peek(IndexReader *r)
{
	while (r->s < r->end && (*r->s == ' ' || *r->s == '\t'))
		r->s++;
	return r->s < r->end ? (unsigned char)*r->s : -1;
}

static bool name_char(int c)
{
	return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
		(c >= '0' && c <= '9');
}

static UOp *read_int(IndexReader *r)
{
	int64_t v = 0;

	for (; r->s < r->end && *r->s >= '0' && *r->s <= '9'; r->s++)
		if (!mul_ok(v, 10, &v) || !add_ok(v, *r->s - '0', &v))
			return fail(r, "a number in a size is too large");
	if (r->s < r->end && name_char((unsigned char)*r->s))
		return fail(r, "a number in a size runs into a name");
	return ix_const(v);
}

static UOp *read_name(IndexReader *r)
{
	const char *start = r->s;

	while (r->s < r->end && name_char((unsigned char)*r->s))
		r->s++;
	UOp *v = vars_find(start, r->s - start);
	int n = r->s - start < 100 ? (int)(r->s - start) : 100;
	return v ? v : fail(r, arena_printf("size variable %.*s is not declared", n, start));
}

/* The result of an operator; if both operands are numbers but the result is not, it overflowed. */
static UOp *checked(IndexReader *r, UOp *a, UOp *b, UOp *result)
{
	int64_t v;

	if (ix_is_const(a, &v) && ix_is_const(b, &v) && !ix_is_const(result, &v))
		return fail(r, "a number in a size is too large");
	return result;
}

static UOp *read_factor(IndexReader *r)
{
	int c = peek(r);

	if (r->err)
		return ix_const(0);
	if (r->nest >= NEST_MOST)
		return fail(r, "a size is nested too deeply");
	if (c == '-') {
		r->s++;
		r->nest++;
		UOp *x = read_factor(r);
		r->nest--;
		return checked(r, x, x, ix_sub(ix_const(0), x));
	}
	if (c == '(') {
		r->s++;
		r->nest++;
		UOp *x = read_sum(r);
		r->nest--;
		if (peek(r) != ')')
			return fail(r, "a size lacks a )");
		r->s++;
		return x;
	}
	if (c >= '0' && c <= '9')
		return read_int(r);
	if (name_char(c))
		return read_name(r);
	return fail(r, c < 0 ? "a size ends early" : "a size has an unexpected character");
}

/* the op of that strength whose operator stands here; -1: none */
static int read_operator(IndexReader *r, OpInfix strength)
{
	size_t n;
	int op = peek(r) < 0 ? -1 : op_infix(r->s, r->end - r->s, &n);

	if (op == OP_FDIV)
		fail(r, "a size has a / that is not //");
	if (op < 0 || op_info[op].precedence != strength || !op_info[op].index)
		return -1;
	r->s += n;
	return op;
}

static UOp *read_product(IndexReader *r)
{
	UOp *a = read_factor(r), *b;
	int64_t v;

	for (int op; !r->err && (op = read_operator(r, INFIX_PRODUCT)) >= 0; ) {
		b = read_factor(r);
		if (op != OP_MUL && !r->err && ix_is_const(b, &v) && !v)
			return fail(r, "a size divides by 0");
		if (!r->err)
			a = checked(r, a, b, ix_op(op, a, b));
	}
	return a;
}

static UOp *read_sum(IndexReader *r)
{
	UOp *a = read_product(r), *b;

	for (int op; !r->err && (op = read_operator(r, INFIX_SUM)) >= 0; ) {
		b = read_product(r);
		if (!r->err)
			a = checked(r, a, b, ix_op(op, a, b));
	}
	return a;
}

UOp *ix_parse(const char *text, size_t n, const char **err)
{
	IndexReader r = {text, text + n, NULL, 0};
	UOp *u = read_sum(&r);

	if (!r.err && peek(&r) >= 0)
		fail(&r, "a size has text after its end");
	*err = r.err;
	return r.err ? NULL : u;
}

UOp *size_from_val(const Val *v, const char **err)
{
	int64_t lo, hi;
	UOp *u = map_get(&parsed, PKEY(v));

	*err = NULL;
	if (u)
		return u;
	if (v->kind == VAL_INT)
		u = ix_const(v->i);
	else if (v->kind == VAL_STR)
		u = ix_parse(v->s, v->n, err);
	else
		*err = v->kind == VAL_UINT ? "a size is too large" :
					     "a size is neither an int nor text";
	if (!u)
		return NULL;
	ix_bounds(u, &lo, &hi);
	if (hi < 0) {
		*err = "a size is negative";
		return NULL;
	}
	if (v->kind == VAL_STR)
		map_put(&parsed, PKEY(v), u);
	return u;
}

/* ---- values ---------------------------------------------------------------------------------- */

static bool apply(UOp *u, int64_t a, int64_t b, int64_t *v)
{
	switch (u->op) {
	case OP_ADD: return add_ok(a, b, v);
	case OP_SUB: return !__builtin_sub_overflow(a, b, v);
	case OP_MUL: return mul_ok(a, b, v);
	case OP_MIN: *v = a < b ? a : b; return true;
	case OP_MAX: *v = a > b ? a : b; return true;
	case OP_FLOORDIV:
	case OP_FLOORMOD:
		if (!b)
			return false;
		if (b == -1) {
			*v = 0;
			return u->op == OP_FLOORMOD || mul_ok(a, -1, v);
		}
		*v = a / b - (a % b && (a < 0) != (b < 0));
		if (u->op == OP_FLOORMOD)
			*v = a - *v * b;
		return true;
	default: return false;
	}
}

static bool leaf_value(UOp *u, const VarEnv *env, int64_t *v)
{
	if (ix_is_const(u, v))
		return true;
	for (int i = 0; u->op == OP_VAR && i < env->n; i++)
		if (val_is_str(u->arg->a[0], env->name[i])) {
			*v = env->value[i];
			return true;
		}
	return false;
}

typedef struct { VEC(UOp *) todo; VEC(int64_t) value; Map done; } Evaluation;

/* The value of u if it is a leaf or computed already: 1 yes, 0 its sources are needed first, -1 it
 * has no value. */
static int value_of(Evaluation *e, UOp *u, const VarEnv *env, int64_t *v)
{
	void *at;

	if (leaf_value(u, env, v))
		return 1;
	bool end = u->op == OP_MIN || u->op == OP_MAX;
	if ((!sign_of(u) && !end) || u->dtype != DT_I64)
		return -1;
	if (!(at = map_get(&e->done, PKEY(u))))
		return 0;
	*v = e->value.at[(size_t)(uintptr_t)at - 1];
	return 1;
}

bool ix_eval(UOp *u, const VarEnv *env, int64_t *v)
{
	Evaluation e = {0};
	int64_t a, b;
	int have;

	if ((have = value_of(&e, u, env, v)))
		return have > 0;
	/* most have no more than two terms */
	if (leaf_value(u->src[0], env, &a) && leaf_value(u->src[1], env, &b))
		return apply(u, a, b, v);
	vec_push(&e.todo, u);
	while (e.todo.n) {
		UOp *x = e.todo.at[e.todo.n - 1];
		int p = value_of(&e, x->src[0], env, &a), q = value_of(&e, x->src[1], env, &b);
		if (p < 0 || q < 0)
			break;
		if (!p)
			vec_push(&e.todo, x->src[0]);
		if (!q)
			vec_push(&e.todo, x->src[1]);
		if (!p || !q)
			continue;
		if (!apply(x, a, b, v))
			break;
		vec_push(&e.value, *v);
		map_put(&e.done, PKEY(x), (void *)(uintptr_t)e.value.n);
		e.todo.n--;
	}
	bool ok = !e.todo.n;
	vec_free(&e.todo);
	vec_free(&e.value);
	map_free(&e.done);
	return ok;
}
