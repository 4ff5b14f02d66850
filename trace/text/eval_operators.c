/* Infix and prefix operators on values: numbers and sizes are computed now, tensors become nodes.
 *
 *     2 * 3     the number 6       n // 2    a size       x + 2   ADD(x, CONST 2 of x's dtype)
 *
 * A number, a list of numbers or a size takes the dtype of the tensor it is combined with where it
 * can (an integer with any numeric dtype, a float with floats); else it is i32 or f32. */
#include "interp/interp.h"
#include "text/text.h"
#include <math.h>

static const char *operator_text(int op)
{
	Token t = {.kind = op};
	return token_text(&t);
}

static bool is_compare(int op) { return operator_precedence(op) == INFIX_COMPARE; }

/* ---- numbers: computed by the interpreter, except that integer overflow is an error */

/* *out = op(*a, *b), elements of dt */
static void interpret(Op op, DType dt, const void *a, const void *b, void *out)
{
	static const int step[2] = {0, 0};
	interp_op(op, op_gives(op, dt, dt), dt, 1, out, (const void *[]){a, b}, step);
}

static bool compare(int op, DType dt, const void *a, const void *b)
{
	uint8_t holds;
	switch (op) {
	case '>': return compare(OPERATOR(CMPLT), dt, b, a);
	case T_GE: return compare(T_LE, dt, b, a);
	case T_LE: return compare(OPERATOR(CMPLT), dt, a, b) || compare(OPERATOR(CMPEQ), dt, a, b);
	default: interpret(operator_op(op), dt, a, b, &holds); return holds;
	}
}

