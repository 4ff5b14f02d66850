/* CUSTOM → PROGRAM: the code that the document carries for the target, and its launch data.
 *
 *     CALL(CUSTOM(PARAM 1) {code: {clang: "void custom(float *y, …"}}, y, x)
 *     →   CALL(PROGRAM(CUSTOM …) {name: "custom", src: "void custom(…) … custom_call(…", …}, y, x)
 *
 * The code is unchanged and compiled by itself (`alone`), so its definitions may have any names.
 * The user has given --allow-custom. */
#include "shape/shape.h"
#include "target/target.h"
#include "print/print.h"

/* the targets for which the CUSTOM has code, separated by commas */
static const char *targets_of(const Val *code)
{
	Buf b = {0};
	for (size_t i = 0; i < code->n && b.n < 400; i++)
		buf_printf(&b, "%s%s", i ? ", " : "", code->a[2 * i]->s);
	const char *s = code->n ? arena_strdup(buf_str(&b)) : "none";
	buf_free(&b);
	return s;
}

static const Val *code_for(const UOp *custom, const char *target)
{
	const Val *code = val_get(custom->arg, "code"), *mine = val_get(code, target);
	if (!mine)
		die(UNSUPPORTED,
			"node %u CUSTOM (%s): there is no code for target %s; there is for: %s",
			custom->id, custom_name(custom->arg), target, targets_of(code));
	return mine;
}

static const Val *own(const UOp *custom, const char *key)
{
	return val_get(val_get(custom->arg, key), target->name);
}

/* The function that run calls on a CPU, printed after the code: C's. */
static void print_c_caller(Buf *out, const char *name, size_t slots, size_t vars, bool grid)
{
	const char *comma = "";
	buf_printf(out, "\nvoid %s_call(void *const *bufs, const long *vars, long from, long to)\n",
		name);
	buf_printf(out, "{\n\t%s(", name);
	for (size_t k = 0; k < slots; k++, comma = ", ")
		buf_printf(out, "%sbufs[%zu]", comma, k);
	for (size_t k = 0; k < vars; k++, comma = ", ")
		buf_printf(out, "%svars[%zu]", comma, k);
	buf_printf(out, "%s);\n}\n", !grid ? "" : *comma ? ", from, to" : "from, to");
}

static void print_caller(Buf *out, UOp *custom, const Dialect *d, size_t vars)
{
	size_t slots = custom->nsrc + 1;
	UOp **buffer = arena_alloc(slots * sizeof *buffer);
	bool grid = own(custom, "global_size") != NULL;
	const char *name = custom_name(custom->arg);

	buffer[0] = custom;
	for (uint32_t k = 0; k < custom->nsrc; k++)
		buffer[1 + k] = custom->src[k];
	if (d->caller)
		d->caller(out, d, name, slots, buffer, vars, grid);
	else
		print_c_caller(out, name, slots, vars, grid);
}

static const Val *slots_from(size_t first, size_t n)
{
	const Val **v = arena_alloc((n + 1) * sizeof *v);
	for (size_t i = 0; i < n; i++)
		v[i] = val_int(first + i);
	return val_array(n, v);
}

/* ---- grids */

/* The largest number of items up to most that divides n. */
static int64_t items_of(int64_t n, int64_t most)
{
	for (int64_t k = most; k > 1; k--)
		if (n % k == 0)
			return k;
	return 1;
}

/* One work item for each element and no more: groups as large as the known sizes allow. */
static const Val *grid_default(const Val *arg, const UOp *custom)
{
	int64_t known = 1, v;
	UOp *groups = ix_const(1);
	for (int i = 0; i < custom->shape->rank; i++) {
		if (!ix_is_const(custom->shape->dim[i], &v))
			groups = ix_mul(groups, custom->shape->dim[i]);
		else if (!mul_ok(known, v, &known))
			die(UNSUPPORTED, "node %u CUSTOM: its grid is too large", custom->id);
	}
	int64_t items = items_of(known, target->group);
	groups = ix_mul(groups, ix_const(known / items));
	arg = val_set(arg, "global_size", VARR(size_to_val(groups)));
	return val_set(arg, "local_size", VARR(val_int(items)));
}

static const Val *grid_put(const Val *arg, const UOp *custom)
{
	const Val *global = own(custom, "global_size"), *local = own(custom, "local_size");
	const Val *work = own(custom, "work");
	if (local && (!global || !target->gpu))
		die(MALFORMED, "node %u CUSTOM: local_size of target %s %s", custom->id,
			target->name, target->gpu ? "without its global_size" : "is not for a CPU");
	if (global && !target->gpu && global->n != 1)
		die(MALFORMED,
			"node %u CUSTOM: global_size of target %s is one size, the number of items",
			custom->id, target->name);
	if (!global)
		return target->gpu ? grid_default(arg, custom) : arg;
	arg = val_set(arg, "global_size", global);
	arg = local ? val_set(arg, "local_size", local) : arg;
	return work ? val_set(arg, "work", work) : arg;
}

/* ---- all */

UOp *custom_program(UOp *custom, const Dialect *d, const char *flags, const Val *globals)
{
	const Val *code = code_for(custom, d->target), *vars = custom_vars(custom->arg);
	Buf src = {0};
	buf_add(&src, code->s, code->n);
	if (d->on_cpu)
		print_caller(&src, custom, d, vars->n);
	const Val *arg = VMAP(val_str("name"), val_str(custom_name(custom->arg)), val_str("src"),
		val_strn(buf_str(&src), src.n), val_str("target"), val_str(d->target),
		val_str("flags"), val_str(flags), val_str("globals"), globals,
		val_str("ins"), slots_from(1, custom->nsrc), val_str("outs"), slots_from(0, 1),
		val_str("vars"), vars, val_str("alone"), val_bool(true));
	if (d->runtime)
		arg = val_set(arg, "runtime", val_str(d->runtime));
	UOp *p = NODE(OP_PROGRAM, DT_NONE, grid_put(arg, custom), custom);
	node_note(p, custom->note);
	buf_free(&src);
	return p;
}
