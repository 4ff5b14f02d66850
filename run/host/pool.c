/* Threads that share the items of a launch. They are started once; between launches they spin for a
 * while, then sleep.
 *
 *     caller    ranges for all | post → | items 0 1 2 … then others' | wait or take back |
 *     worker      spinning       POSTED   TAKEN: items 7 8 9 …         IDLE, spinning
 *
 * Each thread has its own range of items, the same part of each launch, so that the data one kernel
 * wrote is in the cache of the core that reads it in the next. A thread takes its range chunk by
 * chunk and then helps with the others' ranges. If a worker has not yet taken a post when all items
 * are done, the caller takes the post back, so it never waits for a thread that sleeps or has no
 * processor. Which thread runs an item never changes what the item writes.
 *
 * What a launch touched last is still in the caches. A launch that alternates begins at the other
 * end than the one before, and finds there what that one read and wrote last: an eighth of two
 * arrays of 16 MB, where two second caches of 2 MB hold it.
 *
 * Each worker is pinned to a processor, and the caller to another, because a worker that is woken
 * on the processor of a spinning caller does not run. */
#include "host/host.h"
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

/* SPIN pauses take 0.2 to 1 ms, longer than the gap between two launches of a call. */
enum { SPIN = 20000, LINE = 128, STACK = 64 << 20 };
/* In nanoseconds: the least work worth giving to a thread; the least work in a chunk; the work that
 * must be ahead before a sleeping thread is woken. CHUNKS is how many a thread's range has at most.
 */
enum { LEAST_SHARE = 2000, LEAST_CHUNK = 1000, WORTH_WAKING = 100000, CHUNKS = 32 };
/* AWAITED is TAKEN while the caller sleeps. */
enum { IDLE, ASLEEP, POSTED, TAKEN, AWAITED, QUIT };

/* All that a thread needs of a launch is in one cache line, which moves to it once: what is called,
 * with what, in chunks of how many items, for how many threads; its range of items. `thread` is
 * behind it. */
typedef struct {
	_Alignas(LINE) atomic_int state;
	short n;
	bool alternate;
	Items call;
	void *const *buf;
	const int64_t *vars;
	long long chunk, end;
	/* items [i, k) are the document's [mirror - k, mirror - i); 0: its [i, k) */
	long long mirror;
	atomic_llong next;
	pthread_t thread;
} Worker;

static struct {
	Worker worker[MOST_THREADS];    /* [0] is the caller, whose state is not used */
	int threads;                    /* including the caller; 0 before pool_start */
	int spin;
	bool alone;                     /* the caller runs launches by itself */
	bool last_first;                /* the launch before began with the last items */
	int home;                       /* the caller's processor while it is pinned, or -1 */
	cpu_set_t allowed;              /* where the caller may run without a pool */
} pool;

static inline void pause_once(void)
{
#if defined __x86_64__ || defined __i386__
	__builtin_ia32_pause();
#elif defined __aarch64__
	__asm__ volatile("yield");
#endif
}

static void futex_wait(atomic_int *word, int value)
{
	syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
}

