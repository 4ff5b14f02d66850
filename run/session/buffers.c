/* Memory for each BUFFER of a schedule.
 *
 *     input    the caller's array              output   memory of its own
 *     const    where its data lies             state    memory of its own, with its first value
 *     temp     in the workspace, at its offset prepared memory of its own (prepared.c)
 *
 * On a device that shares this process's memory nothing is copied; other devices get their own copy
 * of everything. The document's memory plan is used if it has all sizes and suits the device's
 * alignment; otherwise one is made here. */
#include "document/document.h"
#include "io/io.h"
#include "session/session.h"
#include <errno.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static const char *where(const UOp *u)
{
	return arena_printf("node %u BUFFER (%s)", u->id, buffer_name(u));
}

/* ---- data */

typedef struct { const char *path; int fd; int64_t n; } File;

/* Opens a file, once for all constants in it. */
static File file_of(const UOp *u, const char *path)
{
	static Map files;
	uint64_t key = hash_bytes(path, strlen(path), 0);
	File *f = map_get(&files, key);

	if (f && !strcmp(f->path, path))
		return *f;
	process.where = where(u);
	f = xmalloc(sizeof *f);
	f->path = xstrdup(path);
	f->fd = data_open(path, &f->n);
	process.where = NULL;
	map_put(&files, key, f);
	return *f;
}

/* The n bytes at `at`, which threads read piece by piece; failed: 0, errno, or SHORTER. */
enum { PIECE = 1 << 18, SHORTER = -1, BYTES_A_NANOSECOND = 4 };
typedef struct { int fd; int64_t at; char *to; size_t n; atomic_int failed; } Reading;

/* A launch whose items are pieces. */
static void pieces_read(void *const *bufs, const int64_t *vars, int64_t from, int64_t to)
{
	Reading *r = bufs[0];
	size_t at = from * PIECE, end = (size_t)to * PIECE < r->n ? (size_t)to * PIECE : r->n;

	(void)vars;
	while (at < end && !atomic_load(&r->failed)) {
		ssize_t got = pread(r->fd, r->to + at, end - at, r->at + (int64_t)at);
		if (got <= 0 && !(got < 0 && errno == EINTR))
			atomic_store(&r->failed, got ? errno : SHORTER);
		at += got > 0 ? got : 0;
	}
}

static void file_read(const UOp *u, const File *f, int64_t at, char *to, size_t n)
{
	Reading r = {f->fd, at, to, n, 0};
	void *bufs[] = {&r};
	int64_t pieces = (n + PIECE - 1) / PIECE;
	Share s = pool_share(pieces, PIECE / BYTES_A_NANOSECOND, MOST_THREADS);

	s.wake = pool_worth_waking(s.work);
	pool_run(pieces_read, bufs, NULL, pieces, &s);
	errno = r.failed;
	if (r.failed == SHORTER)
		die(MALFORMED, "%s: its file became shorter", where(u));
	if (r.failed)
		die_errno("%s: cannot read its file", where(u));
}

 /* A constant in a file. It is mapped by itself, so that touching it loads no pages of other
 * constants; it is read when it is small or not aligned for its dtype. */
static Array file_content(const UOp *u, const Val *file, Array a)
{
	enum { SMALL = 1 << 16 };       /* bytes */
	const int64_t page = sysconf(_SC_PAGESIZE);
	char *p = NULL;
	File f;
	int64_t at;

	if (file->kind != VAL_ARRAY || file->n < 3 || file->a[0]->kind != VAL_STR ||
		file->a[1]->kind != VAL_INT || file->a[2]->kind != VAL_INT)
		die(MALFORMED, "%s: 'file' is not [path, offset, bytes]", where(u));
	f = file_of(u, file->a[0]->s);
	at = file->a[1]->i;
	if (at < 0 || at > f.n || f.n - at < (int64_t)a.bytes || file->a[2]->i < (int64_t)a.bytes)
		die(MALFORMED, "%s: '%s' is too short", where(u), file->a[0]->s);
	if (a.bytes >= SMALL && at % dtype_size(a.dtype) == 0)
		p = file_part(f.fd, file->a[0]->s, at - at % page, a.bytes + at % page);
	if (p) {
		a.data = p + at % page;
	} else {
		a = array_raw(a.dtype, a.rank, a.dim);
		file_read(u, &f, at, a.data, a.bytes);
	}
	data_check(file, a.data, a.bytes);
	return a;
}

Array buffer_content(const UOp *u, const VarEnv *env)
{
	const Val *data = val_get(u->arg, "data"), *file = val_get(u->arg, "file");
	Array a;

	buffer_array(u, env, &a);
	if (!data && file)
		return file_content(u, file, a);
	if (!data || data->kind != VAL_BIN || data->n != a.bytes)
		die(MALFORMED, "%s: its data does not have %zu bytes", where(u), a.bytes);
	a.data = (void *)data->s;
	if ((uintptr_t)data->s % dtype_size(a.dtype)) {
		a = array_raw(a.dtype, a.rank, a.dim);
		memcpy(a.data, data->s, a.bytes);
	}
	return a;
}

