/* Functions on GPUs. What runs is the driver's; here are the sources of kernels as data, and for
 * each function and target what a list does, by NAME_device.c.
 *
 *     CALL r_64 y x       →   NAME_launch with {y, x}, {n}, groups and items; NAME_start(device, …)
 *     input, output, temp →   void *x = NAME_place(device, 3, bytes, args->x, bytes); */
#include "emit/emit.h"
#include <stdlib.h>

static const char *slot_text(const Emit *e, const Buffer *b)
{
	const Function *f = e->f;
	size_t own = b->place == PLACE_TEMP ? b->region :
		f->region.n + (size_t)(b - f->buffer.at);

	return arena_printf("%zu", b->place == PLACE_CONST ? e->m->slots + b->constant :
		f->places + own);
}

void emit_place(Emit *e, const Buffer *b)
{
	const char *name = e->m->name;
	UOp *room = b->place == PLACE_TEMP ? e->f->region.at[b->region].bytes : b->room;

	emit_start(e);
	if (b->place == PLACE_CONST) {
		const Constant *c = &e->m->constant.at[b->constant];
		buf_printf(e->out, "void *const %s = %s_keep(device, %s, %s, %lld);\n", b->id, name,
			slot_text(e, b), emit_constant_at(e->m, c), (long long)c->at.bytes);
		return;
	}
	buf_printf(e->out, "void *%s = %s_place(device, %s, ", b->id, name, slot_text(e, b));
	emit_size(e, room, NULL);
	if (b->place == PLACE_INPUT || b->place == PLACE_STATE) {
		buf_printf(e->out, ", %s->%s, ", b->place == PLACE_INPUT ? "args" : "state",
			b->member);
		emit_size(e, b->bytes, NULL);
		buf_printf(e->out, ");\n");
	} else {
		buf_printf(e->out, ", NULL, 0);\n");
	}
}

void emit_fetch(Emit *e, const Buffer *b)
{
	if (b->place != PLACE_OUTPUT && b->place != PLACE_STATE)
		return;
	emit_start(e);
	buf_printf(e->out, "%s_get(device, %s->%s, %s, ", e->m->name,
		b->place == PLACE_OUTPUT ? "args" : "state", b->member, b->id);
	emit_size(e, b->bytes, NULL);
	buf_printf(e->out, ");\n");
}

/* The first three of a grid, 1 where it has fewer. */
static void put_axes(Emit *e, const Val *grid)
{
	const Val *one = val_int(1);

	for (size_t i = 0; i < 3; i++) {
		bool is = grid && grid->kind == VAL_ARRAY && i < grid->n;
		buf_printf(e->out, i ? ", " : "{");
		emit_size_val(e, is ? grid->a[i] : one);
	}
	buf_printf(e->out, "}");
}

void emit_launch(Emit *e, const UOp *call)
{
	const Val *arg = call->src[0]->arg, *vars = val_get(arg, "vars");
	size_t sizes = vars && vars->kind == VAL_ARRAY ? vars->n : 0;

	emit_line(e, "{");
	e->tabs++;
	emit_start(e);
	buf_printf(e->out, "void *const buf[] = {");
	for (uint32_t i = 1; i < call->nsrc; i++)
		buf_printf(e->out, "%s%s", i > 1 ? ", " : "",
			function_buffer(e->f, call->src[i])->id);
	buf_printf(e->out, "};\n");
	emit_start(e);
	buf_printf(e->out, "const int64_t size[] = {");
	for (size_t i = 0; i < sizes; i++) {
		buf_printf(e->out, i ? ", " : "");
		emit_size_val(e, vars->a[i]);
	}
	buf_printf(e->out, sizes ? "};\n" : "0};\n");
	emit_start(e);
	buf_printf(e->out, "const %s_launch launch = {%zu, %u, %zu, buf, size, ", e->m->name,
		module_kernel_number(e->m, call->src[0]), call->nsrc - 1, sizes);
	put_axes(e, val_get(arg, "global_size"));
	buf_printf(e->out, ", ");
	put_axes(e, val_get(arg, "local_size"));
	buf_printf(e->out, "};\n");
	emit_line(e, "%s_start(device, &launch);", e->m->name);
	e->tabs--;
	emit_line(e, "}");
}

/* ---- for a module */

/* A text in lines, for a compiler need not take one that is long. */
static void put_lines(Buf *out, const char *s)
{
	enum { MOST = 1000 };
	int n = 0;

	for (buf_printf(out, "\t\""); *s; s++) {
		if (*s == '\n')
			buf_printf(out, s[1] ? "\\n\",\n\t\"" : "\\n");
		else if (strchr("\"\\?", *s))
			buf_printf(out, "\\%c", *s);
		else
			buf_printf(out, *s == '\t' ? "\\t" : "%c", *s);
		n = *s == '\n' ? 0 : n + 1;
		if (n && n % MOST == 0 && s[1] && s[1] != '\n')
			buf_printf(out, "\",\n\t\"");
	}
	buf_printf(out, "\",\n");
}

static size_t line_count(const char *text)
{
	size_t n = 0;

	for (const char *at = text; (at = strstr(at, "\",\n")); at++)
		n++;
	return n;
}

