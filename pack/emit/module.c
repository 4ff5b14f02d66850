/* NAME_module.c: what a module has, as data, and its functions called with DLPack tensors. */
#include "emit/emit.h"

static bool is_exported(const SizeVar *s) { return !s->bound || s->returned; }

/* size[k], by the order of the exported ones */
static const char *in_array(const SizeVar *s) { return s->slot; }

static void number_sizes(const Function *f)
{
	int n = 0;

	for (size_t i = 0; i < f->size.n; i++)
		if (is_exported(&f->size.at[i]))
			f->size.at[i].slot = arena_printf("size[%d]", n++);
}

static int sizes_of(const Function *f)
{
	int n = 0;

	for (size_t i = 0; i < f->size.n; i++)
		n += is_exported(&f->size.at[i]);
	return n;
}

/* The first axis of an input that is s; false when there is none. */
static bool told_by(const Function *f, const SizeVar *s, int *from, int *axis)
{
	for (size_t i = 0; i < f->inputs; i++)
		for (int k = 0; k < f->buffer.at[i].u->shape->rank; k++)
			if (f->buffer.at[i].u->shape->dim[k] == s->var) {
				*from = (int)i;
				*axis = k;
				return true;
			}
	return false;
}

/* ---- data */

static void put_array(Emit *e, const Buffer *b)
{
	const char *dtype = b->u->dtype == DT_BF16 ? "bf16" : dtype_info[b->u->dtype].npy;

	buf_printf(e->out, "\t{\"%s\", \"%s\", %d, %s},\n", b->id, dtype, b->u->shape->rank,
		b->u->shape->rank ? arena_printf("%s_%s_shape", e->f->prefix, b->id) : "NULL");
}

static void put_shape(Emit *e, const Buffer *b)
{
	if (!b->u->shape->rank)
		return;
	buf_printf(e->out, "static const char *const %s_%s_shape[] = {", e->f->prefix, b->id);
	for (int k = 0; k < b->u->shape->rank; k++) {
		Buf text = {0};
		val_print(&text, size_to_val(b->u->shape->dim[k]));
		bool quoted = *buf_str(&text) == '"';
		buf_printf(e->out, "%s%s%s%s", k ? ", " : "", quoted ? "" : "\"", text.s,
			quoted ? "" : "\"");
		buf_free(&text);
	}
	buf_printf(e->out, "};\n");
}

static void put_arrays(Emit *e, const char *what, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++)
		put_shape(e, &e->f->buffer.at[i]);
	if (from == to)
		return;
	buf_printf(e->out, "static const sluice_array %s_%s[] = {\n", e->f->prefix, what);
	for (size_t i = from; i < to; i++)
		put_array(e, &e->f->buffer.at[i]);
	buf_printf(e->out, "};\n");
}

static void put_sizes(Emit *e)
{
	const Function *f = e->f;

	if (!sizes_of(f))
		return;
	buf_printf(e->out, "static const sluice_size %s_sizes[] = {\n", f->prefix);
	for (size_t i = 0; i < f->size.n; i++) {
		const SizeVar *s = &f->size.at[i];
		int from = -1, axis = 0;
		if (!is_exported(s))
			continue;
		if (!s->bound)
			told_by(f, s, &from, &axis);
		buf_printf(e->out, "\t{\"%s\", %lld, %lld, %d, %d, %d},\n", s->id,
			(long long)s->var->arg->a[1]->i, (long long)s->var->arg->a[2]->i, from,
			axis, s->bound);
	}
	buf_printf(e->out, "};\n\n");
}

/* ---- functions */

static void put_dtype(Emit *e, const Buffer *b)
{
	static const int code[] = {['B'] = 6, ['I'] = 0, ['U'] = 1, ['F'] = 2};
	DType d = b->u->dtype;

	buf_printf(e->out, "%d, %d, %d", d == DT_BF16 ? 4 : code[(int)dtype_info[d].kind],
		(int)dtype_size(d) * 8, b->u->shape->rank);
}

