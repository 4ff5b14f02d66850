/* Devices: memory, copies and launches behind one struct of functions. */
#ifndef RUN_EXEC_EXEC_H
#define RUN_EXEC_EXEC_H
#include "build/build.h"

/* ---- cpu.c, opencl.c, cuda.c: devices behind one struct of functions */

/* A launch, prepared once for all calls. */
typedef struct {
	void *kernel;                   /* from load */
	size_t nbuf, nvars;
	void *const *buf;
	const int64_t *vars;            /* in the program's order */
	int64_t groups[3], items[3];    /* groups, and work items in a group */
	Share share;                    /* on the CPU */
} Launch;
typedef struct Exec Exec;
struct Exec {
	const char *name; /* "cpu", "opencl", "cuda": a device is NAME or NAME:NUMBER */
	bool host;                      /* device memory is host memory: no copies are needed */
	int align;                      /* alignment of a slice of device memory, in bytes */
	/* Calls tell(ctx, device, description) for each device and returns their number; never
	 * dies. */
	int (*list)(void (*tell)(void *ctx, const char *device, const char *text), void *ctx);
	/* Opens device number i; dies with UNSUPPORTED when there is none. */
	void (*open)(int i);
	/* alloc gives zeroed device memory and dies with FAILED when there is none left. slice is a
	 * part of it, which is freed with its parent. */
	void *(*alloc)(size_t bytes);
	void *(*slice)(void *mem, size_t offset, size_t bytes);
	void (*release)(void *mem);
	/* Copies, in order with the launches. get waits for them. */
	void (*put)(void *mem, const void *host, size_t bytes);
	void (*get)(void *host, void *mem, size_t bytes);
	void (*copy)(void *to, void *from, size_t bytes);
	/* Makes kernels ready to launch: kernel[i] for p[i]. All programs are passed together so
	 * that a device may build them in parallel. Dies with FAILED and the first line of the
	 * device compiler's message. */
	void (*load)(size_t n, Program *const *p, void **kernel);
	void (*launch)(const Launch *l);
	void (*sync)(void);
	/* Launches, waits, gives the milliseconds that the kernel took; NULL: it has no clock. */
	double (*lap)(const Launch *l);
};
extern const Exec exec_cpu, exec_opencl, exec_cuda;
/* The Exec for a device's name, and the device's number there; NULL when no Exec has that name. */
const Exec *exec_find(const char *device, int *number);
void exec_list(FILE *f);
/* Dies with UNSUPPORTED when a COPY names a device that does not exist. */
void devices_check(const Graph *g);

typedef struct Session Session;
#endif
