/* Which of two calls is to blame when one reads what the other wrote. Values alone do not tell: a
 * wrong value may be right elsewhere. So the temporary in question becomes an input, and is given
 * each value of the first document that it could have: if the results are right with one of them,
 * the call that wrote it is wrong. */
#include "hunt/hunt.h"
#include <dirent.h>

enum { TRIES = 64 };

/* The place of the call that alone writes a buffer, and nothing else; nsrc when there is none. */
static size_t writer_of(const Graph *g, const UOp *buffer)
{
	size_t n = g->sink->nsrc, found = n;

	for (size_t i = 0; i < n; i++) {
		const UOp *call = g->sink->src[i];
		uint64_t writes = call_has_kernel(call) ? call_writes(call) : 0;
		for (uint32_t k = 1; k < call->nsrc && k <= 64; k++)
			if (call->src[k] == buffer && writes >> (k - 1) & 1) {
				if (found < n || writes & (writes - 1))
					return n;
				found = i;
			}
	}
	return found;
}

static bool may_be(const char *file, const UOp *buffer)
{
	Array a = npy_read(file, DT_NONE);
	bool same = a.dtype == buffer->dtype && a.rank == buffer->shape->rank;
	int64_t n;

	for (int k = 0; same && k < a.rank; k++)
		same = !const_is_int(buffer->shape->dim[k], &n) || n == a.dim[k];
	array_free(&a);
	return same;
}

/* Whether the results are right with the values of a file in the place of the temporary. */
static bool right_with(Hunt *h, const char *document, const UOp *buffer, const char *file)
{
	const char **given = arena_alloc((h->ninputs + 1) * sizeof *given), *why;
	Hunt with = *h;

	for (size_t i = 0; i < h->ninputs; i++)
		given[i] = h->inputs[i];
	given[h->ninputs] = arena_printf("%s=%s", buffer_name(buffer), file);
	with.inputs = given;
	with.ninputs++;
	bool right = hunt_judge(&with, NULL, document, NULL, &why) == GOOD;
	h->files = with.files;
	return right;
}

/* Whether a call writes what it has read and nothing else, place by place. With the value that it
 * should have written in the place of what it reads, every result is right: that tells nothing. */
static bool hands_on(const UOp *call)
{
	const UOp *kernel = call_has_kernel(call) ? call->src[0] : NULL;
	const UOp *store = kernel && kernel->nsrc == 1 ? kernel->src[0] : NULL;
	const UOp *load = store && store->op == OP_STORE ? store->src[1] : NULL;
	const UOp *to = store ? store->src[0] : NULL, *from = load ? load->src[0] : NULL;

	if (!load || load->op != OP_LOAD || store->nsrc > 2 || load->nsrc > 1)
		return false;
	for (uint32_t i = 1; from->nsrc == to->nsrc && i < to->nsrc; i++)
		if (from->src[i] != to->src[i])
			return false;
	return from->nsrc == to->nsrc && shape_equal(from->src[0]->shape, to->src[0]->shape);
}

/* The file of a value with which the results are right; NULL when there is none. */
static const char *value_missed(
	Hunt *h, Graph *g, size_t writer, const UOp *buffer, size_t *tries)
{
	const char *document = hunt_file(h, ".mp"), *found = NULL;
	DIR *d = opendir(h->nodes);
	Buf b = {0};

	Graph copy = *g, *cut = apply_cut(&copy, writer, writer + 1, 0);
	if (cut) {
		wire_write(&b, cut);
		file_write(document, b.s, b.n);
	}
	for (struct dirent *e; d && cut && !found && *tries && (e = readdir(d));) {
		const char *file = arena_printf("%s/%s", h->nodes, e->d_name);
		if (e->d_name[0] == '.' || !may_be(file, buffer))
			continue;
		--*tries;
		found = right_with(h, document, buffer, file) ? file : NULL;
	}
	if (d)
		closedir(d);
	buf_free(&b);
	return found;
}

/* A call that only hands on the value which the one before it would have to have written is itself
 * to blame. */
size_t call_to_blame(Hunt *h, const Graph *g, size_t i)
{
	size_t tries = TRIES, end = g->sink->nsrc;
	const char *missed = "";

	for (size_t next = i; next < end;) {
		const UOp *call = g->sink->src[i = next];
		next = end;
		for (uint32_t k = 1; k < call->nsrc && next == end && !hands_on(call); k++) {
			size_t writer = writer_of(g, call->src[k]);
			const char *value = writer < i && buffer_is(call->src[k], "temp") ?
				value_missed(h, (Graph *)g, writer, call->src[k], &tries) : NULL;
			if (value && strcmp(value, missed)) {
				missed = value;
				next = writer;
			}
		}
	}
	return i;
}