/* ---- temporaries */

/* Whether the document has a memory plan: every temporary has an offset in the workspace, with the
 * device's alignment. */
static bool plan_given(const Graph *g, const Buffers *b, int64_t *bytes)
{
	const Val *w = val_get(g->meta, "workspace");

	if (!w || w->kind != VAL_ARRAY || w->n < 1 || w->a[0]->kind != VAL_INT)
		return false;
	*bytes = w->a[0]->i;
	for (size_t i = 0; i < b->n; i++) {
		const Val *v = buffer_is(b->u[i], "temp") ? val_get(b->u[i]->arg, "offset") : NULL;
		if (!buffer_is(b->u[i], "temp"))
			continue;
		if (!v || v->kind != VAL_INT || v->i % b->exec->align)
			return false;
		if (v->i < 0 || v->i > *bytes || *bytes - v->i < (int64_t)b->host[i].bytes)
			die(MALFORMED, "%s: it does not fit the workspace of %lld bytes",
				where(b->u[i]), (long long)*bytes);
	}
	return true;
}

/* Makes a plan: lifetimes from the list of calls, then memory_plan. offset has one element per
 * buffer. */
static int64_t plan_made(const Graph *g, const Buffers *b, int64_t *offset)
{
	size_t n = 0, *of = xcalloc(b->n + 1, sizeof *of);
	int *first = xcalloc(b->n + 1, sizeof *first), *last = xcalloc(b->n + 1, sizeof *last);
	int64_t *size = xcalloc(b->n + 1, sizeof *size), *at = xcalloc(b->n + 1, sizeof *at);
	int64_t bytes, bound;

	for (size_t i = 0; i < b->n; i++)
		first[i] = -1;
	for (size_t c = 0; c < g->sink->nsrc; c++)
		for (size_t k = 0; k < g->sink->src[c]->nsrc; k++) {
			UOp *u = g->sink->src[c]->src[k];
			if (u->op != OP_BUFFER)
				continue;
			size_t i = buffer_slot(b, u);
			first[i] = first[i] < 0 ? (int)c : first[i];
			last[i] = (int)c;
		}
	for (size_t i = 0; i < b->n; i++)
		if (buffer_is(b->u[i], "temp") && first[i] >= 0) {
			of[n] = i;
			first[n] = first[i];
			last[n] = last[i];
			size[n++] = b->host[i].bytes;
		}
	bytes = memory_plan(n, size, first, last, b->exec->align, at, &bound);
	for (size_t k = 0; k < n; k++)
		offset[of[k]] = at[k];
	free(of);
	free(first);
	free(last);
	free(size);
	free(at);
	return bytes;
}

static void plan_temps(const Graph *g, Buffers *b)
{
	int64_t bytes = 0;

	if (plan_given(g, b, &bytes)) {
		for (size_t i = 0; i < b->n; i++)
			if (buffer_is(b->u[i], "temp"))
				b->offset[i] = val_get(b->u[i]->arg, "offset")->i;
	} else {
		bytes = plan_made(g, b, b->offset);
	}
	b->plan = bytes;
}

void buffers_workspace(Buffers *b, void *workspace)
{
	b->workspace = workspace;
	for (size_t i = 0; i < b->n; i++)
		if (buffer_is(b->u[i], "temp")) {
			b->mem[i] = b->exec->slice(workspace, b->offset[i], b->host[i].bytes);
			b->host[i].data = b->exec->host ? b->mem[i] : NULL;
		}
}

/* ---- all */

/* A buffer with content from the caller or the document: in place, or copied to the device.
 * Constants are placed when first used, because results computed from them may be in the cache. */
static void place_given(Buffers *b, size_t i)
{
	const UOp *u = b->u[i];
	const Array *given = buffer_is(u, "input") ? input_of(b->in, u) : NULL;

	if (buffer_is(u, "input") && !given)
		die(MALFORMED, "input '%s' is missing", buffer_name(u));
	b->host[i] = given ? *given : buffer_content(u, &b->in->env);
	b->mapped[i] = buffer_is(u, "const") && b->exec->host && !b->host[i].owned &&
		!val_get(u->arg, "data");
	if (b->exec->host && !buffer_is(u, "state")) {
		b->mem[i] = b->host[i].data;
		return;
	}
	b->mem[i] = b->exec->alloc(b->host[i].bytes);
	b->exec->put(b->mem[i], b->host[i].data, b->host[i].bytes);
	if (buffer_is(u, "state"))
		b->host[i].data = b->exec->host ? b->mem[i] : NULL;
}

static void place_output(Buffers *b, size_t i)
{
	b->mem[i] = b->exec->alloc(b->host[i].bytes);
	b->host[i].data = b->exec->host ? b->mem[i] : NULL;
}

void *buffer_memory(Buffers *b, size_t i)
{
	if (!b->mem[i] && buffer_is(b->u[i], "const"))
		place_given(b, i);
	else if (!b->mem[i] && buffer_is(b->u[i], "prepared"))
		place_output(b, i);
	return b->mem[i];
}

