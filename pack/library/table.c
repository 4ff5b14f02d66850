/* NAME_module.c: the module as data, and calls by arrays.
 *
 *     input x f32[n, 4]
 *     →   static const packed_dim NAME_packed_in0[] = {{"n", -1, 0}, {"4", 4, -1}};
 *         … {"x", {2, 32, 1}, 2, NAME_packed_in0, 1, 0} …
 *
 * Inputs are all that the document has, in its order: those that nothing reads can be given, and
 * sizes be found from them. */
#include "library/library.h"

/* An input as the document has it; b is NULL for one that nothing reads. */
typedef struct { const char *name; const Buffer *b; const Shape *shape; DType dtype; } Input;
typedef VEC(Input) Inputs;

/* ---- what a function has */

/* Whether a size is one of the function's in C. */
static bool in_args(const SizeVar *s) { return !s->bound || s->returned; }

static int size_number(const Function *f, const SizeVar *is)
{
	int n = 0;

	for (const SizeVar *s = f->size.at; s < is; s++)
		n += in_args(s);
	return n;
}

static int size_count(const Function *f) { return size_number(f, f->size.at + f->size.n); }

static const Buffer *input_named(const Function *f, const char *name)
{
	for (size_t i = 0; i < f->inputs; i++)
		if (!strcmp(buffer_name(f->buffer.at[i].u), name))
			return &f->buffer.at[i];
	return NULL;
}

/* The shape and dtype of an input that nothing reads, from meta.sized. */
static void find_sized(const Graph *g, Input *in)
{
	const Val *rows = val_get(g->meta, "sized");
	UOp *dim[MAX_RANK];

	for (size_t i = 0; rows && rows->kind == VAL_ARRAY && i < rows->n; i++) {
		const Val *r = rows->a[i],
			  *shape = r->kind == VAL_ARRAY && r->n == 3 ? r->a[2] : VNIL;
		const char *err;
		size_t k = 0;
		if (shape->kind != VAL_ARRAY || shape->n > MAX_RANK ||
			!val_is_str(r->a[0], in->name))
			continue;
		while (k < shape->n && (dim[k] = size_from_val(shape->a[k], &err)))
			k++;
		if (k < shape->n || r->a[1]->kind != VAL_STR)
			continue;
		in->shape = shape_new((int)k, dim);
		in->dtype = dtype_find(r->a[1]->s);
	}
}

static Inputs inputs_of(const Function *f)
{
	const Val *names = val_get(f->g->meta, "inputs");
	Inputs in = {0};

	for (size_t i = 0; names && names->kind == VAL_ARRAY && i < names->n; i++) {
		Input one = {.name = names->a[i]->s, .b = input_named(f, names->a[i]->s)};
		if (!one.b)
			find_sized(f->g, &one);
		vec_push(&in, one);
	}
	for (size_t i = 0; i < f->inputs; i++) {
		const char *name = buffer_name(f->buffer.at[i].u);
		bool is = false;
		for (size_t k = 0; k < in.n; k++)
			is |= !strcmp(in.at[k].name, name);
		if (!is)
			vec_push(&in, ((Input){.name = name, .b = &f->buffer.at[i]}));
	}
	for (size_t i = 0; i < in.n; i++)
		if (in.at[i].b) {
			in.at[i].shape = in.at[i].b->u->shape;
			in.at[i].dtype = in.at[i].b->u->dtype;
		}
	return in;
}

/* ---- as data */

static const char *quoted(const char *s)
{
	Buf b = {0};

	for (; *s; s++)
		buf_printf(&b, strchr("\"\\?", *s) ? "\\%c" : "%c", *s);
	const char *r = arena_strdup(buf_str(&b));
	buf_free(&b);
	return r;
}

