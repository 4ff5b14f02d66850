/* Buffers of role `prepared`: filled once before the first call, from the cache if an earlier run
 * stored them.
 *
 *     CALL(E, t0, w)       the first run computes t0 and keeps it as <cache>/ab/cdef….data
 *     CALL(r, y, x, t0)    the next ones map that file and call r alone
 *
 * The content of t0 is determined by its program (source, flags and object) and by the buffers that
 * it reads, and so is its key. For a constant the key has its content or, for a file on a local
 * disk that has not changed for a while, the file's identity: device, inode, size and times of
 * change. A store through a mapping may update a file's times only when its page is written back,
 * and some file systems never do; there the content itself is hashed. */
#include "document/document.h"
#include "session/session.h"
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>

enum { KEPT_FROM = 64 << 10 };          /* bytes; smaller ones are computed as fast */
enum { TOGETHER = 2 };                  /* buffers that are kept at once, each by a thread */
enum { SETTLED = 120 };                 /* seconds until a change is written back */

/* The numbers of a call's buffers, and which of them it writes; copies: it is a MEMCPY. */
typedef struct { size_t n, *at; uint64_t writes; bool copies; } Slots;

struct Prepared {
	size_t n;                       /* how many of the sink's first calls prepare buffers */
	Slots *call;
	size_t *last;                   /* by buffer: the last of these calls that uses it */
	bool *skip;                     /* by call: everything it writes was found */
	bool cached;                    /* the cache may be used */
	Key *key;                       /* by buffer */
	uint8_t *state;                 /* by buffer, below */
	size_t nready, ready[TOGETHER]; /* buffers that are filled, and not yet kept */
	int threads;
};
/* AGAIN: several calls write it; LATER: calls that run each time use it; MOVED: found in the cache,
 * then copied to other memory */
enum { KEYED = 1, FOUND = 2, AGAIN = 4, LATER = 8, MOVED = 16 };

static bool slot_written(const Slots *call, size_t k) { return k < 64 && call->writes >> k & 1; }

/* ---- keys */

static bool is_local(const char *path)
{
	enum { EXT4 = 0xEF53, XFS = 0x58465342, BTRFS = 0x9123683E, OVERLAY = 0x794C7630 };
	struct statfs fs;
	if (statfs(path, &fs))
		return false;
	long type = fs.f_type;
	return type == EXT4 || type == XFS || type == BTRFS || type == OVERLAY;
}

static bool is_settled(const struct stat *st)
{
	time_t last = st->st_mtim.tv_sec > st->st_ctim.tv_sec ? st->st_mtim.tv_sec :
								st->st_ctim.tv_sec;
	return time(NULL) - last > SETTLED;
}

static Key const_key(Buffers *b, size_t i)
{
	const Array *a = &b->host[i];
	const Val *file = val_get(b->u[i]->arg, "file");
	const char *path = file && file->kind == VAL_ARRAY && file->n >= 3 ? file->a[0]->s : NULL;
	struct stat st;
	Key k = key_start("constant");
	if (!path || a->bytes < KEPT_FROM || stat(path, &st) || !is_settled(&st) ||
		!is_local(path)) {
		buffer_memory(b, i);
		k = key_add(k, a->data, a->bytes);
		if (path)
			buffer_evict(b, i);
		return k;
	}
	int64_t is[] = {st.st_dev, st.st_ino, st.st_size, st.st_mtim.tv_sec, st.st_mtim.tv_nsec,
		st.st_ctim.tv_sec, st.st_ctim.tv_nsec, file->a[1]->i, a->bytes};
	k = key_adds(key_add(key_start("file"), is, sizeof is), path);
	/* what was found for the file as it is says nothing of what the document was made of */
	return file->n > 3 ? key_adds(k, file->a[3]->s) : k;
}

/* The part of a key that depends on the program; false when it is not known what determined its
 * object, or when it uses a size variable. */
static bool program_key(const Program *p, Key *k)
{
	if (!p || p->nvars || !p->made || !p->entry)
		return false;
	*k = key_adds(key_adds(key_start("prepared 3"), p->digest), p->flags ? p->flags : "");
	*k = key_adds(key_adds(*k, p->entry), p->made);
	return true;
}

static bool buffer_key(Prepared *p, Buffers *b, size_t i, Key *k)
{
	if (!(p->state[i] & KEYED)) {
		if (!buffer_is(b->u[i], "const"))
			return false;
		p->key[i] = const_key(b, i);
		p->state[i] |= KEYED;
	}
	*k = p->key[i];
	return true;
}

