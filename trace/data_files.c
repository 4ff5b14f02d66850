/* The files that BUFFERs name: each has to be there and long enough, and its bytes get a hash, by
 * which whoever maps them sees that they are still those; or (--embed) they go into the document.
 *
 *     file: ["w.bin", 64, 4096]    →    file: ["w.bin", 64, 4096, "9c1f5d0b6aa0e1c4"] */
#include "io/io.h"
#include "trace.h"

bool embeds_files;

typedef struct { const void *p; size_t n; } Mapped;

/* Mapped once for all that is in it. */
static const Mapped *mapped_file(Map *files, const Val *path)
{
	Mapped *m = map_get(files, PKEY(path));
	if (m)
		return m;
	m = arena_alloc(sizeof *m);
	m->p = data_map(path->s, &m->n);
	map_put(files, PKEY(path), m);
	return m;
}

static UOp *settle(UOp *u, void *files)
{
	const Val *file = u->op == OP_BUFFER ? val_get(u->arg, "file") : NULL;
	if (!file || file == VNIL)
		return u;
	int64_t at = file->a[1]->i, bytes = file->a[2]->i;
	const Mapped *m = mapped_file(files, file->a[0]);
	if ((uint64_t)at > m->n || m->n - at < (uint64_t)bytes)
		die(MALFORMED, "%s: too short for %s: it has %zu bytes, not %lld", file->a[0]->s,
			buffer_name(u), m->n, (long long)at + bytes);
	const char *p = (const char *)m->p + at;
	data_check(file, p, bytes);
	if (!embeds_files && file->n > 3)
		return u;
	const Val *all[] = {file->a[0], file->a[1], file->a[2],
		embeds_files ? NULL : data_hash(p, bytes)};
	const Val *arg = embeds_files ?
		val_set(val_set(u->arg, "file", NULL), "data", val_bin(p, bytes)) :
		val_set(u->arg, "file", val_array(4, all));
	UOp *b = LEAF(OP_BUFFER, u->dtype, arg);
	node_note(b, u->note);
	return b;
}

Graph *settle_files(Graph *g)
{
	Map files = {0};
	g->sink = walk_replace(g->sink, settle, &files);
	map_free(&files);
	return g;
}
