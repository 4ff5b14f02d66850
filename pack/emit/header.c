/* NAME.h: what a program includes. */
#include "emit/emit.h"
#include <ctype.h>

const char *emit_shape(const Buffer *b)
{
	return arena_printf("%s%s", dtype_name(b->u->dtype), shape_text(b->u->shape));
}

/* Sizes, shapes and bytes of what the caller gives, as constants; of symbolic ones the most. */
static void put_constants(Emit *e)
{
	const Function *f = e->f;

	for (size_t i = 0; i < f->size.n; i++) {
		const SizeVar *s = &f->size.at[i];
		if (s->turn || (s->bound && !s->returned))
			continue;
		buf_printf(e->out, "#define %s_%s_MIN %lld\n", f->prefix, s->member,
			(long long)s->var->arg->a[1]->i);
		buf_printf(e->out, "#define %s_%s_MAX %lld\n", f->prefix, s->member,
			(long long)s->max);
	}
	for (size_t i = 0; i < f->inputs + f->outputs; i++) {
		const Buffer *b = &f->buffer.at[i];
		int64_t low, most;
		ix_bounds(b->room, &low, &most);
		buf_printf(e->out, "#define %s_%s_DTYPE \"%s\"\n", f->prefix, b->member,
			dtype_name(b->u->dtype));
		buf_printf(e->out, "#define %s_%s_ALIGN %d\n", f->prefix, b->member,
			dtype_size(b->u->dtype));
		buf_printf(
			e->out, "#define %s_%s_RANK %d\n", f->prefix, b->member, b->u->shape->rank);
		for (int k = 0; k < b->u->shape->rank; k++) {
			int64_t n;
			if (ix_is_const(b->u->shape->dim[k], &n))
				buf_printf(e->out, "#define %s_%s_DIM%d %lld\n", f->prefix,
					b->member, k, (long long)n);
		}
		buf_printf(e->out, "#define %s_%s_%s %lld\n", f->prefix, b->member,
			low == most ? "BYTES" : "BYTES_MAX", (long long)most);
	}
}

static void put_args(Emit *e)
{
	const Function *f = e->f;

	buf_printf(e->out, "\n/* What %s_call takes and gives. No output may overlap with anything "
		"else. */\ntypedef struct {\n", f->prefix);
	for (size_t i = 0; i < f->size.n; i++) {
		const SizeVar *s = &f->size.at[i];
		if (!s->bound)
			buf_printf(e->out, "\tint64_t %s;  /* %lld to %lld */\n", s->member,
				(long long)s->var->arg->a[1]->i, (long long)s->max);
		else if (s->returned)
			buf_printf(e->out, "\tint64_t %s;  /* set by the call */\n", s->member);
	}
	for (size_t i = 0; i < f->inputs + f->outputs; i++) {
		const Buffer *b = &f->buffer.at[i];
		buf_printf(e->out, "\t%s%s *%s;  /* %s%s */\n",
			b->place == PLACE_INPUT ? "const " : "", type_name(b->u->dtype), b->member,
			emit_shape(b), b->bound ? ", with room for the most there can be" : "");
	}
	if (e->m->weights == WEIGHTS_FILE)
		buf_printf(e->out, "\tconst void *weights;  /* %s_weights.bin */\n", e->m->name);
	if (!(f->inputs + f->outputs + f->size.n))
		buf_printf(e->out, "\tchar none;\n");
	buf_printf(e->out, "} %s_args;\n", f->prefix);
}

static void put_state(Emit *e)
{
	const Function *f = e->f;

	if (!f->states)
		return;
	buf_printf(e->out, "\n/* What is kept from call to call. */\ntypedef struct {\n");
	for (size_t i = 0; i < f->buffer.n; i++) {
		const Buffer *b = &f->buffer.at[i];
		int64_t n;
		if (b->place == PLACE_STATE && shape_static(b->u->shape, &n))
			buf_printf(e->out, "\t%s %s[%lld];  /* %s */\n", type_name(b->u->dtype),
				b->member, (long long)(n ? n : 1), emit_shape(b));
	}
	buf_printf(e->out, "} %s_state;\n", f->prefix);
	buf_printf(e->out, "/* Sets it to what it is before the first call. */\n"
		"void %s_init_state(%s_state *state);\n", f->prefix, f->prefix);
}