/* Sets the keys of the buffers that a call writes. A buffer that is written twice has no key, nor
 * has anything computed from it. */
static void key_call(Prepared *p, Buffers *b, const Slots *call, const Program *program)
{
	Key k = key_start("copy"), of;
	bool good = call->copies || program_key(program, &k);
	for (size_t s = 0; s < call->n && good; s++)
		if (!slot_written(call, s)) {
			good = buffer_key(p, b, call->at[s], &of);
			k = key_add(k, &of, sizeof of);
		}
	for (size_t s = 0; s < call->n && good; s++) {
		size_t i = call->at[s];
		if (!slot_written(call, s) || p->state[i] & AGAIN)
			continue;
		int64_t is[] = {s, b->host[i].bytes};
		p->key[i] = key_add(k, is, sizeof is);
		p->state[i] |= KEYED;
	}
}

/* ---- finding */

static Slots slots_of(const Buffers *b, const UOp *call)
{
	uint32_t first = call->op == OP_CALL;
	Slots s = {call->nsrc - first, arena_alloc(call->nsrc * sizeof *s.at), 1, !first};
	if (first)
		s.writes = call_writes(call);
	for (uint32_t k = 0; k < s.n; k++)
		s.at[k] = buffer_slot(b, call->src[first + k]);
	return s;
}

static void calls_read(Prepared *p, const Graph *g, const Buffers *b)
{
	while (p->n < g->sink->nsrc && call_prepares(g->sink->src[p->n]))
		p->n++;
	p->call = arena_alloc((p->n + 1) * sizeof *p->call);
	p->skip = arena_alloc(p->n + 1);
	p->state = arena_alloc(b->n + 1);
	p->last = arena_alloc((b->n + 1) * sizeof *p->last);
	for (size_t c = 0; c < p->n; c++) {
		p->call[c] = slots_of(b, g->sink->src[c]);
		for (size_t s = 0; s < p->call[c].n; s++)
			p->last[p->call[c].at[s]] = c;
	}
}

/* Marks by buffer: AGAIN and LATER. */
static void mark_buffers(Prepared *p, const Graph *g, const Buffers *b)
{
	bool *written = arena_alloc(b->n + 1);
	for (size_t c = 0; c < p->n; c++)
		for (size_t s = 0; s < p->call[c].n; s++)
			if (slot_written(&p->call[c], s)) {
				size_t i = p->call[c].at[s];
				p->state[i] |= written[i] ? AGAIN : 0;
				written[i] = true;
			}
	for (size_t c = p->n; c < g->sink->nsrc; c++) {
		const UOp *call = g->sink->src[c];
		for (uint32_t s = call->op == OP_CALL; s < call->nsrc; s++)
			p->state[buffer_slot(b, call->src[s])] |= LATER;
	}
}

/* How many bytes the cache would store. */
static double kept_bytes(const Prepared *p, const Buffers *b)
{
	double n = 0;
	for (size_t i = 0; i < b->n; i++)
		if (buffer_is(b->u[i], "prepared") && p->state[i] & LATER &&
			b->host[i].bytes >= KEPT_FROM)
			n += b->host[i].bytes;
	return n;
}

/* Buffer i was found: its entry is mapped at `at`. */
static void found(Prepared *p, Buffers *b, size_t i, void *at)
{
	b->mem[i] = b->host[i].data = at;
	b->mapped[i] = true;
	p->state[i] |= FOUND;
}

/* Looks in the cache for the buffers that later calls read. */
static void find_later(Prepared *p, Buffers *b, int threads)
{
	size_t n = 0, *of = arena_alloc((b->n + 1) * sizeof *of);
	size_t *bytes = arena_alloc((b->n + 1) * sizeof *bytes);
	Key *key = arena_alloc((b->n + 1) * sizeof *key);
	void **at = arena_alloc((b->n + 1) * sizeof *at);
	for (size_t i = 0; i < b->n; i++)
		if (p->state[i] & LATER && p->state[i] & KEYED && buffer_is(b->u[i], "prepared") &&
			b->host[i].bytes >= KEPT_FROM) {
			of[n] = i;
			key[n] = p->key[i];
			bytes[n++] = b->host[i].bytes;
		}
	cache_map(n, key, ".data", bytes, at, b->once, threads);
	for (size_t k = 0; k < n; k++)
		if (at[k])
			found(p, b, of[k], at[k]);
}