/* The sizes of a shape; nothing when it has none. */
static void put_dims(Buf *out, const Function *f, const char *name, const Shape *s)
{
	if (!s || !s->rank)
		return;
	buf_printf(out, "static const packed_dim %s[] = {", name);
	for (int k = 0; k < s->rank; k++) {
		UOp *d = s->dim[k];
		int64_t n = size_is_bound(d) ? -2 : -1;
		size_t var = d->op == OP_VAR ?
			(size_t)(uintptr_t)map_get(&f->sized, PKEY(d->arg->a[0])) : 0;
		ix_is_const(d, &n);
		const char *text = shape_text(shape_new(1, &d));
		buf_printf(out, "%s{\"%.*s\", %lld, %d}", k ? ", " : "", (int)strlen(text) - 2,
			text + 1, (long long)n, var ? size_number(f, &f->size.at[var - 1]) : -1);
	}
	buf_printf(out, "};\n");
}

/* DLPack's: kDLInt, kDLUInt, kDLFloat, kDLBfloat, kDLBool */
static const char *dtype_text(DType d)
{
	int code = d == DT_BOOL ? 6 : d == DT_BF16 ? 4 : dtype_float(d) ? 2 :
		d == DT_U8 || d == DT_U16 || d == DT_U32 || d == DT_U64;

	return arena_printf("{%d, %d, 1}", code, (int)dtype_size(d) * 8);
}

static void put_array(Buf *out, const char *name, DType d, const Shape *s, const char *dims,
	bool read, const char *offset)
{
	buf_printf(out, "\t{\"%s\", %s, %d, %s, %d, %s},\n", quoted(name), dtype_text(d),
		s ? s->rank : -1, s && s->rank ? dims : "NULL", read, offset);
}

static void put_sizes(Buf *out, const Function *f)
{
	if (!size_count(f))
		return;
	buf_printf(out, "static const packed_size %s_packed_sizes[] = {\n", f->prefix);
	for (size_t i = 0; i < f->size.n; i++) {
		const SizeVar *s = &f->size.at[i];
		if (in_args(s))
			buf_printf(out, "\t{\"%s\", %lld, %lld, %d},\n", quoted(s->name),
				(long long)s->var->arg->a[1]->i, (long long)s->max,
				s->bound);
	}
	buf_printf(out, "};\n");
}

static void put_inputs(Buf *out, const Function *f, const Inputs *in)
{
	for (size_t i = 0; i < in->n; i++)
		put_dims(out, f, arena_printf("%s_packed_in%zu", f->prefix, i), in->at[i].shape);
	if (!in->n)
		return;
	buf_printf(out, "static const packed_array %s_packed_inputs[] = {\n", f->prefix);
	for (size_t i = 0; i < in->n; i++)
		put_array(out, in->at[i].name, in->at[i].dtype, in->at[i].shape,
			arena_printf("%s_packed_in%zu", f->prefix, i), in->at[i].b != NULL, "0");
	buf_printf(out, "};\n");
}

/* The buffers of a place. */
static void put_arrays(Buf *out, const Function *f, Place place, const char *what)
{
	int n = 0;

	for (size_t i = 0; i < f->buffer.n; i++)
		if (f->buffer.at[i].place == place)
			put_dims(out, f, arena_printf("%s_packed_%s%d", f->prefix, what, n++),
				f->buffer.at[i].u->shape);
	if (!n)
		return;
	buf_printf(out, "static const packed_array %s_packed_%ss[] = {\n", f->prefix, what);
	n = 0;
	for (size_t i = 0; i < f->buffer.n; i++) {
		const Buffer *b = &f->buffer.at[i];
		if (b->place == place)
			put_array(out, buffer_name(b->u), b->u->dtype, b->u->shape,
				arena_printf("%s_packed_%s%d", f->prefix, what, n++), true,
				place == PLACE_STATE ? arena_printf("offsetof(%s_state, %s)",
					f->prefix, b->member) : "0");
	}
	buf_printf(out, "};\n");
}

/* ---- functions */