bool init_takes_args(const Module *m, const Function *f)
{
	return !f->fixed || ((f->prepares || f->widens) && m->weights == WEIGHTS_FILE);
}

static void put_workspace(Emit *e)
{
	const Function *f = e->f;

	buf_printf(e->out,
		"\n/* The workspace: memory of the caller's, at a multiple of %s_WS_ALIGN "
		"bytes. */\n#define %s_WS_ALIGN %lld\n",
		f->prefix, f->prefix, (long long)f->align);
	if (f->fixed) {
		buf_printf(e->out, "#define %s_WS_BYTES %lld\n", f->prefix, (long long)f->bytes);
	} else {
		buf_printf(e->out, "int64_t %s_ws_bytes(const %s_args *args);\n", f->prefix,
			f->prefix);
	}
	if (e->m->threads != THREADS_NONE)
		buf_printf(e->out,
			"/* Of which this is one thread's; each other one needs as much more, at "
			"the end. */\n#define %s_THREAD_BYTES %lld\n",
			f->prefix, (long long)f->scratch);
	int64_t stack = stack_most(e->m, f);
	if (stack >= 0)
		buf_printf(e->out,
			"/* Small arrays and accumulators, as many as are there at once, of the "
			"kernel that has most,\n * on the stack of a thread that runs it. */\n"
			"#define %s_STACK_BYTES %lld\n",
			f->prefix, (long long)stack);
	buf_printf(e->out, "/* To be called once for a workspace, before calls. */\n"
		"int %s_init_ws(%svoid *ws);\n", f->prefix,
		init_takes_args(e->m, f) ? arena_printf("const %s_args *args, ", f->prefix) : "");
}

const char *emit_call_head(const Module *m, const Function *f)
{
	return arena_printf("int %s_call(%s_args *args, %svoid *ws%s)", f->prefix, f->prefix,
		f->states ? arena_printf("%s_state *state, ", f->prefix) : "",
		m->threads == THREADS_NONE ? "" :
			arena_printf(", const %s_threads *threads", m->name));
}

static void put_function(Buf *out, const Module *m, const Function *f)
{
	Emit e = {.out = out, .m = m, .f = f};

	function_sizes(f);
	if (f->name)
		buf_printf(out, "\n/* ---- %s */\n", f->name);
	buf_printf(out, "\n");
	put_constants(&e);
	put_args(&e);
	put_state(&e);
	put_workspace(&e);
	buf_printf(out, "%s;\n", emit_call_head(m, f));
	if (m->code.n)
		buf_printf(out,
			"/* The same on a GPU, to which arrays and states are copied, and back. "
			"*/\n%s;\n", emit_call_on_head(m, f));
}

static const char *upper(const char *s)
{
	char *r = arena_strdup(s);

	for (char *p = r; *p; p++)
		*p = (char)toupper((unsigned char)*p);
	return r;
}

void emit_header(Buf *out, const Module *m)
{
	const char *guard = arena_printf("%s_H", upper(m->name));

	buf_printf(out, "/* %s.h: made by sluice pack. This code is yours. */\n", m->name);
	buf_printf(out, "/* Fast by %s -fno-math-errno, and the processor:\n * -march=native, or "
		"another's name. */\n", module_vectors(m) ? "cc -O2" :
		"clang -O2, or gcc -O3 -fno-tree-loop-vectorize,");
	buf_printf(out, "#ifndef %s\n#define %s\n#include <stdint.h>\n\n", guard, guard);
	buf_printf(out, "#ifdef __cplusplus\nextern \"C\" {\n");
	buf_printf(out, "#endif\n\n");
	buf_printf(out,
		"/* What functions return: all is well; a size is outside its bounds, or two "
		"do not agree;\n * a workspace is not at a multiple of its alignment; weights are "
		"not what they were%s. */\n"
		"enum { %s_OK = 0, %s_SIZE = 1, %s_ALIGN = 2, %s_WEIGHTS = 3%s };\n",
		m->code.n ? "; a GPU failed" : "", m->name, m->name, m->name, m->name,
		m->code.n ? arena_printf(", %s_FAILED = 10", m->name) : "");
	emit_weights_header(out, m);
	emit_threads_header(out, m);
	if (m->code.n)
		emit_template(out, m, "device_public");
	for (size_t i = 0; i < m->function.n; i++)
		put_function(out, m, m->function.at[i]);
	buf_printf(out, "\n#ifdef __cplusplus\n}\n#endif\n#endif\n");
}
