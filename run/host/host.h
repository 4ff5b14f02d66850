/* The machine: processors, threads, memory, a terminal.  Sections follow the files. */
#ifndef RUN_HOST_HOST_H
#define RUN_HOST_HOST_H
#include "base/base.h"

/* ---- cores.c */

/* Processors that this process may keep busy: by its affinity and its control group's quota; from 1
 * to MOST_THREADS. */
int cores(void);
enum { MOST_THREADS = 256 };

/* ---- progress.c: one line on a terminal */

typedef struct { const char *what; size_t of; double since; bool wanted, drawn; } Progress;
Progress progress_start(const char *what, size_t of, bool wanted);
void progress_step(Progress *p, size_t done);
void progress_end(Progress *p);

/* ---- pool.c: threads that share the items of a launch */

/* A kernel's entry on the CPU (common/README.md, level program). */
typedef void (*Items)(void *const *bufs, const int64_t *vars, int64_t from, int64_t to);
/* How threads share a launch: at most so many, chunk items at a time. work: nanoseconds of all its
 * items together. wake: so much work is ahead that threads are woken for it. */
typedef struct { int threads; bool wake; int64_t chunk, work; } Share;
/* For items of `work` nanoseconds each over at most `most` threads; one thread when more would not
 * gain. wake is the caller's to decide, from the work of this launch and of those after it. */
Share pool_split(int64_t items, int64_t work, int most);
bool pool_worth_waking(int64_t work);
/* n threads, this one among them, which takes the processor it is on for its own. */
void pool_start(int n);
/* Calls for the items 0 … items-1 and returns when all are done. */
void pool_run(Items call, void *const *buf, const int64_t *vars, int64_t items, const Share *s);
/* Ends the threads; this one may run anywhere again. */
void pool_stop(void);

/* ---- memory.c: memory of buffers on the CPU */

enum { HUGE_PAGE = 2 << 20 };
/* Zeroed, aligned to 64 bytes, in huge pages when it is large; no two in a row start at the same
 * place of their 4 KB. Dies with FAILED. */
void *memory_take(size_t bytes);
/* NULL is nothing. */
void memory_give(void *p);
/* The most memory that this process has had, in bytes. */
size_t memory_peak(void);
/* A copy of from, which lies in a mapped file: its pages leave memory as they are copied, so that
 * both are never there whole. */
void *memory_move(const void *from, size_t bytes);
/* Pages of a mapped file leave memory; they are read again when they are needed. */
void pages_drop(const void *p, size_t n);
#endif
