/* OpenCL devices, through the ICD loader libOpenCL.so.1, which is loaded at run time and need not
 * exist.
 *
 * A buffer is a cl_mem, and a temporary is a sub-buffer of the workspace. Size variables are passed
 * after the buffers as 64-bit integers. There is one in-order queue, so a copy waits for the
 * launches before it. */
#include "base/progress.h"
#include "exec/exec.h"

#if __has_include(<CL/cl.h>)
#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* every function of the library that is used, with its type from the header */
#define FUNCTIONS(F) \
	F(clGetPlatformIDs) \
	F(clGetDeviceIDs) F(clGetDeviceInfo) F(clCreateContext) F(clCreateCommandQueue) \
		F(clCreateBuffer) F(clCreateSubBuffer) F(clReleaseMemObject) \
			F(clEnqueueWriteBuffer) F(clEnqueueReadBuffer) F(clEnqueueCopyBuffer) \
				F(clEnqueueFillBuffer) F(clCreateProgramWithSource) \
					F(clBuildProgram) F(clGetProgramBuildInfo) \
						F(clCreateKernel) F(clSetKernelArg) \
							F(clEnqueueNDRangeKernel) F(clFinish)
#define DECLARE(f) __typeof__(&f) f;

enum { MAX_PLATFORMS = 16, MAX_DEVICES = 64 };
/* the library, its devices (-1: not asked yet), and the one that is used */
static struct {
	FUNCTIONS(DECLARE)
	cl_device_id devices[MAX_DEVICES];
	int ndevices;
	cl_device_id device;
	cl_context context;
	cl_command_queue queue;
} opencl = {.ndevices = -1};

typedef struct { cl_kernel kernel; const char *name; } ClKernel;

static void check(cl_int err, const char *what)
{
	if (err == CL_MEM_OBJECT_ALLOCATION_FAILURE || err == CL_OUT_OF_RESOURCES ||
		err == CL_OUT_OF_HOST_MEMORY)
		die(FAILED, "opencl: %s: no memory left (error %d)", what, err);
	if (err != CL_SUCCESS)
		die(FAILED, "opencl: %s: error %d", what, err);
}

static bool library_open(void)
{
	void *so = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);

	if (!so)
		return false;
#define FIND(f) if (!(opencl.f = (__typeof__(&f))dlsym(so, #f))) return false;
	FUNCTIONS(FIND)
	return true;
}

/* Finds every platform's devices, in the loader's order, once. */
static void devices_find(void)
{
	cl_platform_id platform[MAX_PLATFORMS];
	cl_uint np = 0, nd;

	if (opencl.ndevices >= 0)
		return;
	opencl.ndevices = 0;
	if (!library_open() || opencl.clGetPlatformIDs(MAX_PLATFORMS, platform, &np) != CL_SUCCESS)
		return;
	for (cl_uint i = 0; i < np && i < MAX_PLATFORMS; i++) {
		int space = MAX_DEVICES - opencl.ndevices;
		if (opencl.clGetDeviceIDs(platform[i], CL_DEVICE_TYPE_ALL, space,
				opencl.devices + opencl.ndevices, &nd) != CL_SUCCESS)
			continue;
		opencl.ndevices += nd > (cl_uint)space ? space : (int)nd;
	}
}

/* First lists the devices in a child process, so that a platform that aborts does not end this one.
 */
static void devices_find_safely(void)
{
	int status = 0, null;
	pid_t child;

	if (opencl.ndevices >= 0)
		return;
	fflush(NULL);
	child = fork();
	if (child == 0) {
		null = open("/dev/null", O_RDWR);
		dup2(null, 1);
		dup2(null, 2);
		devices_find();
		_exit(0);
	}
	if (child > 0 && waitpid(child, &status, 0) == child && WIFSIGNALED(status)) {
		warn("opencl: a platform dies while its devices are listed (%s)",
			strsignal(WTERMSIG(status)));
		opencl.ndevices = 0;
		return;
	}
	devices_find();
}

static int opencl_list(void (*tell)(void *, const char *, const char *), void *ctx)
{
	char name[32], text[256];

	devices_find_safely();
	for (int i = 0; i < opencl.ndevices; i++) {
		snprintf(name, sizeof name, i ? "opencl:%d" : "opencl", i);
		cl_int err = opencl.clGetDeviceInfo(
			opencl.devices[i], CL_DEVICE_NAME, sizeof text, text, NULL);
		if (err != CL_SUCCESS)
			text[0] = 0;
		tell(ctx, name, text);
	}
	return opencl.ndevices;
}

