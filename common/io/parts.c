/* The hashes of parts of files, which threads share: each takes the next part and reads it by
 * pieces, since a file that is mapped could become shorter.
 *
 *     part 0 | part 2 | part 3      thread
 *     part 1        | part 4        the caller
 *
 * What threads need is allocated before: an allocation of theirs would take 64 MB of addresses. */
#include "io/io.h"
#include <xxhash.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

/* A_READER: bytes that are worth a thread */
enum { PIECE = 1 << 20, READERS = 4, A_READER = 8 << 20, STACK = 256 << 10 };
typedef struct { DataPart *part; size_t n; atomic_size_t next, bad; atomic_int failed; } Hashing;
typedef struct { Hashing *of; char *piece; XXH3_state_t *state; pthread_t thread; } Reader;

static bool part_hash(Reader *r, DataPart *p)
{
	size_t left = p->n;
	XXH3_64bits_reset_withSeed(r->state, 0);
	for (int64_t at = p->at; left;) {
		ssize_t got = pread(p->fd, r->piece, left < PIECE ? left : PIECE, at);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0) {
			atomic_store(&r->of->failed, got ? errno : EIO);
			return false;
		}
		XXH3_64bits_update(r->state, r->piece, got);
		at += got;
		left -= got;
	}
	p->hash = XXH3_64bits_digest(r->state);
	return true;
}

static void *parts_hash(void *reader)
{
	Reader *r = reader;
	Hashing *h = r->of;
	for (size_t i; (i = atomic_fetch_add(&h->next, 1)) < h->n;)
		if (!part_hash(r, &h->part[i]))
			atomic_store(&h->bad, i);
	return NULL;
}

/* As many as there are processors, where there is enough to read for each. */
static size_t readers(const DataPart *part, size_t n)
{
	cpu_set_t allowed;
	size_t bytes = 0, most = READERS;
	for (size_t i = 0; i < n; i++)
		bytes += part[i].n;
	if (!sched_getaffinity(0, sizeof allowed, &allowed) && CPU_COUNT(&allowed) < READERS)
		most = CPU_COUNT(&allowed);
	most = bytes / A_READER < most ? bytes / A_READER : most;
	return most ? most : 1;
}

static bool reader_start(Reader *r)
{
	pthread_attr_t attr;
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK);
	int err = pthread_create(&r->thread, &attr, parts_hash, r);
	pthread_attr_destroy(&attr);
	return !err;
}

void data_hash_parts(DataPart *part, size_t n)
{
	Hashing h = {.part = part, .n = n};
	Reader r[READERS];
	size_t most = readers(part, n), started = 1;
	for (size_t i = 0; i < most; i++)
		r[i] = (Reader){&h, xmalloc(PIECE), XXH3_createState(), 0};
	while (started < most && reader_start(&r[started]))
		started++;
	parts_hash(&r[0]);
	for (size_t i = 1; i < started; i++)
		pthread_join(r[i].thread, NULL);
	for (size_t i = 0; i < most; i++) {
		XXH3_freeState(r[i].state);
		free(r[i].piece);
	}
	errno = h.failed;
	if (h.failed)
		die_errno("%s: cannot read", part[h.bad].path);
}
