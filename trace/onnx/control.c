/* If: one of two branches.
 *
 *     condition known while tracing   the branch taken
 *     any other                       an IF, whose branches are computed when they are taken. Sizes
 *                                     that differ are values of it too, which are bound behind it
 *     branches of different ranks     where sizes decide, the one that the nodes behind it can take
 *     a branch that cannot be         it is never taken: a check says so where the condition is
 *                                     made of sizes; else its content is a size outside its bounds
 */
#include "onnx/proto.h"
#ifdef HAVE_ONNX

enum { MAX_BODY = 256, LARGEST = INT32_MAX };

typedef struct {
	OnnxCall *c;
	const char *name;
	OnnxValue *out;
	int n;
	bool fits;              /* it could be expanded */
	OnnxRefusal why;
} Branch;

static void expand(void *ctx)
{
	Branch *b = ctx;
	b->n = onnx_body(b->c, b->name, 0, NULL, b->out, MAX_BODY);
}

/* Whether an integer is a size. */
static bool one_size(UOp *u, UOp **size)
{
	size_t n;
	return dtype_int(u->dtype) && onnx_try_sizes(u, 1, size, &n) && n == 1;
}

/* Whether cond, when it has this value, says that a size variable is a number. */
static bool says_size(UOp *cond, bool value, UOp **size, UOp **is)
{
	int64_t k;
	while (cond->op == OP_RESHAPE || (cond->op == OP_CAST && cond->src[0]->dtype == DT_BOOL))
		cond = cond->src[0];
	if (cond->op != OP_CMPEQ && cond->op != OP_CMPNE)
		return false;
	UOp *a = cond->src[0], *b = cond->src[1];
	if (a->dtype == DT_BOOL && const_is_int(b, &k))         /* not */
		return says_size(a, (cond->op == OP_CMPEQ) == (k == value), size, is);
	if (value != (cond->op == OP_CMPEQ) || !one_size(a, size) || !one_size(b, is))
		return false;
	if ((*size)->op != OP_VAR) {
		UOp *other = *size;
		*size = *is;
		*is = other;
	}
	return (*size)->op == OP_VAR && ix_is_const(*is, &k);
}

/* What is wrong for the shapes at hand may be a branch that is not taken; or it is right for the
 * size for which it is. */
static Branch attempt(OnnxCall *c, const char *name, UOp *cond, bool value)
{
	Branch b = {.c = c, .name = name, .out = arena_alloc(MAX_BODY * sizeof *b.out)};
	StepsMark begun = steps_enter();
	b.fits = onnx_try(expand, &b, &b.why);
	OnnxRefusal why;
	if (!b.fits && says_size(cond, value, &c->size, &c->is))
		b.fits = onnx_try(expand, &b, &why);
	c->size = c->is = NULL;
	steps_leave(begun);
	if (!b.fits && b.why.status != MALFORMED)
		onnx_refuse(&b.why);
	return b;
}

/* ---- values of both branches */

typedef struct { UOp *a, *b, **to; int64_t k, size_k[MAX_RANK]; UOp *most[MAX_RANK]; } Pair;
typedef struct {
	OnnxCall *c;
	UOp *cond;
	uint32_t since;         /* nodes from here on are those of the branches */
	VEC(Pair) pairs;
	VEC(UOp *) then, other;
} Joined;

static int64_t add_value(Joined *j, UOp *a, UOp *b)
{
	vec_push(&j->then, a);
	vec_push(&j->other, b);
	return (int64_t)j->then.n - 1;
}

/* *to gets a or b, once the IF is made. */
static void join(Joined *j, UOp *a, UOp *b, UOp **to)
{
	Pair p = {.a = a, .b = b, .to = to};
	*to = a;
	if (a == b && a->id < j->since)
		return;
	if (t_rank(a) != t_rank(b))
		onnx_fail(j->c, UNSUPPORTED, "its condition is not known, and its branches give "
			"shapes %s and %s%s", shape_text(a->shape), shape_text(b->shape),
			onnx_value_advice(j->cond));
	p.k = add_value(j, a, b);
	for (int d = 0; d < t_rank(a); d++) {
		UOp *x = t_dim(a, d), *y = t_dim(b, d);
		bool own = size_bound_since(x, j->since) || size_bound_since(y, j->since);
		p.size_k[d] = !own && x == y ? -1 :
			add_value(j, onnx_size_node(x), onnx_size_node(y));
		UOp *most = own ? NULL : ix_max(x, y);
		p.most[d] = most ? most : ix_const(LARGEST);
	}
	vec_push(&j->pairs, p);
}

static void join_sequences(Joined *j, const OnnxValue *a, const OnnxValue *b, OnnxValue *to)
{
	*to = *a;
	if (a->u || b->u || a->n != b->n) {
		to->at = NULL;
		to->n = 0;
		join(j, onnx_stacked(j->c, a), onnx_stacked(j->c, b), &to->u);
		return;
	}
	to->at = arena_alloc((a->n + 1) * sizeof *to->at);
	for (size_t k = 0; k < a->n; k++) {
		to->at[k] = a->at[k];
		join(j, a->at[k].u, b->at[k].u, &to->at[k].u);
	}
}