/* args gets the sizes. */
static void put_set(Buf *out, const Function *f)
{
	buf_printf(out, "\nstatic void %s_packed_set(%s_args *args, const int64_t *size)\n{\n"
		"\tmemset(args, 0, sizeof *args);\n", f->prefix, f->prefix);
	for (size_t i = 0; i < f->size.n; i++)
		if (in_args(&f->size.at[i]))
			buf_printf(out, "\targs->%s = size[%d];\n", f->size.at[i].member,
				size_number(f, &f->size.at[i]));
	buf_printf(out, "%s}\n", size_count(f) ? "" : "\t(void)size;\n");
}

static void begin_sizes(Buf *out, const Function *f, const char *head)
{
	buf_printf(out, "\n%s\n{\n\t%s_args args;\n\n\t%s_packed_set(&args, size);\n", head,
		f->prefix, f->prefix);
}

static void put_dims_of(Emit *e, const Shape *s, size_t k)
{
	buf_printf(e->out, "\tcase %zu:\n", k);
	for (int i = 0; i < s->rank; i++) {
		buf_printf(e->out, "\t\tdim[%d] = ", i);
		emit_size(e, s->dim[i], emit_args_name);
		buf_printf(e->out, ";\n");
	}
	buf_printf(e->out, "\t\tbreak;\n");
}

static void put_shapes(Emit *e, const Inputs *in)
{
	static const char head[] =
		"static void %s_packed_%s(const int64_t *size, int32_t k, int64_t *dim)";
	static const char end[] = "\tdefault:\n\t\t(void)dim;\n\t}\n}\n";
	const Function *f = e->f;

	begin_sizes(e->out, f, arena_printf(head, f->prefix, "in_shape"));
	buf_printf(e->out, "\tswitch (k) {\n");
	for (size_t i = 0; i < in->n; i++)
		if (in->at[i].shape)
			put_dims_of(e, in->at[i].shape, i);
	buf_printf(e->out, end);
	begin_sizes(e->out, f, arena_printf(head, f->prefix, "shape"));
	buf_printf(e->out, "\tswitch (k) {\n");
	for (size_t i = 0; i < f->outputs; i++)
		put_dims_of(e, f->buffer.at[f->inputs + i].u->shape, i);
	buf_printf(e->out, end);
}

static void put_bytes(Emit *e)
{
	const Function *f = e->f;

	begin_sizes(e->out, f,
		arena_printf("static int64_t %s_packed_room(const int64_t *size, int32_t k)",
			f->prefix));
	buf_printf(e->out, "\tswitch (k) {\n");
	for (size_t i = 0; i < f->outputs; i++) {
		buf_printf(e->out, "\tcase %zu:\n\t\treturn ", i);
		emit_size(e, f->buffer.at[f->inputs + i].room, emit_args_name);
		buf_printf(e->out, ";\n");
	}
	buf_printf(e->out, "\tdefault:\n\t\treturn 0;\n\t}\n}\n");
	begin_sizes(e->out, f,
		arena_printf("static int64_t %s_packed_ws_bytes(const int64_t *size)", f->prefix));
	if (f->fixed)
		buf_printf(e->out, "\treturn %s_WS_BYTES;\n}\n", f->prefix);
	else
		buf_printf(e->out, "\treturn %s_ws_bytes(&args);\n}\n", f->prefix);
}

/* args gets the weights, where they are in a file. */
static void put_weights(Emit *e)
{
	e->tabs = 1;
	if (e->m->weights != WEIGHTS_FILE) {
		emit_line(e, "(void)how;");
		return;
	}
	emit_line(e, "args.weights = how ? how->weights : NULL;");
	emit_line(e, "if (!args.weights)\n\t\treturn PACKED_WEIGHTS;");
}

static void put_inits(Emit *e)
{
	const Function *f = e->f;

	if (f->states)
		buf_printf(e->out,
			"\nstatic void %s_packed_init_state(void *state)\n{\n"
			"\t%s_init_state((%s_state *)state);\n}\n",
			f->prefix, f->prefix, f->prefix);
	begin_sizes(e->out, f,
		arena_printf(
			"static int %s_packed_init_ws(const int64_t *size, void *ws, "
			"const packed_how *how)", f->prefix));
	put_weights(e);
	buf_printf(e->out, "\treturn %s_init_ws(%sws);\n}\n", f->prefix,
		init_takes_args(e->m, f) ? "&args, " : "");
}