static double floor_mod(double a, double b)
{
	double r = fmod(a, b);
	return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

static Value operate_floats(int op, double a, double b)
{
	int o = operator_op(op);
	double r;
	if (is_compare(op))
		return v_bool(compare(op, DT_F64, &a, &b));
	if (op == OPERATOR(FLOORDIV))
		return v_float(floor(a / b));
	if (op == OPERATOR(FLOORMOD))
		return v_float(floor_mod(a, b));
	if (o < 0 || !op_takes(o, DT_F64))
		die(MALFORMED, "%s does not take fractions", operator_text(op));
	interpret(o, DT_F64, &a, &b, &r);
	return v_float(r);
}

static bool int_power(int64_t a, int64_t n, int64_t *r)
{
	for (*r = 1; n; n >>= 1) {
		if ((n & 1) && !mul_ok(*r, a, r))
			return false;
		if (n > 1 && !mul_ok(a, a, &a))
			return false;
	}
	return true;
}

static int64_t floor_div(int64_t a, int64_t b)
{
	int64_t q = a / b;
	return q - (a % b != 0 && (a < 0) != (b < 0));
}

static Value divide_ints(int op, int64_t a, int64_t b)
{
	if (!b)
		die(MALFORMED, "%s by 0", operator_text(op));
	if (op == OPERATOR(FDIV))
		return v_float((double)a / b);
	if (b == -1 && a == INT64_MIN)
		die(MALFORMED, "the integer is beyond 64 bits");
	return v_int(op == OPERATOR(FLOORMOD) ? a - b * floor_div(a, b) : floor_div(a, b));
}

static Value operate_ints(int op, int64_t a, int64_t b)
{
	int64_t r = 0;
	bool ok = true;
	if (is_compare(op))
		return v_bool(compare(op, DT_I64, &a, &b));
	switch (op) {
	case OPERATOR(ADD): ok = add_ok(a, b, &r); break;
	case OPERATOR(SUB): ok = !__builtin_sub_overflow(a, b, &r); break;
	case OPERATOR(MUL): ok = mul_ok(a, b, &r); break;
	case OPERATOR(FDIV):
	case OPERATOR(FLOORDIV):
	case OPERATOR(FLOORMOD): return divide_ints(op, a, b);
	case OPERATOR(POW):
		if (b < 0)
			return v_float(pow(a, b));
		ok = int_power(a, b, &r);
		break;
	case OPERATOR(SHL): ok = b >= 0 && b < 63 && mul_ok(a, (int64_t)1 << b, &r); break;
	case OPERATOR(SHR):
		ok = b >= 0;
		r = ok ? a >> (b > 63 ? 63 : b) : 0;
		break;
	default:
		if (operator_op(op) < 0)
			die(MALFORMED, "%s does not take numbers", operator_text(op));
		interpret(operator_op(op), DT_I64, &a, &b, &r);
	}
	if (!ok)
		die(MALFORMED, "the integer is beyond 64 bits");
	return v_int(r);
}

static Value operate_numbers(int op, const Value *a, const Value *b)
{
	bool huge = a->f > (double)INT64_MAX || b->f > (double)INT64_MAX;
	if (a->is_int && b->is_int && !huge)
		return operate_ints(op, a->i, b->i);
	return operate_floats(op, a->f, b->f);
}

/* ---- sizes */

static bool sized(const Value *v)
{
	return v->kind == V_SIZE || (v->kind == V_NUMBER && v->is_int);
}

/* true and *out set if the operator gives a size, or a comparison with the same outcome for every
 * value of the size variables */
static bool operate_sizes(int op, UOp *a, UOp *b, Value *out)
{
	int64_t divisor;
	int o = operator_op(op);
	switch (op) {
	case '>': return operate_sizes(OPERATOR(CMPLT), b, a, out);
	case T_GE: return operate_sizes(T_LE, b, a, out);
	case OPERATOR(CMPLT):
		*out = v_bool(ix_prove_lt(a, b));
		return out->i || ix_prove_le(b, a);
	case T_LE:
		*out = v_bool(ix_prove_le(a, b));
		return out->i || ix_prove_lt(b, a);
	case OPERATOR(CMPEQ):
	case OPERATOR(CMPNE):
		if (a == b)
			return *out = v_bool(o == OP_CMPEQ), true;
		*out = v_bool(o == OP_CMPNE);
		return ix_prove_lt(a, b) || ix_prove_lt(b, a);
	default:
		if (o < 0 || !op_info[o].index)
			return false;
		if ((o == OP_FLOORDIV || o == OP_FLOORMOD) && ix_is_const(b, &divisor) && !divisor)
			die(MALFORMED, "%s by 0", operator_text(op));
		return *out = v_size(ix_op(o, a, b)), true;
	}
}

/* ---- tensors */

static UOp *operate_tensors(int op, UOp *a, UOp *b)
{
	switch (op) {
	case '@': return t_matmul(a, b);
	case '>': return t_lt(b, a);
	/* not (b < a) would be true for NaN: floats use a < b or a == b */
	case T_LE:
		return dtype_float(dtype_promote(a->dtype, b->dtype)) ?
			t_or(t_lt(a, b), t_eq(a, b)) :
			t_not(t_lt(b, a));
	case T_GE: return operate_tensors(T_LE, b, a);
	default: return t_op2(operator_op(op), a, b);
	}
}

static UOp *operand(int op, const Value *v, const Value *other)
{
	DType like = other->kind == V_TENSOR ? other->u->dtype : weak_dtype(other, DT_NONE);
	/* a number that is data takes no dtype from one that is known */
	if (v->kind == V_TENSOR && v->weak && other->kind != V_TENSOR)
		like = v->u->dtype;
	UOp *u = v->kind == V_NONE || v->kind == V_STR ? NULL : value_tensor(v, like);
	if (!u)
		die(MALFORMED, "%s does not take %s", operator_text(op), value_text(v));
	return u;
}

/* i64 + 0.5 is f32: the literal is weak, so the integers are cast to its dtype. Comparisons cast
 * nothing, to stay exact. */
static void follow_fraction(int op, const Value *a, UOp **x, UOp *y)
{
	if (a->kind == V_TENSOR && !dtype_float((*x)->dtype) && dtype_float(y->dtype) &&
		!is_compare(op))
		*x = t_cast(*x, y->dtype);
}

/* Lists are joined by +; texts, and anything with none, are compared by == and !=. */
static bool operate_lists(int op, const Value *a, const Value *b, Value *out)
{
	bool equality = op == OPERATOR(CMPEQ) || op == OPERATOR(CMPNE);
	if (op == OPERATOR(ADD) && lists_join(a, b, out))
		return true;
	if (a->kind == V_STR && b->kind == V_STR && equality)
		return *out = v_bool(!strcmp(a->s, b->s) == (op == OPERATOR(CMPEQ))), true;
	if ((a->kind == V_NONE || b->kind == V_NONE) && equality)
		return *out = v_bool((a->kind == b->kind) == (op == OPERATOR(CMPEQ))), true;
	if (a->kind != V_LIST || b->kind != V_LIST || op != OPERATOR(ADD))
		return false;
	size_t n = a->n + b->n;
	if (n > MAX_EXPRS)
		die(MALFORMED, "a list of more than %d elements", MAX_EXPRS);
	Value *at = arena_alloc((n + 1) * sizeof *at);
	memcpy(at, a->at, a->n * sizeof *at);
	memcpy(at + a->n, b->at, b->n * sizeof *at);
	return *out = v_list(n, at), true;
}

Value operate(int op, const Value *a, const Value *b)
{
	Value v, number[2] = {*a, *b};
	if (operate_lists(op, a, b, &v))
		return v;
	if ((a->kind == V_NUMBER || a->kind == V_BOOL) &&
		(b->kind == V_NUMBER || b->kind == V_BOOL)) {
		for (int i = 0; i < 2; i++)
			if (number[i].kind == V_BOOL)
				number[i] = v_int(number[i].i);
		v = operate_numbers(op, &number[0], &number[1]);
		int o = operator_op(op);
		bool bits = o == OP_AND || o == OP_OR || o == OP_XOR;
		return bits && a->kind == V_BOOL && b->kind == V_BOOL ? v_bool(v.i) : v;
	}
	if (sized(a) && sized(b) && operate_sizes(op, value_size(a), value_size(b), &v))
		return v;
	UOp *x = operand(op, a, b), *y = operand(op, b, a);
	if (b->kind != V_TENSOR || b->weak)
		follow_fraction(op, a, &x, y);
	if (a->kind != V_TENSOR || a->weak)
		follow_fraction(op, b, &y, x);
	v = v_tensor(operate_tensors(op, x, y));
	v.weak = value_weak(a) && value_weak(b) && !is_compare(op);
	return v;
}

Value operate_prefix(int op, const Value *a)
{
	Value zero = v_int(0), minus = v_int(-1);
	if (a->kind == V_NUMBER && op == OPERATOR(SUB) && !a->is_int)
		return v_float(-a->f);
	if (a->kind == V_NUMBER && op == OPERATOR(SUB) && a->f > (double)INT64_MAX) {
		if (a->i != INT64_MIN)
			die(MALFORMED, "the integer is beyond 64 bits");
		return v_int(INT64_MIN);
	}
	if (a->kind == V_NUMBER && op == '~' && a->is_int)
		return v_int(~a->i);
	if (a->kind == V_BOOL && op == '~')
		return v_bool(!a->i);
	if (a->kind != V_TENSOR && a->kind != V_LIST)
		return op == '~' ? operate(OPERATOR(XOR), a, &minus) : operate(op, &zero, a);
	UOp *u = value_tensor(a, DT_NONE);
	if (op == OPERATOR(ADD) || op == OPERATOR(SUB)) {
		Value v = v_tensor(op == OPERATOR(ADD) ? u : t_neg(u));
		v.weak = a->weak;
		return v;
	}
	if (u->dtype == DT_BOOL)
		return v_tensor(t_not(u));
	if (!dtype_int(u->dtype))
		die(MALFORMED, "'~' does not take %s", dtype_name(u->dtype));
	uint64_t ones = ~(uint64_t)0;
	return v_tensor(t_op2(OP_XOR, u, const_bits(u->dtype, &ones)));
}

bool value_truth(const Value *v, const char *what)
{
	int64_t i;
	double f;
	switch (v->kind) {
	case V_BOOL: return v->i;
	case V_NUMBER: return v->f != 0;
	case V_NONE: return false;
	case V_LIST: return v->n > 0;
	case V_STR: return *v->s;
	case V_TENSOR:
		if (v->u->op != OP_CONST)
			die(MALFORMED, "%s is a tensor, not known while tracing; use where, & | ~",
				what);
		return const_is_int(v->u, &i) ? i != 0 : !const_is_float(v->u, &f) || f != 0;
	case V_SIZE:
		die(UNSUPPORTED, "%s depends on a size variable, which is not known while tracing",
			what);
	default: die(MALFORMED, "%s is %s, neither true nor false", what, value_text(v));
	}
}

bool number_function(const char *name, const Value *x, Value *out)
{
	static const struct { const char *name; double (*fn)(double);
	} table[] = {
		{"sqrt", sqrt},
		{"exp", exp},
		{"log", log},
		{"exp2", exp2},
		{"log2", log2},
		{"sin", sin},
		{"cos", cos},
		{"tan", tan},
		{"tanh", tanh},
		{"floor", floor},
		{"ceil", ceil},
	};
	if (x->kind != V_NUMBER)
		return false;
	if (!strcmp(name, "abs")) {
		Value zero = v_int(0);
		*out = x->f < 0 ? operate(OPERATOR(SUB), &zero, x) : *x;
		return true;
	}
	for (size_t i = 0; i < sizeof table / sizeof *table; i++)
		if (!strcmp(table[i].name, name))
			return *out = v_float(table[i].fn(x->f)), true;
	return false;
}