static void futex_wake(atomic_int *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static bool change(atomic_int *state, int from, int to)
{
	return atomic_compare_exchange_strong(state, &from, to);
}

/* ---- items */

/* The next items of w's range, in [*from, *to): a quarter of what is left, a chunk at the least, so
 * that most items need few calls and the last ones are shared out evenly; two chunks at the most
 * where launches alternate, since the items of one are run in order. False: none is left. */
static bool take(Worker *w, long long chunk, long long *from, long long *to)
{
	*from = atomic_load_explicit(&w->next, memory_order_relaxed);
	do {
		long long left = w->end - *from, n = left / 4 > chunk ? left / 4 : chunk;
		if (left <= 0)
			return false;
		if (w->alternate && n > 2 * chunk)
			n = 2 * chunk;
		*to = n < left ? *from + n : w->end;
	} while (!atomic_compare_exchange_weak_explicit(&w->next, from, *to, memory_order_relaxed,
		memory_order_relaxed));
	if (w->mirror) {
		long long first = w->mirror - *to;
		*to = w->mirror - *from;
		*from = first;
	}
	return true;
}

/* Runs all items that no thread has taken, starting with the range of `me`. */
static void run_items(const Worker *me)
{
	long long from, to;
	for (int k = 0; k < me->n; k++)
		while (take(&pool.worker[(me - pool.worker + k) % me->n], me->chunk, &from, &to))
			me->call(me->buf, me->vars, from, to);
}

/* ---- workers */

/* Waits until there is something to do: POSTED or QUIT. */
static int worker_wait(Worker *w)
{
	for (;;) {
		for (int i = 0; i < pool.spin; i++) {
			int state = atomic_load(&w->state);
			if (state == POSTED || state == QUIT)
				return state;
			pause_once();
		}
		if (change(&w->state, IDLE, ASLEEP))
			while (atomic_load(&w->state) == ASLEEP)
				futex_wait(&w->state, ASLEEP);
	}
}

static void *worker_main(void *arg)
{
	Worker *w = arg;

	while (worker_wait(w) != QUIT) {
		if (!change(&w->state, POSTED, TAKEN))
			continue;
		run_items(w);
		if (atomic_exchange(&w->state, IDLE) == AWAITED)
			futex_wake(&w->state);
	}
	return NULL;
}

/* Offers the launch to a worker. A worker that sleeps gets it, and is woken, only if wake is set.
 */
static void worker_post(Worker *w, bool wake)
{
	if (!wake)
		change(&w->state, IDLE, POSTED);
	else if (atomic_exchange(&w->state, POSTED) == ASLEEP)
		futex_wake(&w->state);
}

/* Waits until the worker has finished its part of this launch, or takes the post back. */
static void worker_finish(Worker *w)
{
	if (change(&w->state, POSTED, IDLE))
		return;
	for (int i = 0; i < SPIN; i++) {
		if (atomic_load(&w->state) != TAKEN)
			return;
		pause_once();
	}
	if (change(&w->state, TAKEN, AWAITED))
		while (atomic_load(&w->state) == AWAITED)
			futex_wait(&w->state, AWAITED);
}

/* ---- launches */

Share pool_share(int64_t items, int64_t work, int most)
{
	Share s = {.threads = 1, .chunk = items};
	int64_t n, chunk;

	work = work < 1 ? 1 : work;
	if (!mul_ok(items, work, &s.work))
		s.work = INT64_MAX / 2;
	n = s.work / LEAST_SHARE;
	n = n > items ? items : n;
	n = n > most ? most : n;
	if (n < 2)
		return s;
	s.threads = (int)n;
	chunk = items / (n * CHUNKS);
	if (work < LEAST_CHUNK && chunk < (LEAST_CHUNK + work - 1) / work)
		chunk = (LEAST_CHUNK + work - 1) / work;
	s.chunk = chunk < 1 ? 1 : chunk;
	return s;
}

bool pool_worth_waking(int64_t work) { return work >= WORTH_WAKING; }

static bool any_awake(int n)
{
	for (int i = 1; i < n; i++)
		if (atomic_load_explicit(&pool.worker[i].state, memory_order_relaxed) == IDLE)
			return true;
	return false;
}

void pool_run(Items call, void *const *buf, const int64_t *vars, int64_t items, const Share *s)
{
	int n = s->threads < pool.threads ? s->threads : pool.threads;

	if (n < 2 || pool.alone || (!s->wake && !any_awake(n))) {
		call(buf, vars, 0, items);
		return;
	}
	pool.last_first ^= s->alternate;
	for (int i = 0; i < n; i++) {
		Worker *w = &pool.worker[i];
		w->n = (short)n;
		w->call = call;
		w->buf = buf;
		w->vars = vars;
		w->chunk = s->chunk;
		long long first = items / n * i + items % n * i / n;
		w->end = items / n * (i + 1) + items % n * (i + 1) / n;
		w->alternate = s->alternate;
		w->mirror = s->alternate && pool.last_first ? first + w->end : 0;
		atomic_store_explicit(&w->next, first, memory_order_relaxed);
	}
	for (int i = 1; i < n; i++)
		worker_post(&pool.worker[i], s->wake);
	run_items(&pool.worker[0]);
	for (int i = 1; i < n; i++)
		worker_finish(&pool.worker[i]);
}

/* ---- start and end */

/* The k-th processor after `here` among those that this process may use. */
static int processor(int here, int k)
{
	int at = here;

	while (k > 0)
		if (CPU_ISSET(at = (at + 1) % CPU_SETSIZE, &pool.allowed))
			k--;
	return at;
}

static bool worker_start(int i, int on)
{
	pthread_attr_t attr;
	cpu_set_t one;
	int err;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK);
	CPU_ZERO(&one);
	if (on >= 0) {
		CPU_SET(on, &one);
		pthread_attr_setaffinity_np(&attr, sizeof one, &one);
	}
	atomic_store(&pool.worker[i].state, IDLE);
	err = pthread_create(&pool.worker[i].thread, &attr, worker_main, &pool.worker[i]);
	pthread_attr_destroy(&attr);
	return !err;
}

/* Pins the caller to the processor it runs on; returns that, or -1 where there are too few. */
static int pin_caller(int n)
{
	cpu_set_t one;
	int here = sched_getcpu();

	if (sched_getaffinity(0, sizeof pool.allowed, &pool.allowed) || here < 0 ||
		!CPU_ISSET(here, &pool.allowed) || CPU_COUNT(&pool.allowed) < n)
		return -1;
	CPU_ZERO(&one);
	CPU_SET(here, &one);
	sched_setaffinity(0, sizeof one, &one);
	return here;
}

/* Workers start with all signals blocked: the caller handles them. If a worker cannot be started,
 * the pool has fewer threads. */
bool pool_start(int n)
{
	sigset_t all, old;
	bool first = pool.threads < 2;

	n = n > MOST_THREADS ? MOST_THREADS : n;
	if (pool.threads >= n || n < 2)
		return false;
	pool.spin = n <= cores() ? SPIN : 1;
	if (first) {
		pool.home = pin_caller(n);
		pool.threads = 1;
	}
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	for (; pool.threads < n; pool.threads++)
		if (!worker_start(pool.threads,
			pool.home >= 0 ? processor(pool.home, pool.threads) : -1))
			break;
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return first;
}

void pool_wake(void)
{
	for (int i = 1; i < pool.threads; i++)
		if (atomic_load_explicit(&pool.worker[i].state, memory_order_relaxed) == ASLEEP &&
			change(&pool.worker[i].state, ASLEEP, IDLE))
			futex_wake(&pool.worker[i].state);
}

bool pool_alone(bool alone)
{
	bool was = pool.alone;
	pool.alone = alone;
	return was;
}

void pool_stop(void)
{
	pool.alone = false;
	if (pool.threads < 2)
		return;
	for (int i = 1; i < pool.threads; i++)
		if (atomic_exchange(&pool.worker[i].state, QUIT) == ASLEEP)
			futex_wake(&pool.worker[i].state);
	for (int i = 1; i < pool.threads; i++)
		pthread_join(pool.worker[i].thread, NULL);
	pool.threads = 1;
	if (CPU_COUNT(&pool.allowed))
		sched_setaffinity(0, sizeof pool.allowed, &pool.allowed);
}