/* Decides, from the last call backwards, which calls run: those that write a buffer that is needed
 * and was not found. */
static void find_wanted(Prepared *p, Buffers *b, int threads)
{
	bool *wanted = arena_alloc(b->n + 1);
	find_later(p, b, threads);
	for (size_t i = 0; i < b->n; i++)
		wanted[i] = (p->state[i] & (LATER | FOUND)) == LATER;
	for (size_t c = p->n; c--;) {
		const Slots *call = &p->call[c];
		p->skip[c] = true;
		for (size_t s = 0; s < call->n; s++)
			p->skip[c] &= !(slot_written(call, s) && wanted[call->at[s]]);
		for (size_t s = 0; s < call->n && !p->skip[c]; s++)
			wanted[call->at[s]] |= !(p->state[call->at[s]] & FOUND);
	}
}

Prepared *prepared_find(
	const Graph *g, Buffers *b, const Program *const *program, int threads)
{
	Prepared *p = arena_alloc(sizeof *p);
	p->threads = threads;
	calls_read(p, g, b);
	if (!p->n)
		return p;
	mark_buffers(p, g, b);
	p->cached = program && b->exec->host && kept_bytes(p, b) <= cache_limit() / 2.0;
	if (!p->cached)
		return p;
	p->key = arena_alloc((b->n + 1) * sizeof *p->key);
	for (size_t c = 0; c < p->n; c++)
		key_call(p, b, &p->call[c], program[c]);
	find_wanted(p, b, threads);
	return p;
}

size_t prepared_calls(const Prepared *p) { return p->n; }
bool prepared_skips(const Prepared *p, size_t call) { return p->skip[call]; }

/* ---- done */

/* Stores the buffers that are ready in the cache. When there is only one call, the mapped entries
 * replace their memory. */
static void keep(Prepared *p, Buffers *b)
{
	Key key[TOGETHER];
	const void *from[TOGETHER];
	size_t bytes[TOGETHER];
	void *at[TOGETHER];
	for (size_t k = 0; k < p->nready; k++) {
		size_t i = p->ready[k];
		key[k] = p->key[i];
		from[k] = b->host[i].data;
		bytes[k] = b->host[i].bytes;
	}
	cache_keep(p->nready, key, ".data", from, bytes, at, p->threads);
	for (size_t k = 0; k < p->nready; k++) {
		size_t i = p->ready[k];
		if (!at[k] || !b->once) {
			cache_unmap(at[k], bytes[k]);
			continue;
		}
		b->exec->release(b->mem[i]);
		found(p, b, i, at[k]);
	}
	p->nready = 0;
}

static void done_one(Prepared *p, Buffers *b, size_t i)
{
	int state = p->state[i], wanted = KEYED | LATER;
	bool large = buffer_is(b->u[i], "prepared") && b->host[i].bytes >= KEPT_FROM;
	if (p->cached && large && (state & (wanted | FOUND)) == wanted)
		p->ready[p->nready++] = i;
	if (p->nready == TOGETHER)
		keep(p, b);
	if (!(state & LATER))
		buffer_evict(b, i);
}

void prepared_done(Prepared *p, Buffers *b, size_t call)
{
	const Slots *of = &p->call[call];

	for (size_t s = 0; s < of->n; s++) {
		bool seen = p->last[of->at[s]] != call;
		for (size_t k = 0; k < s; k++)
			seen |= of->at[k] == of->at[s];
		if (!seen)
			done_one(p, b, of->at[s]);
	}
	if (p->nready && call + 1 == p->n)
		keep(p, b);
}

void prepared_settle(Prepared *p, Buffers *b)
{
	for (size_t i = 0; i < b->n && p->n; i++) {
		void *mapped = b->mem[i];
		if (!(p->state[i] & FOUND) || b->host[i].bytes < HUGE_PAGE)
			continue;
		b->mem[i] = b->host[i].data = memory_move(mapped, b->host[i].bytes);
		cache_unmap(mapped, b->host[i].bytes);
		b->mapped[i] = false;
		p->state[i] |= MOVED;
	}
}

void prepared_release(const Prepared *p, Buffers *b)
{
	for (size_t i = 0; i < b->n; i++)
		if ((p->state[i] & (FOUND | MOVED)) == FOUND) {
			cache_unmap(b->mem[i], b->host[i].bytes);
			b->mem[i] = b->host[i].data = NULL;
		}
}
