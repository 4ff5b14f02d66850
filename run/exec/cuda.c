/* NVIDIA GPUs, through the driver's library, which is loaded at run time. Everything goes through
 * the default stream, so launches and copies keep their order. */
#include "exec/exec.h"
#include "host/cuda.h"
#include <dlfcn.h>
#include <stdlib.h>

typedef struct { CUfunction f; const char *name; } CudaKernel;

static void check(CUresult err, const char *what)
{
	const char *text = "unknown error";

	if (err == CUDA_SUCCESS)
		return;
	cuda.cuGetErrorString(err, &text);
	die(FAILED, "cuda: %s: %s", what, text);
}

static int cuda_list(void (*tell)(void *, const char *, const char *), void *ctx)
{
	char name[32], text[256] = "";
	CUdevice d;

	int n = cuda_devices();
	for (int i = 0; i < n; i++) {
		snprintf(name, sizeof name, i ? "cuda:%d" : "cuda", i);
		if (cuda.cuDeviceGet(&d, i) || cuda.cuDeviceGetName(text, sizeof text, d))
			text[0] = 0;
		tell(ctx, name, text);
	}
	return n;
}

static void cuda_open(int i)
{
	CUdevice d;
	CUcontext c;
	int n = cuda_devices();

	if (!n)
		die(UNSUPPORTED, "no CUDA device: libcuda.so.1 is missing or lists none");
	if (i >= n)
		die(UNSUPPORTED, "no device 'cuda:%d': there are %d", i, n);
	check(cuda.cuDeviceGet(&d, i), "the device");
	check(cuda.cuDevicePrimaryCtxRetain(&c, d), "the device's context");
	check(cuda.cuCtxSetCurrent(c), "the device's context");
}

static CUdeviceptr address(void *mem)
{
	return (CUdeviceptr)(uintptr_t)mem;
}

static void *cuda_alloc(size_t bytes)
{
	CUdeviceptr p;
	CUresult err = cuda.cuMemAlloc_v2(&p, bytes + 1);

	if (err == CUDA_ERROR_OUT_OF_MEMORY)
		die(FAILED, "cuda: no memory left for a buffer of %zu bytes", bytes);
	check(err, "a buffer");
	check(cuda.cuMemsetD8_v2(p, 0, bytes + 1), "filling a buffer");
	return (void *)(uintptr_t)p;
}

static void *cuda_slice(void *mem, size_t offset, size_t bytes)
{
	return (char *)mem + offset;
}

static void cuda_release(void *mem)
{
	if (mem)
		cuda.cuMemFree_v2(address(mem));
}

static void cuda_put(void *mem, const void *host, size_t bytes)
{
	if (bytes)
		check(cuda.cuMemcpyHtoD_v2(address(mem), host, bytes), "copying to the device");
}

static void cuda_get(void *host, void *mem, size_t bytes)
{
	if (bytes)
		check(cuda.cuMemcpyDtoH_v2(host, address(mem), bytes), "copying from the device");
}

static void cuda_copy(void *to, void *from, size_t bytes)
{
	if (bytes)
		check(cuda.cuMemcpyDtoDAsync_v2(address(to), address(from), bytes, NULL),
			"copying on the device");
}

static CUresult load_object(const Object *o, CUmodule *m)
{
	/* the driver wants PTX to end with a NUL */
	char *image = object_text(o);
	CUresult err = cuda.cuModuleLoadData(m, image);

	free(image);
	return err;
}

/* An object that a document brings may be for other devices: then it is built for these. */
static void cuda_load(size_t n, Program *const *p, void **kernel)
{
	for (size_t i = 0; i < n; i++) {
		CudaKernel *k = kernel[i] = arena_alloc(sizeof *k);
		CUmodule m;
		CUresult err = load_object(p[i]->file, &m);
		k->name = p[i]->name;
		if (err && p[i]->given && *p[i]->src) {
			build_cuda(1, &p[i], &(BuildOptions){.load = true});
			p[i]->entry = NULL;
			err = load_object(p[i]->file, &m);
		}
		check(err, p[i]->where);
		check(cuda.cuModuleGetFunction(&k->f, m, p[i]->entry ? p[i]->entry : p[i]->name),
			p[i]->where);
	}
}

static void cuda_launch(const Launch *l)
{
	CudaKernel *k = l->kernel;
	void **args = xmalloc((l->nbuf + l->nvars + 1) * sizeof *args);

	for (size_t i = 0; i < l->nbuf; i++)
		args[i] = (void *)&l->buf[i];
	for (size_t i = 0; i < l->nvars; i++)
		args[l->nbuf + i] = (void *)&l->vars[i];
	check(cuda.cuLaunchKernel(k->f, l->groups[0], l->groups[1], l->groups[2], l->items[0],
		      l->items[1], l->items[2], 0, NULL, args, NULL),
		k->name);
	free(args);
}

static void cuda_sync(void)
{
	check(cuda.cuCtxSynchronize(), "a launch");
}

/* The device's own clock, which does not count what starting a kernel takes. */
static double cuda_lap(const Launch *l)
{
	CUevent from, to;
	float ms;

	check(cuda.cuEventCreate(&from, 0), "an event");
	check(cuda.cuEventCreate(&to, 0), "an event");
	check(cuda.cuEventRecord(from, NULL), "an event");
	cuda_launch(l);
	check(cuda.cuEventRecord(to, NULL), "an event");
	check(cuda.cuEventSynchronize(to), ((CudaKernel *)l->kernel)->name);
	check(cuda.cuEventElapsedTime(&ms, from, to), "an event");
	cuda.cuEventDestroy_v2(from);
	cuda.cuEventDestroy_v2(to);
	return ms;
}

const Exec exec_cuda = {
	.name = "cuda",
	.align = 256,
	.list = cuda_list,
	.open = cuda_open,
	.alloc = cuda_alloc,
	.slice = cuda_slice,
	.release = cuda_release,
	.put = cuda_put,
	.get = cuda_get,
	.copy = cuda_copy,
	.load = cuda_load,
	.launch = cuda_launch,
	.sync = cuda_sync,
	.lap = cuda_lap,
};
