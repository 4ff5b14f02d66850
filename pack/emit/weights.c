/* Where constants are: in the source, in an object that no C compiler reads, or in a file.
 *
 *     source    static const float w[12288] = {…};
 *     object    NAME_weights.bin, which NAME_weights.S takes in; w is a place in NAME_weights
 *     file      NAME_weights.bin, which the program maps and gives as args->weights
 *
 * Those below a cache line or two stay in the source, and first contents of states. */
#include "emit/emit.h"

#define NAME_sum sum_of_weights
#include "emit/weights_sum.tmpl"

enum { ALIGN = 64, SMALL = 256, MOST_IN_SOURCE = 1 << 20 };

static bool is_first_content(const Module *m, size_t k)
{
	for (size_t i = 0; i < m->function.n; i++) {
		const Function *f = m->function.at[i];
		for (size_t j = 0; j < f->buffer.n; j++)
			if (f->buffer.at[j].place == PLACE_STATE && f->buffer.at[j].constant == k)
				return true;
	}
	return false;
}

void weights_place(Module *m)
{
	int64_t all = 0;

	for (size_t i = 0; i < m->constant.n; i++)
		all += m->constant.at[i].at.bytes;
	if (m->weights == WEIGHTS_ANY)
		m->weights = all > MOST_IN_SOURCE ? WEIGHTS_OBJECT : WEIGHTS_SOURCE;
	for (size_t i = 0; i < m->constant.n; i++) {
		Constant *c = &m->constant.at[i];
		c->offset = -1;
		if (m->weights == WEIGHTS_SOURCE || c->at.bytes < SMALL || is_first_content(m, i))
			continue;
		c->offset = m->weight_bytes;
		m->weight_bytes += (c->at.bytes + ALIGN - 1) / ALIGN * ALIGN;
	}
	if (!m->weight_bytes)
		m->weights = WEIGHTS_SOURCE;
}

static void weights_content(Buf *out, const Module *m)
{
	static const char zeros[ALIGN];

	for (size_t i = 0; i < m->constant.n; i++) {
		const Constant *c = &m->constant.at[i];
		if (c->offset < 0)
			continue;
		buf_add(out, c->at.data, c->at.bytes);
		buf_add(out, zeros, (ALIGN - c->at.bytes % ALIGN) % ALIGN);
	}
}

void emit_weights_file(Buf *out, Module *m)
{
	weights_content(out, m);
	m->weight_sum = sum_of_weights((const unsigned char *)buf_str(out), out->n);
}

void emit_weights_object(Buf *out, const Module *m) { emit_template(out, m, "weights_object"); }

void emit_weights_open(Buf *out, const Module *m) { emit_template(out, m, "weights_open"); }

void emit_weights_header(Buf *out, const Module *m)
{
	if (m->weights == WEIGHTS_SOURCE)
		return;
	buf_printf(out, "\n#define %s_WEIGHTS_BYTES %lld\n", m->name, (long long)m->weight_bytes);
	if (m->weights != WEIGHTS_FILE)
		return;
	buf_printf(out,
		"/* Weights are in %s_weights.bin, whose content, at a multiple of 64 bytes, calls "
		"read.\n * %s_WEIGHTS: it is not what it was. %s_open.c maps such a file: NULL "
		"when "
		"that is not\n * possible, or it is another one. */\n"
		"int %s_check_weights(const void *weights, int64_t bytes);\n"
		"const void *%s_open_weights(const char *path);\n",
		m->name, m->name, m->name, m->name, m->name);
}

void emit_weights_source(Buf *out, const Module *m)
{
	if (m->weights == WEIGHTS_OBJECT)
		buf_printf(out, "/* %s_weights.S */\n#ifdef __cplusplus\nextern \"C\"\n#endif\n"
			"extern const unsigned char %s_weights[];\n\n", m->name, m->name);
	if (m->weights != WEIGHTS_FILE)
		return;
	emit_template(out, m, "weights_sum");
	buf_printf(out,
		"int %s_check_weights(const void *weights, int64_t bytes)\n{\n"
		"\tconst unsigned char *const p = (const unsigned char *)weights;\n\n"
		"\tif (bytes != %s_WEIGHTS_BYTES || (uintptr_t)p %% %d)\n\t\treturn %s_WEIGHTS;\n"
		"\treturn %s_sum(p, bytes) == UINT64_C(%llu) ? %s_OK : %s_WEIGHTS;\n}\n\n",
		m->name, m->name, ALIGN, m->name, m->name, (unsigned long long)m->weight_sum,
		m->name, m->name);
}

const char *emit_constant_at(const Module *m, const Constant *c)
{
	if (c->offset < 0)
		return c->id;
	return arena_printf("(const %s *)(const void *)(%s + %lld)", type_name(c->at.dtype),
		m->weights == WEIGHTS_FILE ? "weights" : arena_printf("%s_weights", m->name),
		(long long)c->offset);
}

void emit_weight_place(Emit *e, const Buffer *b)
{
	const Constant *c = &e->m->constant.at[b->constant];

	if (c->offset >= 0)
		emit_line(e, "const %s *const %s = %s;", type_name(b->u->dtype), b->id,
			emit_constant_at(e->m, c));
}