static void join_values(Joined *j, const OnnxValue *a, const OnnxValue *b, OnnxValue *to)
{
	if (a->type != b->type && a->kind == b->kind)
		onnx_fail(j->c, MALFORMED, "its branches give %s and %s", onnx_type_name(a->type),
			onnx_type_name(b->type));
	*to = *a;
	if (a->kind == ONNX_TENSOR && b->kind == ONNX_TENSOR)
		join(j, a->u, b->u, &to->u);
	else if (a->kind == ONNX_SEQUENCE && b->kind == ONNX_SEQUENCE)
		join_sequences(j, a, b, to);
	else if (a->kind != ONNX_EMPTY_OPTIONAL || b->kind != ONNX_EMPTY_OPTIONAL)
		onnx_fail(j->c, UNSUPPORTED, "its condition is not known, and its branches give "
			"values of two kinds%s", onnx_value_advice(j->cond));
}

static void made(Joined *j)
{
	UOp *branch = if_new(j->cond, j->then.n, j->then.at, j->other.at), *dim[MAX_RANK];
	for (size_t i = 0; i < j->pairs.n; i++) {
		Pair *p = &j->pairs.at[i];
		bool same = true;
		for (int d = 0; d < t_rank(p->a); d++) {
			same &= p->size_k[d] < 0;
			dim[d] = p->size_k[d] < 0 ? t_dim(p->a, d) :
				t_bind("size", if_value(branch, p->size_k[d], NULL), ix_const(0),
					p->most[d]);
		}
		*p->to = if_value(branch, p->k, same ? NULL : shape_new(t_rank(p->a), dim));
	}
	vec_free(&j->pairs);
	vec_free(&j->then);
	vec_free(&j->other);
}

/* ---- a branch that is not taken */

/* A tensor like u, the other branch's; computing it ends the run. */
static UOp *never(const Joined *j, UOp *u, bool is_then)
{
	UOp *dim[MAX_RANK], *wrong = ix_const(!is_then);
	UOp *size = t_bind("fits", t_cast(j->cond, DT_I64), wrong, wrong);
	for (int d = 0; d < t_rank(u); d++)
		dim[d] = size_bound_since(t_dim(u, d), j->since) ? ix_const(0) : t_dim(u, d);
	return t_full(shape_new(t_rank(u), dim), t_cast(onnx_size_node(size), u->dtype));
}

static OnnxValue never_value(const Joined *j, const OnnxValue *v, bool is_then)
{
	OnnxValue r = *v;
	r.u = v->u ? never(j, v->u, is_then) : NULL;
	r.at = arena_alloc((v->n + 1) * sizeof *r.at);
	for (size_t k = 0; k < v->n; k++)
		r.at[k] = never_value(j, &v->at[k], is_then);
	return r;
}

static void leave_out(const Joined *j, Branch *b, const Branch *other, bool is_then)
{
	b->n = other->n;
	for (int i = 0; i < b->n; i++)
		b->out[i] = never_value(j, &other->out[i], is_then);
}

static bool ranks_agree(const Branch *a, const Branch *b)
{
	bool agree = true;
	for (int i = 0; i < a->n; i++)
		agree &= a->out[i].kind != ONNX_TENSOR || b->out[i].kind != ONNX_TENSOR ||
			t_rank(a->out[i].u) == t_rank(b->out[i].u);
	return agree;
}

/* ---- If */

static void set_all(OnnxCall *c, const OnnxValue *v, int n)
{
	for (int i = 0; i < n; i++)
		onnx_set_value(c, i, v[i]);
}

static void one_branch(OnnxCall *c, bool then)
{
	OnnxValue out[MAX_BODY];
	int n = onnx_body(c, then ? "then_branch" : "else_branch", 0, NULL, out, MAX_BODY);
	set_all(c, out, n);
}

/* size: the condition as an expression of sizes, or NULL */
static void two_branches(OnnxCall *c, UOp *cond, UOp *size)
{
	OnnxValue out[MAX_BODY];
	Joined j = {.c = c, .cond = cond, .since = node_limit()};
	StepsMark begun = steps_mark();
	Branch a = attempt(c, "then_branch", cond, true),
	       b = attempt(c, "else_branch", cond, false);
	if (!a.fits && !b.fits)
		onnx_refuse(&a.why);
	if (a.fits && b.fits && a.n != b.n)
		onnx_fail(c, MALFORMED, "its branches give different numbers of values");
	if (a.fits && b.fits && size && !ranks_agree(&a, &b)) {
		c->chose = true;
		*(c->then ? &b.fits : &a.fits) = false;
	}
	bool one = a.fits != b.fits;
	if (one && size && !steps_within() && !size_is_bound(size)) {
		steps_drop(begun);
		size_check("eq", size, ix_const(!b.fits));
		one_branch(c, !b.fits);
		return;
	}
	if (one)
		leave_out(&j, b.fits ? &a : &b, b.fits ? &b : &a, b.fits);
	for (int i = 0; i < a.n; i++)
		join_values(&j, &a.out[i], &b.out[i], &out[i]);
	made(&j);
	set_all(c, out, a.n);
}

void onnx_If(OnnxCall *c)
{
	UOp *cond = onnx_condition(c, onnx_in(c, 0)), *size;
	int known = onnx_known_condition(cond, &size);
	if (known >= 0)
		one_branch(c, known);
	else
		two_branches(c, cond, size);
}
#endif
