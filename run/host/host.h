/* The machine: processors, threads, memory, a terminal.  Sections follow the files. */
#ifndef RUN_HOST_HOST_H
#define RUN_HOST_HOST_H
#include "base/base.h"

/* ---- cores.c */

/* The number of processors that this process may keep busy, by its affinity mask and its control
 * group's quota; from 1 to MOST_THREADS. */
int cores(void);
enum { MOST_THREADS = 256 };

/* ---- pool.c: threads that share the items of a launch */

/* A kernel's entry on the CPU (common/README.md, level program). */
typedef void (*Items)(void *const *bufs, const int64_t *vars, int64_t from, int64_t to);
/* How threads share a launch: how many threads at most, and how many items each takes at a time.
 * work is the time of all items together in nanoseconds. wake: there is enough work ahead to wake
 * threads that sleep. alternate: of the launches with it, every second one begins with the last
 * items of each thread. */
typedef struct { int threads; bool wake, alternate; int64_t chunk, work; } Share;
/* The split for items of `work` nanoseconds each over at most `most` threads; one thread when more
 * would not be faster. The caller sets wake, from the work of this launch and of those after it. */
Share pool_share(int64_t items, int64_t work, int most);
bool pool_worth_waking(int64_t work);
/* Starts threads until there are n, counting the caller, which is pinned to the processor it runs
 * on. Whether there were none before. */
bool pool_start(int n);
/* Wakes those that sleep: launches follow soon. */
void pool_wake(void);
/* From now on the caller alone runs launches, or all do again; returns which it was. */
bool pool_alone(bool alone);
/* Executes items 0 … items-1 and returns when all are done. */
void pool_run(Items call, void *const *buf, const int64_t *vars, int64_t items, const Share *s);
/* Ends the threads and removes the caller's pinning. */
void pool_stop(void);

/* ---- memory.c: memory for buffers on the CPU */

enum { HUGE_PAGE = 2 << 20 };
/* Zeroed memory, aligned to 64 bytes, in huge pages when it is large. No two consecutive
 * allocations start at the same offset within 4 KB. Dies with FAILED. */
void *memory_alloc(size_t bytes);
/* Frees it; NULL is allowed. */
void memory_free(void *p);
/* From now on two blocks that are freed are kept for those that are allocated next; or no longer,
 * and these are given back. */
void memory_keep(bool keeps);
/* The peak resident memory of this process in bytes. */
size_t memory_peak(void);
/* A copy of from, which lies in a mapped file. The file's pages are dropped as they are copied, so
 * the two are never in memory in full at the same time. */
void *memory_move(const void *from, size_t bytes);
/* Drops pages of a mapped file from memory; they are read again when touched. */
void pages_drop(const void *p, size_t n);

/* ---- peak.c */

/* What the processors can do with so many threads, which run (pool_start): operations on f32 and
 * bytes read from memory, each a second. Takes about 0.2 s and 128 MB. */
typedef struct { double operations, bytes; } Peak;
Peak peak_measure(int threads);
#endif