/* The inputs and outputs of a call, in the order of its arrays. */
static void put_pointers(Emit *e, const Inputs *in)
{
	const Function *f = e->f;

	for (size_t i = 0; i < in->n; i++)
		if (in->at[i].b)
			emit_line(e, "args.%s = (const %s *)%s_data(in[%zu]);", in->at[i].b->member,
				type_name(in->at[i].dtype), e->m->name, i);
	for (size_t i = 0; i < f->outputs; i++) {
		const Buffer *b = &f->buffer.at[f->inputs + i];
		emit_line(e, "args.%s = (%s *)%s_data(out[%zu]);", b->member,
			type_name(b->u->dtype), e->m->name, i);
	}
}

static void put_call(Emit *e, const Inputs *in, size_t number)
{
	const Function *f = e->f;
	const char *name = e->m->name, *prefix = f->prefix;
	bool shared = e->m->threads != THREADS_NONE;

	e->tabs = 1;
	buf_printf(e->out, "\nstatic int %s_packed_check(const packed_tensor *const *in, "
		"int64_t *size)\n{\n", prefix);
	emit_line(e, "return %s_check_inputs(&%s_module.function[%zu], in, size, "
		"%s_packed_in_shape);\n}\n", name, name, number, prefix);
	buf_printf(e->out,
		"static int %s_packed_call(const packed_tensor *const *in, packed_tensor "
		"*const *out,\n\tint64_t *size, void *state, void *ws, const packed_how "
		"*how)\n{\n",
		prefix);
	emit_line(e, "const packed_function *const f = &%s_module.function[%zu];", name, number);
	emit_line(e, "int error = %s_packed_check(in, size);", prefix);
	emit_line(e, "%s_args args;", prefix);
	if (shared)
		emit_line(e, "%s_threads own;", name);
	buf_printf(e->out, "\n");
	emit_line(e, "error = error ? error : %s_check_outputs(f, out, size);", name);
	emit_line(e, "if (error)\n\t\treturn error;");
	emit_line(e, "%s_packed_set(&args, size);", prefix);
	put_pointers(e, in);
	put_weights(e);
	if (!f->states)
		emit_line(e, "(void)state;");
	if (shared)
		emit_line(e, "if (how && how->threads) {\n"
			"\t\town.parallel_for = how->threads->parallel_for;\n"
			"\t\town.threads = how->threads->threads;\n\t}");
	if (e->m->code.n)
		emit_line(e, "if (how && how->device)\n\t\terror = %s_call_on("
			"(%s_device *)how->device, &args%s);\n\telse", prefix, name,
			f->states ? arena_printf(", (%s_state *)state", prefix) : "");
	emit_line(e, "%serror = %s_call(&args, %sws%s);", e->m->code.n ? "\t" : "", prefix,
		f->states ? arena_printf("(%s_state *)state, ", prefix) : "",
		shared ? ", how && how->threads ? &own : NULL" : "");
	emit_line(e, "if (error)\n\t\treturn error;");
	for (size_t i = 0; i < f->size.n; i++)
		if (f->size.at[i].returned)
			emit_line(e, "size[%d] = args.%s;", size_number(f, &f->size.at[i]),
				f->size.at[i].member);
	emit_line(e, "%s_set_shapes(f, out, size);", name);
	emit_line(e, "return PACKED_OK;\n}");
}

static void put_function(Buf *out, const Module *m, size_t number)
{
	const Function *f = m->function.at[number];
	Emit e = {.out = out, .m = m, .f = f};

	function_sizes(f);
	Inputs in = inputs_of(f);
	buf_printf(out, "\n/* ---- %s */\n\n", f->name ? f->name : m->name);
	put_sizes(out, f);
	put_inputs(out, f, &in);
	put_arrays(out, f, PLACE_OUTPUT, "output");
	put_arrays(out, f, PLACE_STATE, "state");
	put_set(out, f);
	put_shapes(&e, &in);
	put_bytes(&e);
	put_inits(&e);
	put_call(&e, &in, number);
	vec_free(&in);
}

