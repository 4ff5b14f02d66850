/* The rest of the seam for a tool as a whole: what would run other tools, close standard output, or
 * leave a mapping behind. */
#include "process/process.h"
#include "seam.h"
#include <sys/mman.h>

/* the stages before it are targets of their own */
int __wrap_spawn_pipeline(
	char *const *const *argvs, const void *in, size_t n, Buf *out, int *failed);
int __wrap_spawn_pipeline(
	char *const *const *argvs, const void *in, size_t n, Buf *out, int *failed)
{
	die_silent(UNSUPPORTED);
}

/* standard output stays open for the next document */
void __wrap_stream_out_close(void);
void __wrap_stream_out_close(void) {}

/* a file's mapping is dropped when the next is made: there is one at a time, the document */
void *__real_mmap(void *at, size_t n, int prot, int flags, int fd, off_t offset);
void *__wrap_mmap(void *at, size_t n, int prot, int flags, int fd, off_t offset);
void *__wrap_mmap(void *at, size_t n, int prot, int flags, int fd, off_t offset)
{
	static struct { void *p; size_t n; } last;
	void *p = __real_mmap(at, n, prot, flags, fd, offset);
	if (fd < 0 || p == MAP_FAILED)
		return p;
	if (last.p)
		munmap(last.p, last.n);
	last.p = p;
	last.n = n;
	return p;
}