static void put_check(Emit *e, const Buffer *b, const char *at, const char *name)
{
	buf_printf(e->out, "\tif (!is_array(%s, ", at);
	put_dtype(e, b);
	buf_printf(e->out, "))\n\t\treturn %s_ARRAY;  /* %s */\n", e->m->name, name);
}

static void put_measure(Emit *e)
{
	const Function *f = e->f;

	buf_printf(e->out, "static int %s_measure(const DLTensor *const *in, int64_t *size)\n{\n",
		f->prefix);
	if (!f->inputs)
		buf_printf(e->out, "\t(void)in;\n");
	if (!sizes_of(f))
		buf_printf(e->out, "\t(void)size;\n");
	for (size_t i = 0; i < f->inputs; i++)
		put_check(e, &f->buffer.at[i], arena_printf("in[%zu]", i), f->buffer.at[i].id);
	for (size_t i = 0; i < f->size.n; i++) {
		const SizeVar *s = &f->size.at[i];
		int from, axis;
		if (s->bound)
			continue;
		if (told_by(f, s, &from, &axis))
			buf_printf(e->out, "\t%s = in[%d]->shape[%d];\n", s->slot, from, axis);
		buf_printf(e->out, "\tif (%s < %lld || %s > %lld)\n\t\treturn %s_SIZE;\n", s->slot,
			(long long)s->var->arg->a[1]->i, s->slot, (long long)s->var->arg->a[2]->i,
			e->m->name);
	}
	for (size_t i = 0; i < f->inputs; i++)
		for (int k = 0; k < f->buffer.at[i].u->shape->rank; k++) {
			buf_printf(e->out, "\tif (in[%zu]->shape[%d] != ", i, k);
			emit_size(e, f->buffer.at[i].u->shape->dim[k], in_array);
			buf_printf(e->out, ")\n\t\treturn %s_SIZE;\n", e->m->name);
		}
	for (size_t i = 0; i < f->size.n; i++) {
		const SizeVar *s = &f->size.at[i];
		if (!s->returned)
			continue;
		buf_printf(e->out, "\t%s = ", s->slot);
		emit_size(e, function_greatest(f, s->var), in_array);
		buf_printf(e->out, ";\n");
	}
	buf_printf(e->out, "\treturn %s_OK;\n}\n\n", e->m->name);
}

/* The axes of all outputs: axis[0] = …; */
static void put_axes(Emit *e)
{
	const Function *f = e->f;
	int n = 0;

	buf_printf(e->out, "static void %s_shapes(const int64_t *size, int64_t *axis)\n{\n",
		f->prefix);
	for (size_t i = f->inputs; i < f->inputs + f->outputs; i++)
		for (int k = 0; k < f->buffer.at[i].u->shape->rank; k++) {
			buf_printf(e->out, "\taxis[%d] = ", n++);
			emit_size(e, f->buffer.at[i].u->shape->dim[k], in_array);
			buf_printf(e->out, ";\n");
		}
	buf_printf(e->out, "%s%s}\n\n", sizes_of(f) ? "" : "\t(void)size;\n",
		n ? "" : "\t(void)axis;\n");
}

static void put_fill(Emit *e)
{
	const Function *f = e->f;

	buf_printf(e->out, "\t%s_args args;\n\n\tmemset(&args, 0, sizeof args);\n", f->prefix);
	for (size_t i = 0; i < f->size.n; i++)
		if (!f->size.at[i].bound)
			buf_printf(
				e->out, "\targs.%s = %s;\n", f->size.at[i].id, f->size.at[i].slot);
	if (e->m->weights == WEIGHTS_FILE)
		buf_printf(e->out, "\targs.weights = weights;\n");
	else
		buf_printf(e->out, "\t(void)weights;\n");
}

