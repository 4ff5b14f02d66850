/* Devices. */
#ifndef RUN_EXEC_EXEC_H
#define RUN_EXEC_EXEC_H
#include "build/build.h"

/* ---- cpu.c, opencl.c, cuda.c: devices behind one struct of functions */

/* A launch made ready once for all calls. */
typedef struct {
	void *kernel;                   /* from load */
	size_t nbuf, nvars;
	void *const *buf;
	const int64_t *vars;            /* in the program's order */
	int64_t groups[3], items[3];    /* groups, and work items of a group */
	Share split;                    /* on the CPU */
} Launch;
typedef struct Exec Exec;
struct Exec {
	const char *name;               /* "cpu", "opencl", "cuda": a device is NAME or NAME:NUMBER */
	bool host;                      /* device memory is this process's own: no copies are needed */
	int align;                      /* bytes, of a slice of device memory */
	/* Calls tell(ctx, device, description) for each device; never dies. Returns how many. */
	int (*list)(void (*tell)(void *ctx, const char *device, const char *text), void *ctx);
	/* Takes device number i; dies with UNSUPPORTED when it is not there. */
	void (*open)(int i);
	/* Device memory, zeroed; a part of it (freed with its parent); dies with FAILED when there is
	 * none left. */
	void *(*alloc)(size_t bytes);
	void *(*slice)(void *mem, size_t offset, size_t bytes);
	void (*release)(void *mem);
	/* Copies, in the order of the launches. get waits for them. */
	void (*put)(void *mem, const void *host, size_t bytes);
	void (*get)(void *host, void *mem, size_t bytes);
	void (*copy)(void *to, void *from, size_t bytes);
	/* A kernel ready to launch; dies with FAILED and the device compiler's first line. Programs
	 * arrive together so that a device may build them in parallel; kernel[i] stands for p[i]. */
	void (*load)(size_t n, Program *const *p, void **kernel);
	void (*launch)(const Launch *l);
	void (*sync)(void);
};
extern const Exec exec_cpu, exec_opencl, exec_cuda;
/* The Exec of a device's name and its number there; NULL when no Exec has that name. */
const Exec *exec_find(const char *device, int *number);
void exec_list(FILE *f);
/* Dies with UNSUPPORTED when a COPY names a device that is not there. */
void devices_check(const Graph *g);

typedef struct Session Session;
#endif