void buffer_evict(Buffers *b, size_t i)
{
	/* what is freed serves the next arrays, up to so many bytes */
	enum { KEPT = 16 << 20 };
	Array *a = &b->host[i];

	if (!b->mem[i])
		return;
	if (b->mapped[i]) {
		pages_drop(a->data, a->bytes);
	} else if (buffer_is(b->u[i], "prepared") || !b->exec->host) {
		b->exec->release(b->mem[i]);
		b->mem[i] = NULL;
		if (b->exec->host)
			a->data = NULL;
	} else if (a->owned) {
		array_free(a);
		b->mem[i] = NULL;
		b->freed += a->bytes;
		if (b->freed >= KEPT) {
			malloc_trim(0);
			b->freed = 0;
		}
	}
}

Buffers buffers_place(const Graph *g, const Exec *exec, const Inputs *in, bool part)
{
	Nodes all = walk(g->sink);
	Buffers b = {.exec = exec, .in = in, .part = part,
		.u = arena_alloc((all.n + 1) * sizeof *b.u)};

	for (size_t i = 0; i < all.n; i++)
		if (all.at[i]->op == OP_BUFFER) {
			b.u[b.n++] = all.at[i];
			map_put(&b.slot, all.at[i]->id + 1, (void *)(uintptr_t)b.n);
		}
	b.host = arena_alloc((b.n + 1) * sizeof *b.host);
	b.mem = arena_alloc((b.n + 1) * sizeof *b.mem);
	b.mapped = arena_alloc(b.n + 1);
	b.offset = arena_alloc((b.n + 1) * sizeof *b.offset);
	for (size_t i = 0; i < b.n; i++) {
		buffer_array(b.u[i], &in->env, &b.host[i]);
		if (part)
			continue;
		if (buffer_is(b.u[i], "output"))
			place_output(&b, i);
		else if (buffer_is(b.u[i], "input") || buffer_is(b.u[i], "state"))
			place_given(&b, i);
	}
	plan_temps(g, &b);
	if (!part)
		buffers_workspace(&b, exec->alloc(b.plan ? b.plan : 1));
	return b;
}

static bool is_fixed(const UOp *u) { return buffer_is(u, "const") || buffer_is(u, "prepared"); }

void buffers_resize(Buffers *b, const Graph *g)
{
	for (size_t i = 0; i < b->n; i++) {
		if (is_fixed(b->u[i]))
			continue;
		void *data = b->host[i].data;
		if (!b->exec->host)
			array_free(&b->host[i]);
		buffer_array(b->u[i], &b->in->env, &b->host[i]);
		b->host[i].data = b->exec->host ? data : NULL;
	}
	plan_temps(g, b);
}

/* Whether an input changes from call to call, and so has no fixed memory. */
static bool is_fed(const Buffers *b, const UOp *u)
{
	const Array *a = input_of(b->in, u);

	return a && b->in->fed[a - b->in->at];
}

void buffers_settle(Buffers *b)
{
	b->moved = arena_alloc(b->n + 1);
	for (size_t i = 0; i < b->n && b->exec->host && !b->part; i++) {
		Array *a = &b->host[i];
		if (!buffer_is(b->u[i], "input") || a->bytes < HUGE_PAGE || a->owned ||
			is_fed(b, b->u[i]))
			continue;
		b->mem[i] = memory_move(a->data, a->bytes);
		a->data = b->mem[i];
		b->moved[i] = true;
	}
}

size_t buffer_slot(const Buffers *b, const UOp *u)
{
	return (uintptr_t)map_get(&b->slot, u->id + 1) - 1;
}

Array *buffer_get(Buffers *b, size_t i)
{
	Array *a = &b->host[i];

	if (b->exec->host)
		return a;
	if (!a->data)
		*a = array_new(a->dtype, a->rank, a->dim);
	else if (buffer_is(b->u[i], "const") || (buffer_is(b->u[i], "input") && !b->part))
		return a;
	b->exec->get(a->data, b->mem[i], a->bytes);
	return a;
}

void buffer_put(Buffers *b, size_t i)
{
	if (!b->exec->host)
		b->exec->put(b->mem[i], b->host[i].data, b->host[i].bytes);
}

void buffers_release(Buffers *b)
{
	for (size_t i = 0; i < b->n; i++) {
		const UOp *u = b->u[i];
		bool own = buffer_is(u, "output") || buffer_is(u, "state") ||
			buffer_is(u, "prepared");
		if (!b->mem[i])
			continue;
		if (b->part ? buffer_is(u, "prepared") || (!b->exec->host && is_fixed(u)) :
			own || (b->moved && b->moved[i]) ||
				(!b->exec->host && !buffer_is(u, "temp")))
			b->exec->release(b->mem[i]);
		if (!b->exec->host && b->host[i].owned && !buffer_is(u, "input"))
			array_free(&b->host[i]);
	}
	if (!b->part)
		b->exec->release(b->workspace);
	map_free(&b->slot);
}
