/* Derivatives as functions of the library, so that a program can use them.
 *
 *     grad(loss, [w, b])   →   the list of the gradients of loss with respect to w and b */
#include "library/library.h"
#include "derive/transform.h"

/* Argument k as tensors: a single one, or those of a list. With like, there must be as many, of the
 * same dtypes and shapes; a list of numbers beside a single tensor is that tensor's data. */
typedef struct { UOp **at; size_t n; bool list; } Tensors;

static Tensors tensors(Args *a, int k, const Tensors *like)
{
	const Value *v = &a->at[k];
	bool list = v->kind == V_LIST && (!like || like->list);
	Tensors r = {.list = list, .n = list ? v->n : 1};

	if (like && r.n != like->n)
		die(MALFORMED, "%s: %s has %zu values, needs %zu", a->fn->name,
			param_name(a->fn, k), r.n, like->n);
	r.at = arena_alloc(r.n * sizeof *r.at);
	for (size_t i = 0; i < r.n; i++) {
		const Value *e = r.list ? &v->at[i] : v;
		r.at[i] = value_tensor(e, like ? like->at[i]->dtype : DT_NONE);
		if (!r.at[i] || (!like && e->kind != V_TENSOR))
			die(MALFORMED, "%s: %s is %s, not a tensor", a->fn->name,
				param_name(a->fn, k), value_text(e));
		if (like)
			r.at[i] = t_expand_to(t_cast(r.at[i], like->at[i]->dtype),
				like->at[i]->shape);
		if (!dtype_float(r.at[i]->dtype))
			die(MALFORMED, "%s: %s is %s, and only floats have a derivative",
				a->fn->name, param_name(a->fn, k),
				dtype_name(r.at[i]->dtype));
	}
	return r;
}

static Value result(const Tensors *like, UOp **u)
{
	Value *v;

	if (!like->list)
		return v_tensor(u[0]);
	v = arena_alloc(like->n * sizeof *v);
	for (size_t i = 0; i < like->n; i++)
		v[i] = v_tensor(u[i]);
	return v_list(like->n, v);
}

static Value reverse(const Tensors *y, const Tensors *g, const Tensors *x)
{
	UOp **grad = arena_alloc(x->n * sizeof *grad);

	derive_reverse(y->n, y->at, g->at, x->n, x->at, grad);
	return result(x, grad);
}

Value fn_grad(Args *a)
{
	Tensors y = tensors(a, 0, NULL), x = tensors(a, 1, NULL), one = {.n = 1};

	if (y.list || t_rank(y.at[0]))
		die(MALFORMED, "grad: y is %s, and a gradient is of a scalar: fold it (sum, "
			"mean), or "
			"use vjp",
			value_text(&a->at[0]));
	one.at = (UOp *[]){t_num(y.at[0]->dtype, 1)};
	return reverse(&y, &one, &x);
}

Value fn_vjp(Args *a)
{
	Tensors y = tensors(a, 0, NULL), x = tensors(a, 1, NULL), g = tensors(a, 2, &y);

	return reverse(&y, &g, &x);
}

Value fn_jvp(Args *a)
{
	Tensors y = tensors(a, 0, NULL), x = tensors(a, 1, NULL), t = tensors(a, 2, &x);
	UOp **dy = arena_alloc(y.n * sizeof *dy);

	derive_forward(x.n, x.at, t.at, y.n, y.at, dy);
	return result(&y, dy);
}
