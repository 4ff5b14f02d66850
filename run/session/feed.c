/* Inputs that give every call their next rows (--feed): windows of an array in a mapped file or,
 * with a shuffle, rows gathered into slots.
 *
 *     --feed x=x.npy,batch=3      x.npy | 0 1 2 | 3 4 5 | 6
 *                                 calls 0, 2, 4 … get the first window, 1, 3, 5 … the second
 *
 * All feeds advance in lockstep with one counter of calls. A thread prepares the batches of later
 * calls: it prefetches the pages of windows, or fills slots. The last rows that make no whole batch
 * are left out; a shuffle leaves out different ones each epoch. */
#include "session/session.h"
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#endif

enum { SLOTS = 64, RING = 64 << 20 };

typedef struct {
	const char *name, *file;
	int64_t batch, rows;            /* of a call (0: as the input), of the file */
	size_t row, input;              /* bytes of a row; the input's number in Inputs */
	Array all;
	char *slots;                    /* memory for the batches of a shuffle */
	bool found;
} Feed;

struct Feeds {
	VEC(Feed) at;
	bool shuffled, running, stop;
	uint64_t seed;
	int64_t batches, ahead;         /* batches in an epoch; how many are prepared at most */
	int64_t from, made, taken;      /* next; below made: ready; below taken: done */
	int64_t *order, epoch;          /* the order of rows in the current epoch; its number */
	cpu_set_t where;                /* the affinity mask before pool_start pins the caller */
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t ready, space;
};

/* ---- parsing */

static int64_t count_of(const char *s, const char *what)
{
	char *end;
	errno = 0;
	long long v = strtoll(s, &end, 10);

	if (errno || *end || end == s || v < 1)
		die(USAGE, "--feed: '%.80s' is not %s", s, what);
	return v;
}

static Feed feed_parse(const char *given)
{
	Feed f = {0};
	Binding b;

	if (!binding_parse(given, &b))
		die(USAGE, "--feed takes NAME=FILE,batch=N, not '%.80s'", given);
	const char *comma = strrchr(b.value, ',');
	f.name = b.name;
	f.file = b.value;
	if (comma && !strncmp(comma, ",batch=", 7)) {
		f.batch = count_of(comma + 7, "a number of rows from 1");
		f.file = xstrndup(b.value, comma - b.value);
	}
	return f;
}

Feeds *feeds_parse(size_t n, const char *const *given, const char *shuffle)
{
	Feeds *f = n ? arena_alloc(sizeof *f) : NULL;
	char *end;

	if (n)
		sched_getaffinity(0, sizeof f->where, &f->where);

	if (!n && shuffle)
		die(USAGE, "--shuffle needs --feed");
	for (size_t i = 0; i < n; i++)
		vec_push(&f->at, feed_parse(given[i]));
	if (!shuffle)
		return f;
	errno = 0;
	f->seed = strtoull(shuffle, &end, 10);
	f->shuffled = true;
	if (errno || *end || end == shuffle || *shuffle == '-')
		die(USAGE, "--shuffle takes a number from 0, not '%.80s'", shuffle);
	return f;
}

void feeds_bind(const Feeds *f, Bindings *b)
{
	for (size_t i = 0; f && i < f->at.n; i++)
		vec_push(b, ((Binding){.name = f->at.at[i].name, .value = f->at.at[i].file}));
}

/* ---- matching against the document */

bool feeds_take(Feeds *f, const char *file, const UOp *u, size_t input, const VarEnv *env, Array *a)
{
	Feed *e = NULL;
	int64_t fixed;

	for (size_t i = 0; f && i < f->at.n; i++)
		if (f->at.at[i].file == file)
			e = &f->at.at[i];
	if (!e)
		return false;
	if (!a->rank)
		die(MALFORMED, "--feed: '%s' has no rows: the input is a scalar", buffer_name(u));
	if (!e->batch && (!ix_eval(u->shape->dim[0], env, &fixed) || fixed < 1))
		die(USAGE, "--feed: the number of rows of '%s' is not fixed: give %s=FILE,batch=N",
			buffer_name(u), buffer_name(u));
	e->batch = e->batch ? e->batch : fixed;
	e->rows = a->dim[0];
	e->input = input;
	e->all = *a;
	e->found = true;
	if (e->rows < e->batch)
		die(MALFORMED, "--feed: '%s' has %lld rows, a batch %lld", e->file,
			(long long)e->rows, (long long)e->batch);
	e->row = a->bytes / e->rows;
	a->dim[0] = e->batch;
	a->bytes = e->row * e->batch;
	a->owned = false;
	return true;
}

/* ---- preparing batches */

/* Draws the order of rows in an epoch: randperm(rows, key=SEED, offset=rows*epoch) of the tensor
 * library. */
static void order_draw(Feeds *f, int64_t epoch)
{
	size_t n = f->at.at[0].rows;
	uint64_t *counter = xmalloc(n * sizeof *counter), *key = xmalloc(n * sizeof *key);

	f->order = f->order ? f->order : xmalloc(n * sizeof *f->order);
	for (size_t i = 0; i < n; i++)
		counter[i] = (uint64_t)epoch * n + i;
	interp_op(OP_THREEFRY, DT_U64, DT_U64, n, key, (const void *[]){counter, &f->seed},
		(const int[]){1, 0});
	interp_sort(DT_U64, n, key, 1, f->order, 1, false);
	f->epoch = epoch;
	free(counter);
	free(key);
}