/* ---- the whole */

static const char *rows(const Function *f, size_t n, const char *what)
{
	return n ? arena_printf("%s_packed_%ss", f->prefix, what) : "NULL";
}

static void put_row(Buf *out, const Module *m, const Function *f)
{
	Inputs in = inputs_of(f);
	size_t states = 0;

	for (size_t i = 0; i < f->buffer.n; i++)
		states += f->buffer.at[i].place == PLACE_STATE;
	buf_printf(out, "\t{\"%s\", %d, %zu, %zu, %zu, %s, %s, %s, %s,\n",
		f->name ? f->name : m->name, size_count(f), in.n, f->outputs, states,
		rows(f, size_count(f), "size"), rows(f, in.n, "input"),
		rows(f, f->outputs, "output"), rows(f, states, "state"));
	buf_printf(out, "\t\t%s, %s_WS_ALIGN, %lld, %s_packed_check, %s_packed_in_shape,\n"
		"\t\t%s_packed_shape, %s_packed_room,",
		states ? arena_printf("(int64_t)sizeof(%s_state)", f->prefix) : "0", f->prefix,
		(long long)f->scratch, f->prefix, f->prefix, f->prefix, f->prefix);
	buf_printf(out, " %s_packed_ws_bytes, %s, %s_packed_init_ws, %s_packed_call},\n",
		f->prefix, states ? arena_printf("%s_packed_init_state", f->prefix) : "NULL",
		f->prefix, f->prefix);
	vec_free(&in);
}

static void put_pool(Buf *out, const Module *m)
{
	if (m->threads == THREADS_POOL)
		emit_template(out, m, "module_pool");
	if (m->code.n)
		emit_template(out, m, "module_device");
}

/* The module's own functions: threads, weights and GPUs, NULL for those that it has not. */
static void put_module(Buf *out, const Module *m)
{
	const struct { const char *name; bool is; } own[] = {
		{"packed_pool_start", m->threads == THREADS_POOL},
		{"packed_pool_stop", m->threads == THREADS_POOL},
		{NULL, m->weights == WEIGHTS_FILE},
		{"open_weights", m->weights == WEIGHTS_FILE},
		{"packed_open", m->code.n}, {"packed_close", m->code.n},
		{"packed_error", m->code.n},
	};

	buf_printf(out, "const packed_module %s_module = {PACKED_ABI, %zu, \"%s\", "
		"%s_packed_functions", m->name, m->function.n, m->name, m->name);
	for (size_t i = 0; i < sizeof own / sizeof *own; i++)
		if (own[i].is && own[i].name)
			buf_printf(out, ", %s_%s", m->name, own[i].name);
		else if (own[i].is)
			buf_printf(out, ", \"%s_weights.bin\"", m->name);
		else
			buf_printf(out, ", NULL");
	buf_printf(out, "};\n");
}

void emit_module_header(Buf *out, const Module *m)
{
	emit_template(out, m, "module_header");
	emit_template(out, m, "packed");
	emit_template(out, m, "module_name");
}

void emit_module_source(Buf *out, const Module *m)
{
	Buf body = {0};

	emit_template(out, m, "module_source");
	for (size_t i = 0; i < m->function.n; i++)
		put_function(&body, m, i);
	buf_printf(out, "\n");
	emit_size_helpers(out, "static", m->name, buf_str(&body));
	buf_add(out, buf_str(&body), body.n);
	buf_free(&body);
	put_pool(out, m);
	buf_printf(out,
		"\n/* ---- all */\n\nstatic const packed_function %s_packed_functions[] = {\n",
		m->name);
	for (size_t i = 0; i < m->function.n; i++)
		put_row(out, m, m->function.at[i]);
	buf_printf(out, "};\n");
	put_module(out, m);
	buf_printf(out,
		"#ifdef PACKED_SHARED\nconst packed_module *const packed_library = &%s_module;\n"
		"#endif\n",
		m->name);
}