static void opencl_open(int i)
{
	cl_int err;

	devices_find();
	if (!opencl.ndevices)
		die(UNSUPPORTED, "no OpenCL device: libOpenCL.so.1 lists none");
	if (i >= opencl.ndevices)
		die(UNSUPPORTED, "no device 'opencl:%d': there are %d", i, opencl.ndevices);
	if (opencl.context && opencl.device == opencl.devices[i])
		return;
	opencl.device = opencl.devices[i];
	opencl.context = opencl.clCreateContext(NULL, 1, &opencl.device, NULL, NULL, &err);
	check(err, "cannot make a context");
	opencl.queue = opencl.clCreateCommandQueue(opencl.context, opencl.device, 0, &err);
	check(err, "cannot make a queue");
}

/* ---- memory */

/* Sub-buffers may start only at multiples of CL_DEVICE_MEM_BASE_ADDR_ALIGN, which is at most 4096
 * bits on any device. */
enum { ALIGN = 512 };

static void *opencl_alloc(size_t bytes)
{
	cl_int err;
	cl_uint zero = 0;
	size_t n = (bytes + ALIGN) / ALIGN * ALIGN;     /* a cl_mem cannot be empty */
	cl_mem m = opencl.clCreateBuffer(opencl.context, CL_MEM_READ_WRITE, n, NULL, &err);

	check(err, arena_printf("a buffer of %zu bytes", bytes));
	check(opencl.clEnqueueFillBuffer(opencl.queue, m, &zero, sizeof zero, 0, n, 0, NULL, NULL),
		"filling a buffer");
	return m;
}

static void *opencl_slice(void *mem, size_t offset, size_t bytes)
{
	cl_int err;
	cl_buffer_region r = { offset, bytes ? bytes : 1 };
	cl_mem m = opencl.clCreateSubBuffer(
		mem, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &r, &err);

	check(err, arena_printf("a part of %zu bytes at %zu", bytes, offset));
	return m;
}

static void opencl_release(void *mem)
{
	if (mem)
		opencl.clReleaseMemObject(mem);
}

static void opencl_put(void *mem, const void *host, size_t bytes)
{
	if (bytes)
		check(opencl.clEnqueueWriteBuffer(
			opencl.queue, mem, CL_TRUE, 0, bytes, host, 0, NULL, NULL),
			"copying to the device");
}

static void opencl_get(void *host, void *mem, size_t bytes)
{
	if (bytes)
		check(opencl.clEnqueueReadBuffer(
			opencl.queue, mem, CL_TRUE, 0, bytes, host, 0, NULL, NULL),
			"copying from the device");
}

static void opencl_copy(void *to, void *from, size_t bytes)
{
	if (bytes)
		check(opencl.clEnqueueCopyBuffer(
			      opencl.queue, from, to, 0, 0, bytes, 0, NULL, NULL),
			"copying on the device");
}

/* ---- kernels */

/* The first line of the log that contains "error", or else its first line. */
static const char *first_error(cl_program p)
{
	size_t n = 0;
	char *log, *at;

	if (opencl.clGetProgramBuildInfo(p, opencl.device, CL_PROGRAM_BUILD_LOG, 0, NULL, &n) !=
		CL_SUCCESS || !n)
		return "no message";
	log = arena_alloc(n + 1);
	opencl.clGetProgramBuildInfo(p, opencl.device, CL_PROGRAM_BUILD_LOG, n, log, NULL);
	at = strstr(log, "error");
	while (at && at > log && at[-1] != '\n')
		at--;
	at = at ? at : log + strspn(log, "\n");
	at[strcspn(at, "\n")] = 0;
	return at;
}

/* Some compilers print an error count to standard error, which should hold only our one line. */
static cl_int build_quietly(cl_program built, const char *flags)
{
	int keep = dup(2), none = open("/dev/null", O_WRONLY | O_CLOEXEC);
	cl_int err;

	fflush(stderr);
	dup2(none, 2);
	err = opencl.clBuildProgram(built, 1, &opencl.device, flags, NULL, NULL);
	dup2(keep, 2);
	close(keep);
	close(none);
	return err;
}

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

/* Whether p[i] can be compiled in one program with those from first to i-1. */
static bool compiles_with(Program *const *p, size_t first, size_t i)
{
	if (!same_text(p[i]->flags, p[first]->flags) || p[i]->alone || p[first]->alone)
		return false;
	for (size_t k = first; k < i; k++)
		if (!strcmp(p[k]->name, p[i]->name) && strcmp(p[k]->src, p[i]->src))
			return false;
	return true;
}