static void put_ws_bytes(Emit *e)
{
	const Function *f = e->f;

	buf_printf(e->out, "static int64_t %s_workspace(const int64_t *size)\n{\n", f->prefix);
	if (f->fixed) {
		buf_printf(e->out, "\t(void)size;\n\treturn %s_WS_BYTES;\n}\n\n", f->prefix);
		return;
	}
	const Module own = {.name = e->m->name};
	Emit plain = *e;
	plain.m = &own;
	buf_printf(e->out, "\tconst void *const weights = NULL;\n");
	put_fill(&plain);
	buf_printf(e->out, "\treturn %s_ws_bytes(&args);\n}\n\n", f->prefix);
}

static void put_init(Emit *e)
{
	const Function *f = e->f;

	if (f->states)
		buf_printf(e->out,
			"static void %s_begin(void *state)\n{\n"
			"\t%s_init_state((%s_state *)state);\n}\n\n",
			f->prefix, f->prefix, f->prefix);
	buf_printf(e->out,
		"static int %s_prepare(const int64_t *size, const void *weights, void *ws)\n{\n",
		f->prefix);
	if (init_takes_args(e->m, f)) {
		put_fill(e);
		buf_printf(e->out, "%s\treturn %s_init_ws(&args, ws);\n}\n\n",
			sizes_of(f) ? "" : "\t(void)size;\n", f->prefix);
	} else {
		buf_printf(e->out,
			"\t(void)size;\n\t(void)weights;\n\treturn %s_init_ws(ws);\n}\n\n",
			f->prefix);
	}
}

static void put_outputs_checked(Emit *e)
{
	const Function *f = e->f;
	int n = 0;

	for (size_t i = f->inputs; i < f->inputs + f->outputs; i++) {
		put_check(e, &f->buffer.at[i], arena_printf("out[%zu]", i - f->inputs),
			f->buffer.at[i].id);
		for (int k = 0; k < f->buffer.at[i].u->shape->rank; k++, n++)
			buf_printf(e->out,
				"\tif (out[%zu]->shape[%d] != axis[%d])\n\t\treturn %s_SIZE;\n",
				i - f->inputs, k, n, e->m->name);
	}
}

static int axes_of(const Function *f)
{
	int n = 0;

	for (size_t i = f->inputs; i < f->inputs + f->outputs; i++)
		n += f->buffer.at[i].u->shape->rank;
	return n;
}

static void put_result(Emit *e)
{
	const Function *f = e->f;
	int n = 0;

	for (size_t i = 0; i < f->size.n; i++)
		if (f->size.at[i].returned)
			buf_printf(
				e->out, "\t%s = args.%s;\n", f->size.at[i].slot, f->size.at[i].id);
	buf_printf(e->out, "\t%s_shapes(size, axis);\n", f->prefix);
	for (size_t i = f->inputs; i < f->inputs + f->outputs; i++)
		for (int k = 0; k < f->buffer.at[i].u->shape->rank; k++, n++)
			buf_printf(
				e->out, "\tout[%zu]->shape[%d] = axis[%d];\n", i - f->inputs, k, n);
}

static void put_call(Emit *e)
{
	const Function *f = e->f;
	const char *name = e->m->name;
	bool pool = e->m->threads == THREADS_POOL;

	buf_printf(e->out,
		"static int %s_arrays(const DLTensor *const *in, DLTensor *const *out, int64_t "
		"*size,\n"
		"\tconst void *weights, void *state, void *ws, void *pool)\n{\n"
		"\tint64_t axis[%d];\n\tint error = %s_measure(in, size);\n",
		f->prefix, axes_of(f) ? axes_of(f) : 1, f->prefix);
	if (pool)
		buf_printf(e->out, "\t%s_threads threads = {NULL, NULL};\n", name);
	buf_printf(e->out, "%s%s%s\tif (error)\n\t\treturn error;\n\t%s_shapes(size, axis);\n",
		f->states ? "" : "\t(void)state;\n", pool ? "" : "\t(void)pool;\n",
		f->outputs ? "" : "\t(void)out;\n", f->prefix);
	put_outputs_checked(e);
	put_fill(e);
	for (size_t i = 0; i < f->inputs + f->outputs; i++) {
		const Buffer *b = &f->buffer.at[i];
		buf_printf(e->out, "\targs.%s = (%s%s *)data_of(%s[%zu]);\n", b->id,
			i < f->inputs ? "const " : "", type_name(b->u->dtype),
			i < f->inputs ? "in" : "out", i < f->inputs ? i : i - f->inputs);
	}
	if (pool)
		buf_printf(e->out, "\tif (pool)\n\t\tthreads = %s_pool_threads((%s_pool *)pool);\n",
			name, name);
	buf_printf(e->out, "\terror = %s_call(&args, %sws%s);\n\tif (error)\n\t\treturn error;\n",
		f->prefix, f->states ? arena_printf("(%s_state *)state, ", f->prefix) : "",
		pool					? ", pool ? &threads : NULL" :
			e->m->threads == THREADS_CALLER ? ", NULL" :
							  "");
	put_result(e);
	buf_printf(e->out, "\treturn %s_OK;\n}\n\n", name);
}