static const char *flags_of(const Kernel *k)
{
	const Val *flags = val_get(k->program->arg, "flags");

	return flags && flags->kind == VAL_STR ? flags->s : "";
}

/* A kernel of the user's own has a program of its own: what it declares may be another's. */
static bool shares(const Kernel *a, const Kernel *b)
{
	const Val *alone[] = {
		val_get(a->program->arg, "alone"), val_get(b->program->arg, "alone")};

	return a == b || (!alone[0] && !alone[1] && !strcmp(flags_of(a), flags_of(b)));
}

/* The programs of a target, one for the kernels of the same flags. */
static void put_code(Buf *out, const Module *m, const Code *c)
{
	Buf programs = {0}, kernels = {0};
	size_t n = 0, *in = xcalloc(c->kernel.n + 1, sizeof *in);

	for (size_t i = 0; i < c->kernel.n; i++) {
		size_t first = 0;
		while (!shares(&c->kernel.at[first], &c->kernel.at[i]))
			first++;
		if (first == i) {
			Buf text = {0};
			for (size_t k = i; k < c->kernel.n; k++)
				if (shares(&c->kernel.at[i], &c->kernel.at[k]))
					put_lines(&text, c->kernel.at[k].src);
			buf_printf(out, "static const char *const %s_%s_%zu[] = {\n%s};\n",
				m->name, c->target, n, buf_str(&text));
			buf_printf(&programs, "\t{\"%s\", %s_%s_%zu, %zu},\n",
				flags_of(&c->kernel.at[i]), m->name, c->target, n,
				line_count(buf_str(&text)));
			buf_free(&text);
		}
		in[i] = first == i ? n++ : in[first];
		buf_printf(&kernels, "\t{\"%s\", %zu},\n", c->kernel.at[i].id, in[i]);
	}
	buf_printf(out, "static const %s_program %s_%s_programs[] = {\n%s\t{NULL, NULL, 0}\n};\n",
		m->name, m->name, c->target, buf_str(&programs));
	buf_printf(out, "static const %s_kernel %s_%s_kernels[] = {\n%s\t{NULL, 0}\n};\n\n",
		m->name, m->name, c->target, buf_str(&kernels));
	buf_printf(out, "enum { %s_%s_is = %zu, %s_%s_n = %zu };\n\n", m->name, c->target, n,
		m->name, c->target, c->kernel.n);
	buf_free(&programs);
	buf_free(&kernels);
	free(in);
}

void emit_device_source(Buf *out, const Module *m)
{
	emit_template(out, m, "device_source");
	for (size_t i = 0; i < m->code.n; i++)
		emit_template(out, m, arena_printf("device_%s", m->code.at[i].target));
	buf_printf(out, "static const Driver *const drivers[] = {");
	for (size_t i = 0; i < m->code.n; i++)
		buf_printf(out, "%s&driver_%s", i ? ", " : "", m->code.at[i].target);
	buf_printf(out, "};\n\n");
	emit_template(out, m, "device_common");
}

void emit_device_header(Buf *out, const Module *m) { emit_template(out, m, "device_header"); }

void emit_device_code(Buf *out, const Module *m)
{
	if (!m->code.n)
		return;
	buf_printf(out, "/* ---- kernels for GPUs, as sources */\n\n");
	for (size_t i = 0; i < m->code.n; i++)
		put_code(out, m, &m->code.at[i]);
	buf_printf(out, "const %s_code %s_codes[] = {\n", m->name, m->name);
	for (size_t i = 0; i < m->code.n; i++) {
		const char *id = arena_printf("%s_%s", m->name, m->code.at[i].target);
		buf_printf(out, "\t{\"%s\", %s_programs, %s_kernels, %s_is, %s_n},\n",
			m->code.at[i].target, id, id, id, id);
	}
	buf_printf(out, "};\nconst int32_t %s_targets = %zu, %s_slots = %zu;\n\n", m->name,
		m->code.n, m->name, m->slots + m->constant.n);
}

/* ---- for a function */

const char *emit_call_on_head(const Module *m, const Function *f)
{
	return arena_printf("int %s_call_on(%s_device *device, %s_args *args%s)", f->prefix,
		m->name, f->prefix, f->states ? arena_printf(", %s_state *state", f->prefix) : "");
}

void emit_call_on(Buf *out, const Module *m, const Function *f)
{
	buf_printf(out, "\n%s\n{\n\tswitch (%s_begin(device)) {\n", emit_call_on_head(m, f),
		m->name);
	for (size_t i = 0; i < f->variant.n; i++) {
		size_t number = 0;
		while (strcmp(m->code.at[number].target, f->variant.at[i]->target))
			number++;
		buf_printf(out, "\tcase %zu:\n\t\treturn %s_end(device, %s_on_%s(device, "
			"args%s));\n", number, m->name, f->prefix, f->variant.at[i]->target,
			f->states ? ", state" : "");
	}
	buf_printf(out, "\tdefault:\n\t\t(void)args;\n%s\t\treturn %s_lacks(device, "
		"\"%s\");\n\t}\n}\n",
		f->states ? "\t\t(void)state;\n" : "", m->name, f->name ? f->name : m->name);
}