static cl_program program_build(Program *const *p, size_t n, const char **src, cl_int *failed)
{
	cl_uint sources = 0;
	cl_int err;

	for (size_t i = 0; i < n; i++) {
		size_t k = 0;
		while (k < i && strcmp(p[k]->src, p[i]->src))
			k++;
		if (k == i)
			src[sources++] = p[i]->src;
	}
	cl_program built =
		opencl.clCreateProgramWithSource(opencl.context, sources, src, NULL, &err);
	check(err, p[0]->where);
	*failed = build_quietly(built, p[0]->flags);
	return built;
}

/* Compiles many kernels as one program, so that a compiler that loads its own library for each
 * program does that once. If they do not compile, each is tried alone to find the one that fails.
 */
static void load_batch(Program *const *p, size_t n, const char **src, void **kernel)
{
	cl_int err;
	cl_program built = program_build(p, n, src, &err);

	if (err != CL_SUCCESS && n == 1)
		die(FAILED, "%s: the OpenCL compiler failed: %s", p[0]->name, first_error(built));
	if (err != CL_SUCCESS) {
		for (size_t i = 0; i < n; i++)
			load_batch(p + i, 1, src, kernel + i);
		return;
	}
	for (size_t i = 0; i < n; i++) {
		ClKernel *k = kernel[i] = arena_alloc(sizeof *k);
		k->name = p[i]->name;
		const char *entry = p[i]->entry ? p[i]->entry : p[i]->name;
		k->kernel = opencl.clCreateKernel(built, entry, &err);
		if (err != CL_SUCCESS)
			die(FAILED, "%s: its source has no kernel of that name", k->name);
	}
}

static void opencl_load(size_t n, Program *const *p, void **kernel)
{
	const char **src = xcalloc(n + 1, sizeof *src);

	Progress progress = progress_start("compiling", n, true);
	for (size_t first = 0, i; first < n; first = i) {
		for (i = first + 1; i < n && i - first < 256 && compiles_with(p, first, i);)
			i++;
		load_batch(p + first, i - first, src, kernel + first);
		progress_step(&progress, i);
	}
	progress_end(&progress);
	free(src);
}

static void opencl_launch(const Launch *l)
{
	ClKernel *k = l->kernel;
	size_t global[3], local[3];
	cl_int err = CL_SUCCESS;

	for (size_t i = 0; i < l->nbuf && err == CL_SUCCESS; i++)
		err = opencl.clSetKernelArg(k->kernel, i, sizeof(cl_mem), &l->buf[i]);
	for (size_t i = 0; i < l->nvars && err == CL_SUCCESS; i++)
		err = opencl.clSetKernelArg(k->kernel, l->nbuf + i, sizeof(int64_t), &l->vars[i]);
	check(err, arena_printf("arguments of %s", k->name));
	for (int i = 0; i < 3; i++) {
		local[i] = l->items[i];
		global[i] = l->groups[i] * l->items[i];
	}
	err = opencl.clEnqueueNDRangeKernel(
		opencl.queue, k->kernel, 3, NULL, global, local, 0, NULL, NULL);
	if (err != CL_SUCCESS)
		die(FAILED,
			"opencl: %s does not launch over %zux%zux%zu items in groups of "
			"%zux%zux%zu: error %d",
			k->name, global[0], global[1], global[2], local[0], local[1], local[2],
			err);
}

static void opencl_sync(void)
{
	check(opencl.clFinish(opencl.queue), "a launch");
}

#else   /* built without the OpenCL headers */

static int opencl_list(void (*tell)(void *, const char *, const char *), void *ctx)
{
	return 0;
}

static void opencl_open(int i)
{
	die(UNSUPPORTED, "no OpenCL: this program was built without its headers");
}

/* without a device nothing else is called */
enum { ALIGN = 64 };
#define opencl_alloc NULL
#define opencl_slice NULL
#define opencl_release NULL
#define opencl_put NULL
#define opencl_get NULL
#define opencl_copy NULL
#define opencl_load NULL
#define opencl_launch NULL
#define opencl_sync NULL
#endif

const Exec exec_opencl = {
	.name = "opencl",
	.align = ALIGN,
	.list = opencl_list,
	.open = opencl_open,
	.alloc = opencl_alloc,
	.slice = opencl_slice,
	.release = opencl_release,
	.put = opencl_put,
	.get = opencl_get,
	.copy = opencl_copy,
	.load = opencl_load,
	.launch = opencl_launch,
	.sync = opencl_sync,
};
