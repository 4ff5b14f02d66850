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

/* The parts that have to be hashed, and by BUFFER 1 + the number of its part. */
typedef struct { VEC(DataPart) part; Map of, opened; } Files;

static const Val *file_of(const UOp *u)
{
	const Val *file = u->op == OP_BUFFER ? val_get(u->arg, "file") : NULL;
	return file == VNIL ? NULL : file;
}

/* Looks whether the file has the bytes of the BUFFER, which are a part if they are to be hashed. */
static void find_part(Files *f, const UOp *u, const Val *file)
{
	int64_t at = file->a[1]->i, bytes = file->a[2]->i;
	const Opened *o = opened_file(&f->opened, file->a[0]);
	if (at > o->n || o->n - at < bytes)
		die(MALFORMED, "%s: too short for %s: it has %lld bytes, not %lld", file->a[0]->s,
			buffer_name(u), (long long)o->n, (long long)at + bytes);
	if (embeds_files)
		return;
	DataPart part = {o->fd, file->a[0]->s, at, bytes, 0};
	vec_push(&f->part, part);
	map_put(&f->of, PKEY(u), (void *)f->part.n);
}

/* The BUFFER with the hash of its bytes. */
static const Val *hashed(const Files *f, const UOp *u, const Val *file)
{
	size_t n = PKEY(map_get(&f->of, PKEY(u)));
	const Val *hash = data_hash_text(f->part.at[n - 1].hash);
	if (file->n > 3 && file->a[3] != hash)
		die(MALFORMED, "%s has changed since it was traced", file->a[0]->s);
	return val_set(u->arg, "file", VARR(file->a[0], file->a[1], file->a[2], hash));
}

static UOp *settle(UOp *u, void *files)
{
	const Val *file = file_of(u);
	if (!file)
		return u;
	const Val *arg = embeds_files ? embedded(u, file) : hashed(files, u, file);
	UOp *b = LEAF(OP_BUFFER, u->dtype, arg);
	if (b != u)
		node_note(b, u->note);
	return b;
}

Graph *settle_files(Graph *g)
{
	Files f = {0};
	Nodes all = walk(g->sink);
	for (size_t i = 0; i < all.n; i++)
		if (file_of(all.at[i]))
			find_part(&f, all.at[i], file_of(all.at[i]));
	data_hash_parts(f.part.at, f.part.n);
	g->sink = walk_replace(g->sink, settle, &f);
	for (size_t i = 0; i < f.opened.cap; i++)
		if (f.opened.val[i] && ((const Opened *)f.opened.val[i])->fd >= 0)
			close(((const Opened *)f.opened.val[i])->fd);
	vec_free(&f.part);
	map_free(&f.of);
	map_free(&f.opened);
	return g;
}
