/* The files that BUFFERs name: each has to be there and long enough, and its bytes get a hash, by
 * which whoever maps them sees that they are still those; or (--embed) they go into the document.
 *
 *     file: ["w.bin", 64, 4096]    →    file: ["w.bin", 64, 4096, "9c1f5d0b6aa0e1c4"] */
#include "io/io.h"
#include "trace.h"
#include <unistd.h>

bool embeds_files;

typedef struct { int fd; int64_t n; } Opened;

/* Opened once for all that is in it. */
static const Opened *opened_file(Map *files, const Val *path)
{
	Opened *f = map_get(files, PKEY(path));
	if (f)
		return f;
	f = arena_alloc(sizeof *f);
	f->n = data_given(path->s);
	f->fd = f->n < 0 ? data_open(path->s, &f->n) : -1;
	map_put(files, PKEY(path), f);
	return f;
}

/* The BUFFER with its bytes in it. */
static const Val *embedded(const UOp *u, const Val *file)
{
	size_t n;
	const char *p = data_map(file->a[0]->s, &n);
	data_check(file, p + file->a[1]->i, file->a[2]->i);
	return val_set(val_set(u->arg, "file", NULL), "data",
		val_bin(p + file->a[1]->i, file->a[2]->i));
}

/* The BUFFER with the hash of its bytes, which are read by pieces: none is mapped. */
static const Val *hashed(const UOp *u, const Val *file, const Opened *f)
{
	const Val *hash = data_hash_file(f->fd, file->a[0]->s, file->a[1]->i, file->a[2]->i);
	if (file->n > 3 && file->a[3] != hash)
		die(MALFORMED, "%s has changed since it was traced", file->a[0]->s);
	return val_set(u->arg, "file", VARR(file->a[0], file->a[1], file->a[2], hash));
}

static UOp *settle(UOp *u, void *files)
{
	const Val *file = u->op == OP_BUFFER ? val_get(u->arg, "file") : NULL;
	if (!file || file == VNIL)
		return u;
	int64_t at = file->a[1]->i, bytes = file->a[2]->i;
	const Opened *f = opened_file(files, file->a[0]);
	if (at > f->n || f->n - at < bytes)
		die(MALFORMED, "%s: too short for %s: it has %lld bytes, not %lld", file->a[0]->s,
			buffer_name(u), (long long)f->n, (long long)at + bytes);
	UOp *b = LEAF(OP_BUFFER, u->dtype, embeds_files ? embedded(u, file) : hashed(u, file, f));
	if (b != u)
		node_note(b, u->note);
	return b;
}

Graph *settle_files(Graph *g)
{
	Map files = {0};
	g->sink = walk_replace(g->sink, settle, &files);
	for (size_t i = 0; i < files.cap; i++)
		if (files.val[i] && ((const Opened *)files.val[i])->fd >= 0)
			close(((const Opened *)files.val[i])->fd);
	map_free(&files);
	return g;
}