static void put_row(Emit *e)
{
	const Function *f = e->f;
	const char *p = f->prefix;

	buf_printf(e->out, "\t{\"%s\", %d, %zu, %zu, %s, %s, %s, %s, %s_WS_ALIGN,\n"
		"\t\t%s_measure, %s_workspace, %s_shapes, %s, %s_prepare, %s_arrays},\n",
		f->name ? f->name : "call", sizes_of(f), f->inputs, f->outputs,
		sizes_of(f) ? arena_printf("%s_sizes", p) : "NULL",
		f->inputs ? arena_printf("%s_inputs", p) : "NULL",
		f->outputs ? arena_printf("%s_outputs", p) : "NULL",
		f->states ? arena_printf("sizeof(%s_state)", p) : "0", p, p, p, p,
		f->states ? arena_printf("%s_begin", p) : "NULL", p, p);
}

static void put_function(Buf *out, const Module *m, const Function *f)
{
	Emit e = {.out = out, .m = m, .f = f};

	function_sizes(f);
	number_sizes(f);
	buf_printf(out, "/* ---- %s */\n\n", f->name ? f->name : "call");
	put_arrays(&e, "inputs", 0, f->inputs);
	put_arrays(&e, "outputs", f->inputs, f->inputs + f->outputs);
	put_sizes(&e);
	put_measure(&e);
	put_ws_bytes(&e);
	put_axes(&e);
	put_init(&e);
	put_call(&e);
}

void emit_module(Buf *out, const Module *m)
{
	bool pool = m->threads == THREADS_POOL;
	Buf body = {0};

	buf_printf(out,
		"/* %s_module.c: %s by arrays. Made by sluice pack. This code is yours. */\n"
		"#include \"%s.h\"\n#include <stddef.h>\n#include <string.h>\n\n",
		m->name, m->name, m->name);
	emit_template(out, m, "abi");
	buf_printf(out, "\n");
	emit_template(out, m, "abi_source");
	for (size_t i = 0; i < m->function.n; i++)
		put_function(&body, m, m->function.at[i]);
	emit_size_helpers(out, "static", m->name, buf_str(&body));
	buf_add(out, buf_str(&body), body.n);
	buf_free(&body);
	buf_printf(out, "static const sluice_function functions[] = {\n");
	for (size_t i = 0; i < m->function.n; i++)
		put_row(&(Emit){.out = out, .m = m, .f = m->function.at[i]});
	buf_printf(out, "};\n\n");
	if (pool)
		buf_printf(out,
			"static void *start(int threads) { return %s_pool_start(threads); }\n\n"
			"static void stop(void *pool) { %s_pool_stop((%s_pool *)pool); }\n\n",
			m->name, m->name, m->name);
	buf_printf(out, "static const sluice_module module = {1, %zu, \"%s\", functions, %s};\n\n",
		m->function.n, m->name, pool ? "start, stop" : "NULL, NULL");
	buf_printf(out, "#ifdef __cplusplus\nextern \"C\"\n#endif\n"
		"const sluice_module *%s_module(void);\n\n"
		"const sluice_module *%s_module(void) { return &module; }\n", m->name, m->name);
}
