/* custom(x, …, clang="…"): a user-written kernel, as a CUSTOM node.
 *
 *     y = custom(x, w, shape=[n], clang=text("scale.c"), opencl=[text("scale.cl"), [n // 4], [64]])
 *     →   CUSTOM f32 x w {shape: ["n"], code: {clang: "…", opencl: "…"}, global_size: {…}, …}
 *
 * A keyword that is not a parameter of the function names a target. Its value is the code, or a
 * list of the code, the groups and the items per group. */
#include "text/text.h"

typedef struct { const Val *arg, *code, *global, *local; DType dtype; } Custom;

static const Val *sizes_val(const Value *v, const char *what)
{
	const Value *at = v->kind == V_LIST ? v->at : v;
	size_t n = v->kind == V_LIST ? v->n : 1;
	const Val **val = arena_alloc((n + 1) * sizeof *val);
	for (size_t i = 0; i < n; i++) {
		UOp *size = at[i].kind == V_STR ? NULL : value_size(&at[i]);
		if (!size)
			die(MALFORMED, "custom: %s: expected sizes, got %s", what,
				value_text(&at[i]));
		val[i] = size_to_val(size);
	}
	return val_array(n, val);
}

static const Val *text_val(const Value *v, const char *what)
{
	if (v->kind != V_STR)
		die(MALFORMED, "custom: %s: expected a text, got %s", what, value_text(v));
	return val_str(v->s);
}

/* a list of size variables, given by name */
static const Val *vars_val(const Value *v)
{
	const Val *sizes = sizes_val(v, "vars");
	for (size_t i = 0; i < sizes->n; i++)
		if (sizes->a[i]->kind != VAL_STR || !vars_find(sizes->a[i]->s, sizes->a[i]->n))
			die(MALFORMED, "custom: vars: only size variables have a name");
	return sizes;
}

static void add_target(Custom *c, const char *target, const Value *v)
{
	const Value *at = v->kind == V_LIST ? v->at : v;
	size_t n = v->kind == V_LIST ? v->n : 1;
	if (n < 1 || n > 3)
		die(MALFORMED, "custom: %.60s: expected code, or [code, groups, items]", target);
	c->code = val_set(c->code, target, text_val(&at[0], target));
	if (n > 1)
		c->global = val_set(c->global, target, sizes_val(&at[1], target));
	if (n > 2)
		c->local = val_set(c->local, target, sizes_val(&at[2], target));
}

static void add_keyword(Custom *c, const char *word, const Value *v)
{
	if (!strcmp(word, "shape"))
		c->arg = val_set(c->arg, word, sizes_val(v, word));
	else if (!strcmp(word, "name"))
		c->arg = val_set(c->arg, word, text_val(v, word));
	else if (!strcmp(word, "vars"))
		c->arg = val_set(c->arg, word, vars_val(v));
	else if (strcmp(word, "dtype"))
		add_target(c, word, v);
	else if ((c->dtype = dtype_find(text_val(v, word)->s)) == DT_NONE)
		die(MALFORMED, "custom: dtype: '%.40s' is no dtype", v->s);
}

/* The sources as tensors; weak ones take the first tensor's dtype. */
static UOp **sources(size_t n, const Value *pos)
{
	UOp **src = arena_alloc((n + 1) * sizeof *src);
	DType dt = DT_NONE;
	for (size_t i = n; i--;)
		dt = pos[i].kind == V_TENSOR ? pos[i].u->dtype : dt;
	for (size_t i = 0; i < n; i++)
		if (!(src[i] = value_tensor(&pos[i], dt)))
			die(MALFORMED, "custom: expected a tensor, got %s", value_text(&pos[i]));
	return src;
}

Value custom_value(size_t n, const Value *pos, size_t nkw, const char *const *kw, const Value *val)
{
	Custom c = {VNIL, VNIL, VNIL, VNIL, DT_NONE};
	UOp **src = sources(n, pos), *u;
	const char *err;
	int status;
	for (size_t i = 0; i < nkw; i++)
		add_keyword(&c, kw[i], &val[i]);
	if (n && !val_get(c.arg, "shape"))
		c.arg = val_set(c.arg, "shape", shape_to_val(src[0]->shape));
	if (c.code == VNIL)
		die(MALFORMED, "custom: no code is given: name a target, as in clang=\"…\"");
	c.arg = val_set(c.arg, "code", c.code);
	if (c.global != VNIL)
		c.arg = val_set(c.arg, "global_size", c.global);
	if (c.local != VNIL)
		c.arg = val_set(c.arg, "local_size", c.local);
	if (n && c.dtype == DT_NONE)
		c.dtype = src[0]->dtype;
	u = node_try(OP_CUSTOM, c.dtype, n, src, c.arg, &err, &status);
	if (!u)
		die(status, "%s", err);
	return v_tensor(u);
}