static char *slot_of(const Feeds *f, const Feed *e, int64_t k)
{
	if (f->shuffled)
		return e->slots + k % f->ahead * e->batch * e->row;
	return (char *)e->all.data + k % f->batches * e->batch * e->row;
}

/* Loads pages while earlier calls run. */
static void pages_prefetch(const char *p, size_t n)
{
	volatile char touched;
	uintptr_t page = sysconf(_SC_PAGESIZE), at = (uintptr_t)p / page * page;

	if (!n || !madvise((void *)at, (uintptr_t)p + n - at, MADV_POPULATE_READ))
		return;
	for (size_t i = 0; i < n; i += page)
		touched = p[i];
	(void)touched;
}

static void batch_make(Feeds *f, int64_t k)
{
	if (f->shuffled && k / f->batches != f->epoch)
		order_draw(f, k / f->batches);
	for (size_t i = 0; i < f->at.n; i++) {
		const Feed *e = &f->at.at[i];
		const int64_t *row = f->order + k % f->batches * e->batch;
		char *to = slot_of(f, e, k);
		if (!f->shuffled)
			pages_prefetch(to, e->batch * e->row);
		for (int64_t r = 0; f->shuffled && r < e->batch; r++)
			memcpy(to + r * e->row, (char *)e->all.data + row[r] * e->row, e->row);
	}
}

/* Once all slots are full, the thread sleeps until half of them have been used. */
static void *prepare(void *arg)
{
	Feeds *f = arg;

	sched_setaffinity(0, sizeof f->where, &f->where);
	pthread_mutex_lock(&f->lock);
	while (!f->stop) {
		if (f->made - f->taken >= f->ahead) {
			while (!f->stop && f->made - f->taken > f->ahead / 2)
				pthread_cond_wait(&f->space, &f->lock);
			continue;
		}
		int64_t k = f->made;
		pthread_mutex_unlock(&f->lock);
		batch_make(f, k);
		pthread_mutex_lock(&f->lock);
		f->made++;
		pthread_cond_signal(&f->ready);
	}
	pthread_mutex_unlock(&f->lock);
	return NULL;
}

/* ---- interface */

static void feeds_check(const Feeds *f)
{
	const Feed *first = &f->at.at[0];

	for (size_t i = 0; i < f->at.n; i++) {
		const Feed *e = &f->at.at[i];
		if (!e->found)
			die(MALFORMED, "--feed: no output needs '%s'", e->name);
		if (e->rows != first->rows || e->batch != first->batch)
			die(MALFORMED,
				"--feed: '%s' has %lld rows, %lld a call, '%s' %lld and %lld",
				e->file, (long long)e->rows, (long long)e->batch, first->file,
				(long long)first->rows, (long long)first->batch);
	}
}

void feeds_start(Feeds *f, int64_t call)
{
	size_t bytes = 1;

	feeds_check(f);
	for (size_t i = 0; i < f->at.n; i++)
		bytes += f->at.at[i].batch * f->at.at[i].row;
	f->batches = f->at.at[0].rows / f->at.at[0].batch;
	f->ahead = RING / bytes < 3 ? 3 : RING / bytes > SLOTS ? SLOTS : RING / bytes;
	for (size_t i = 0; f->shuffled && i < f->at.n; i++)
		f->at.at[i].slots =
			memory_alloc(f->ahead * f->at.at[i].batch * f->at.at[i].row + 1);
	f->made = f->taken = f->from = call;
	f->epoch = -1;
	f->stop = false;
	pthread_mutex_init(&f->lock, NULL);
	pthread_cond_init(&f->ready, NULL);
	pthread_cond_init(&f->space, NULL);
	if (pthread_create(&f->thread, NULL, prepare, f))
		die(FAILED, "cannot start a thread");
	f->running = true;
}

int64_t feeds_rows(const Feeds *f) { return f->at.at[0].batch; }
int64_t feeds_batches(const Feeds *f) { return f->batches; }

void feeds_next(Feeds *f, Session *s)
{
	int64_t k = f->from++;

	pthread_mutex_lock(&f->lock);
	f->taken = k;
	if (f->made - f->taken <= f->ahead / 2)
		pthread_cond_signal(&f->space);
	while (f->made <= k)
		pthread_cond_wait(&f->ready, &f->lock);
	pthread_mutex_unlock(&f->lock);
	for (size_t i = 0; i < f->at.n; i++)
		session_input(s, f->at.at[i].input, slot_of(f, &f->at.at[i], k));
}

void feeds_stop(Feeds *f)
{
	if (!f || !f->running)
		return;
	pthread_mutex_lock(&f->lock);
	f->stop = true;
	pthread_cond_signal(&f->space);
	pthread_mutex_unlock(&f->lock);
	pthread_join(f->thread, NULL);
	for (size_t i = 0; i < f->at.n; i++)
		memory_free(f->at.at[i].slots);
	free(f->order);
	f->order = NULL;
	f->running = false;
}
