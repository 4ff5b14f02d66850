/* Outputs whose sizes depend on data: the document has them at their largest size, and the counts
 * as extra outputs after the others.
 *
 *     meta {counts: ["count_0"], trims: {y: [2, "count_0"]}}
 *     y [2,64], count_0 = 3   →   y [2,3]
 */
#include "session/session.h"

enum { LARGEST = INT64_MAX >> 1 };

static const Val *counts_of(const Graph *g)
{
	const Val *v = val_get(g->meta, "counts");

	if (!v)
		return VNIL;
	if (v->kind != VAL_ARRAY)
		die(MALFORMED, "meta.counts is no list of names");
	for (size_t i = 0; i < v->n; i++)
		if (v->a[i]->kind != VAL_STR)
			die(MALFORMED, "meta.counts is no list of names");
	return v;
}

void counts_declare(const Graph *g)
{
	const Val *c = counts_of(g);

	for (size_t i = 0; i < c->n; i++)
		if (!vars_find(c->a[i]->s, c->a[i]->n))
			vars_bind(c->a[i]->s, 0, LARGEST);
}

static const Array *output_named(
	size_t n, const char *const *names, const Array *at, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(names[i], name))
			return &at[i];
	die(MALFORMED, "meta.counts: there is no output '%s'", name);
}

static VarEnv with_counts(
	const Val *c, const VarEnv *env, size_t n, const char *const *names, const Array *at)
{
	VarEnv e = *env;

	for (size_t i = 0; i < c->n; i++) {
		const Array *a = output_named(n, names, at, c->a[i]->s);
		if (a->dtype != DT_I64 || a->rank)
			die(MALFORMED, "meta.counts: output '%s' is not an i64 scalar", c->a[i]->s);
		if (e.n == sizeof e.value / sizeof *e.value)
			die(UNSUPPORTED, "more than %d size variables", e.n);
		e.name[e.n] = c->a[i]->s;
		memcpy(&e.value[e.n++], a->data, sizeof *e.value);
	}
	return e;
}

/* Keeps the first dim[i] elements of every axis. */
static Array cut(const Array *a, const int64_t *dim)
{
	Array out = array_new(a->dtype, a->rank, dim);
	int64_t stride[MAX_RANK + 1], at[MAX_RANK] = { 0 }, rows = 1;
	size_t row = dtype_size(a->dtype);
	int last = a->rank;

	stride[a->rank] = row;
	for (int i = a->rank - 1; i >= 0; i--)
		stride[i] = stride[i + 1] * a->dim[i];
	/* the innermost axes that are kept whole, and the one before them, are copied in one piece
	 */
	while (last > 0 && (last == a->rank || dim[last] == a->dim[last]))
		row *= dim[--last];
	for (int i = 0; i < last; i++)
		rows *= dim[i];
	for (int64_t r = 0; r < rows && row; r++) {
		size_t from = 0;
		for (int i = 0; i < last; i++)
			from += at[i] * stride[i + 1];
		memcpy((char *)out.data + r * row, (const char *)a->data + from, row);
		for (int i = last - 1; i >= 0 && ++at[i] == dim[i]; i--)
			at[i] = 0;
	}
	return out;
}

static Array trimmed(const char *name, const Array *a, const Val *shape, const VarEnv *env)
{
	const char *err = NULL;
	int status = MALFORMED;
	const Shape *s = shape_from_val(shape, &err, &status);
	int64_t dim[MAX_RANK];

	if (!s || s->rank != a->rank)
		die(MALFORMED, "meta.trims: %s: %s", name, err ? err : "not the output's rank");
	for (int i = 0; i < s->rank; i++)
		if (!ix_eval(s->dim[i], env, &dim[i]) || dim[i] < 0 || dim[i] > a->dim[i])
			die(MALFORMED, "meta.trims: %s: axis %d has no size from 0 to %lld", name,
				i, (long long)a->dim[i]);
	return cut(a, dim);
}

size_t outputs_trim(const Graph *g, const VarEnv *env, size_t n, const char *const *names,
	const Array **at)
{
	const Val *counts = counts_of(g), *trims = val_get(g->meta, "trims");

	/* stages that were run between have read another document since */
	counts_declare(g);
	Array *out;

	if (!counts->n)
		return n;
	if (counts->n > n)
		die(MALFORMED, "meta.counts has more names than there are outputs");
	VarEnv all = with_counts(counts, env, n, names, *at);
	checks_make(g, &all);
	n -= counts->n;
	out = arena_alloc((n + 1) * sizeof *out);
	for (size_t i = 0; i < n; i++) {
		const Val *shape = val_get(trims, names[i]);
		out[i] = shape ? trimmed(names[i], &(*at)[i], shape, &all) : (*at)[i];
	}
	*at = out;
	return n;
}
