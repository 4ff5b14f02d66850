/* Threads that share the items of a launch. They are started once and wait for the next launch
 * spinning, for a while, then asleep.
 *
 *     caller    ranges for all | post → | items 0 1 2 … then others' | wait or take back |
 *     worker      spinning       POSTED   TAKEN: items 7 8 9 …         IDLE, spinning
 *
 * Each thread has a range of items of its own, the same part of each launch, so that what one
 * kernel wrote is in the cache of the core that reads it in the next; it takes them chunk by chunk,
 * and when they are done it helps with the others' ranges. A post that its worker has not yet taken
 * when all items are done is taken back: nobody waits for a thread that sleeps or has no processor.
 * Which thread runs an item never changes what the item writes.
 *
 * Workers stay on one processor each and the caller on its own, because a worker that is woken on
 * the processor of a caller that spins does not run. */
#include "host/host.h"
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

/* SPIN pauses are 0.2 to 1 ms, more than lies between two launches of a call. */
enum { SPIN = 20000, LINE = 128, STACK = 64 << 20 };
/* Nanoseconds: what the least share of a thread takes; what a chunk takes at least; what must be
 * ahead before a thread that sleeps is woken for it. */
enum { LEAST_SHARE = 2000, LEAST_CHUNK = 1000, WORTH_WAKING = 100000, CHUNKS = 32 };
/* AWAITED is TAKEN while the caller sleeps. */
enum { IDLE, ASLEEP, POSTED, TAKEN, AWAITED, QUIT };

typedef struct { _Alignas(LINE) atomic_int state; pthread_t thread; } Worker;
typedef struct { _Alignas(LINE) atomic_llong next; long long end; } Range;

static Worker worker[MOST_THREADS];     /* [0] is the caller's, and not used */
static Range range[MOST_THREADS];
static int threads = 1, spin;
static cpu_set_t allowed;               /* where the caller may run without a pool */
static struct { Items call; void *const *buf; const int64_t *vars; int64_t chunk; int n; } job;

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

/* All items that no thread has taken, those of thread `me` first. */
static void run_items(int me)
{
	for (int k = 0; k < job.n; k++) {
		Range *r = &range[(me + k) % job.n];
		while (atomic_load_explicit(&r->next, memory_order_relaxed) < r->end) {
			int64_t from = atomic_fetch_add_explicit(&r->next, job.chunk, memory_order_relaxed);
			int64_t to = from + job.chunk < r->end ? from + job.chunk : r->end;
			if (from < to)
				job.call(job.buf, job.vars, from, to);
		}
	}
}

/* ---- workers */

/* Waits until there is something to do: POSTED or QUIT. */
static int worker_wait(Worker *w)
{
	for (;;) {
		for (int i = 0; i < spin; i++) {
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
		run_items((int)(w - worker));
		if (atomic_exchange(&w->state, IDLE) == AWAITED)
			futex_wake(&w->state);
	}
	return NULL;
}

/* The launch is there for the worker; one that sleeps is woken when that is wanted. */
static void worker_post(Worker *w, bool wake)
{
	if (!wake)
		change(&w->state, IDLE, POSTED);
	else if (atomic_exchange(&w->state, POSTED) == ASLEEP)
		futex_wake(&w->state);
}

/* Until the worker has nothing of this launch any more. */
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

Split pool_split(int64_t items, int64_t work, int most)
{
	Split s = {.threads = 1, .chunk = items};
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
		if (atomic_load_explicit(&worker[i].state, memory_order_relaxed) == IDLE)
			return true;
	return false;
}

void pool_run(Items call, void *const *buf, const int64_t *vars, int64_t items, const Split *s)
{
	int n = s->threads < threads ? s->threads : threads;

	if (n < 2 || (!s->wake && !any_awake(n))) {
		call(buf, vars, 0, items);
		return;
	}
	job.call = call;
	job.buf = buf;
	job.vars = vars;
	job.chunk = s->chunk;
	job.n = n;
	for (int i = 0; i < n; i++) {
		range[i].end = items / n * (i + 1) + items % n * (i + 1) / n;
		atomic_store_explicit(&range[i].next, items / n * i + items % n * i / n,
			memory_order_relaxed);
	}
	for (int i = 1; i < n; i++)
		worker_post(&worker[i], s->wake);
	run_items(0);
	for (int i = 1; i < n; i++)
		worker_finish(&worker[i]);
}

/* ---- start and end */

/* The k-th processor after the one the caller is on, of those it may use. */
static int processor(int here, int k)
{
	int at = here;

	while (k > 0)
		if (CPU_ISSET(at = (at + 1) % CPU_SETSIZE, &allowed))
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
	atomic_store(&worker[i].state, IDLE);
	err = pthread_create(&worker[i].thread, &attr, worker_main, &worker[i]);
	pthread_attr_destroy(&attr);
	return !err;
}

/* Signals are the caller's: workers start with all of them blocked. A worker that cannot be started
 * is done without. */
void pool_start(int n)
{
	sigset_t all, old;
	cpu_set_t one;
	int here = sched_getcpu();
	bool pin = !sched_getaffinity(0, sizeof allowed, &allowed) && here >= 0 &&
		CPU_ISSET(here, &allowed) && CPU_COUNT(&allowed) >= n;

	n = n > MOST_THREADS ? MOST_THREADS : n;
	spin = n <= cores() ? SPIN : 1;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	for (threads = 1; threads < n; threads++)
		if (!worker_start(threads, pin ? processor(here, threads) : -1))
			break;
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (pin && threads > 1) {
		CPU_ZERO(&one);
		CPU_SET(here, &one);
		sched_setaffinity(0, sizeof one, &one);
	}
}

void pool_stop(void)
{
	if (threads < 2)
		return;
	for (int i = 1; i < threads; i++)
		if (atomic_exchange(&worker[i].state, QUIT) == ASLEEP)
			futex_wake(&worker[i].state);
	for (int i = 1; i < threads; i++)
		pthread_join(worker[i].thread, NULL);
	threads = 1;
	if (CPU_COUNT(&allowed))
		sched_setaffinity(0, sizeof allowed, &allowed);
}
