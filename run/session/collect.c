/* The outputs of all calls of a run whose inputs are fed by rows: an output that has a row for each
 * row of the batch is gathered over the calls, in the order of the rows; of others there is the
 * last.
 *
 *     run f.mp --feed x=x.npy,batch=32 -o y.npy       y has as many rows as x, in whole batches */
#include "session/session.h"
#include <stdlib.h>

struct Collected {
	const Feeds *feeds;
	size_t n;
	Buf *bytes;                     /* of each output */
	int64_t *count;                 /* its rows so far */
};

Collected *collected_new(const Feeds *f)
{
	Collected *c = arena_alloc(sizeof *c);
	c->feeds = f;
	return c;
}

static bool has_rows(const Collected *c, const Array *a)
{
	return a->rank > 0 && a->dim[0] == feeds_rows(c->feeds);
}

void collected_add(Collected *c, Session *s)
{
	const char *const *names;
	const Array *at;
	size_t n = session_outputs(s, &names, &at);

	if (!c->n) {
		c->bytes = xcalloc(n + 1, sizeof *c->bytes);
		c->count = xcalloc(n + 1, sizeof *c->count);
	}
	c->n = n;
	for (size_t i = 0; i < n; i++) {
		if (!has_rows(c, &at[i]))
			continue;
		buf_add(&c->bytes[i], at[i].data, at[i].bytes);
		c->count[i] += at[i].dim[0];
	}
}

size_t collected_outputs(Collected *c, Session *s, const char *const **names, const Array **at)
{
	size_t n = session_outputs(s, names, at);
	Array *all = arena_alloc((n + 1) * sizeof *all);

	for (size_t i = 0; i < n; i++) {
		all[i] = (*at)[i];
		if (i >= c->n || !c->count[i] || !has_rows(c, &all[i]))
			continue;
		all[i].dim[0] = c->count[i];
		all[i].data = (void *)buf_str(&c->bytes[i]);
		all[i].bytes = c->bytes[i].n;
		all[i].owned = false;
	}
	*at = all;
	return n;
}

void collected_free(Collected *c)
{
	for (size_t i = 0; i < c->n; i++)
		buf_free(&c->bytes[i]);
	free(c->bytes);
	free(c->count);
}
