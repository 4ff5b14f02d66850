/* The table of operators, and the evaluation of rows that are calls of the tensor library.
 *
 *     ONNX_FN(Celu, 12, 28, "x; alpha=1.0", "celu(x, alpha)")
 *     node {Celu, input: [h], alpha: 0.5}   →   celu(h, 0.5)
 *
 * A row names the operator's inputs and, after a semicolon, its attributes, in the notation of
 * signatures in functions.def. A name with a default is optional. `*xs` collects all remaining
 * inputs in a list. `@axes` is an input whose value must be known while tracing: a list of integers
 * or sizes, or a single one; `#sizes` one that the data may give, too.
 *
 * The call is made of those names, numbers, texts, lists, and nested calls of functions of the
 * library or of those that operators.def lists as ONNX's own. An outermost list gives the
 * outputs, none in it one that is not supported. */
#include "onnx/onnx.h"
#include <ctype.h>

static const OnnxOp ops[] = {
#define ONNX_FN_IN(domain, name, first, last, params, call) \
	{domain, #name, first, last, NULL, params, call},
#define ONNX_OP_AS(domain, name, function, first, last, how) \
	{domain, #name, first, last, onnx_##function, NULL, NULL},
#include "onnx/operators.def"
	{0}
};

static const Function own[] = {
#define ONNX_OWN(name, params) {#name, params, onnx_own_##name, NULL},
#include "onnx/operators.def"
	{0}
};

const OnnxOp *onnx_op_find(const char *domain, const char *name, int version)
{
	for (const OnnxOp *op = ops; op->name; op++)
		if (!strcmp(op->name, name) && !strcmp(op->domain, domain) &&
			op->first <= version && version <= op->last)
			return op;
	return NULL;
}

static const Function *callee(const char *name)
{
	for (const Function *f = own; f->name; f++)
		if (!strcmp(f->name, name))
			return f;
	return function_find(name);
}

/* ---- the node's inputs and attributes, by their names in the row */

typedef struct { int n; Param p[MAX_PARAMS]; Value at[MAX_PARAMS]; } Row;

static const char *name_of(const Param *p) { return arena_printf("%.*s", (int)p->len, p->name); }

static Value fallback(const Param *p)
{
	const char *s = p->deflt;
	return parse_literal(&s);
}

/* A fraction counts as the integer below: OneHot's depth may be a float. */
static Value fraction(OnnxCall *c, int k)
{
	double f;
	Array a;
	if (!onnx_try_known(c, k, &a) && shape_count(onnx_in(c, k)->shape) == ix_const(1))
		return v_size(t_bind_open("size", onnx_in(c, k), 1));
	if (onnx_known_floats(c, k, &f, 1) != 1 || !(f >= 0 && f < 0x1p62))
		onnx_fail(c, MALFORMED, "its input %d is not a size", k);
	return v_int((int64_t)f);
}

static Value sizes_input(OnnxCall *c, int k, bool known)
{
	if (!known && dtype_float(onnx_in(c, k)->dtype))
		return fraction(c, k);
	UOp *dim[MAX_RANK];
	int n = known ? onnx_known_sizes(c, k, dim) : onnx_bound_sizes(c, k, MAX_RANK, dim);
	Value *at = arena_alloc((n + 1) * sizeof *at);
	for (int i = 0; i < n; i++)
		at[i] = v_size(dim[i]);
	return n == 1 ? at[0] : v_list(n, at);
}

static Value inputs_from(OnnxCall *c, int k)
{
	int n = onnx_nin(c) > k ? onnx_nin(c) - k : 0;
	Value *at = arena_alloc((n + 1) * sizeof *at);
	for (int i = 0; i < n; i++)
		at[i] = v_tensor(onnx_in(c, k + i));
	return v_list(n, at);
}

static Value input(OnnxCall *c, int k, const Param *p)
{
	if (p->star)
		return inputs_from(c, k);
	if (!onnx_has(c, k) && p->deflt)
		return fallback(p);
	return p->known || p->sizes ? sizes_input(c, k, p->known) : v_tensor(onnx_in(c, k));
}

static Value attribute(OnnxCall *c, const Param *p)
{
	const char *name = name_of(p);
	if (onnx_attr_has(c, name))
		return onnx_attr_value(c, name);
	if (!p->deflt)
		onnx_fail(c, MALFORMED, "no attribute %s", name);
	return fallback(p);
}

static void bind(Row *r, OnnxCall *c, const char *params)
{
	size_t inputs = strcspn(params, ";");
	int n = signature_params(arena_printf("%.*s", (int)inputs, params), r->p);
	r->n = n + (params[inputs] ? signature_params(params + inputs + 1, r->p + n) : 0);
	for (int i = 0; i < r->n; i++)
		r->at[i] = i < n ? input(c, i, &r->p[i]) : attribute(c, &r->p[i]);
}

/* ---- the call */

static Value evaluate(const Row *r, const char **s);

static const char *blanks(const char *s) { return s + strspn(s, " "); }

static size_t word_length(const char *s)
{
	size_t n = 0;
	while (isalnum((unsigned char)s[n]) || s[n] == '_')
		n++;
	return n;
}

static const char *take_word(const char **s)
{
	size_t n = word_length(*s);
	const char *word = arena_printf("%.*s", (int)n, *s);
	*s += n;
	return word;
}

/* skips `)` or `]`, or a comma and the space behind it */
static bool ends(const char **s, char close)
{
	*s = blanks(*s);
	CHECK(**s == ',' || **s == close);
	return *(*s)++ == close;
}

static Value list(const Row *r, const char **s)
{
	Value *at = arena_alloc(MAX_PARAMS * sizeof *at);
	size_t n = 0;
	do {
		CHECK(n < MAX_PARAMS);
		at[n++] = evaluate(r, s);
	} while (!ends(s, ']'));
	return v_list(n, at);
}

static Value call(const Row *r, const char **s)
{
	const char *name = take_word(s), *kw[MAX_PARAMS];
	const Function *f = callee(name);
	Value at[MAX_PARAMS];
	size_t n = 0, nkw = 0;
	CHECK(f);
	++*s;
	do {
		CHECK(n < MAX_PARAMS);
		*s = blanks(*s);
		if ((*s)[word_length(*s)] == '=') {
			kw[nkw++] = take_word(s);
			++*s;
		}
		at[n++] = evaluate(r, s);
	} while (!ends(s, ')'));
	return function_call(f, n - nkw, at, nkw, kw, at + n - nkw);
}

static Value evaluate(const Row *r, const char **s)
{
	*s = blanks(*s);
	size_t len = word_length(*s);
	if (**s == '[')
		return ++*s, list(r, s);
	if (!isalpha((unsigned char)**s))
		return parse_literal(s);
	if ((*s)[len] == '(')
		return call(r, s);
	for (int i = 0; i < r->n; i++)
		if (r->p[i].len == len && !memcmp(r->p[i].name, *s, len)) {
			*s += len;
			return r->at[i];
		}
	return parse_literal(s);
}

void onnx_expand_row(OnnxCall *c, const OnnxOp *op)
{
	Row r;
	const char *s = op->call;
	bind(&r, c, op->params);
	Value v = evaluate(&r, &s), *at = v.kind == V_LIST ? v.at : &v;
	size_t n = v.kind == V_LIST ? v.n : 1;
	CHECK(!*s);
	for (size_t k = 0; k < n; k++) {
		CHECK(at[k].kind == V_TENSOR || at[k].kind == V_NONE);
		if (at[k].kind == V_TENSOR && onnx_wants(c, k))
			onnx_set(c, k, at[k].u);
	}
}
