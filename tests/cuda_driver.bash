# A driver and a compiler for CUDA that stand in for NVIDIA's, in the folder drivers: their only kernel doubles, on the host.
# There are two devices, of capability 9.0 and 9.1; with NONE none, with ONE the first, which has capability CAPABILITY (90).
# What is compiled for another capability is not taken, but PTX for an earlier one.
stand_in() {
	mkdir -p drivers
	cat > libcuda.c <<-'END'
		#include <stdint.h>
		#include <stdlib.h>
		#include <string.h>
		#include <stdio.h>
		int devices(void) { return getenv("NONE") ? 0 : getenv("ONE") ? 1 : 2; }
		int capability(void) { return getenv("CAPABILITY") ? atoi(getenv("CAPABILITY")) : 90; }
		int cuInit(unsigned f) { return (int)f; }
		int cuDeviceGetCount(int *n) { *n = devices(); return 0; }
		int cuDeviceGet(int *d, int i) { *d = i; return 0; }
		int cuDeviceGetAttribute(int *v, int a, int d) { *v = a == 75 ? capability() / 10 : capability() % 10 + d; return 0; }
		int cuDeviceGetName(char *name, int n, int d) { snprintf(name, n, "stand-in %d", d); return 0; }
		int cuCtxSynchronize(void) { return 0; }
		int cuMemsetD8_v2(uint64_t at, unsigned char v, size_t n) { memset((void *)(uintptr_t)at, v, n); return 0; }
		int cuEventCreate(void **e, unsigned f) { *e = malloc(1); return f; }
		int cuEventDestroy_v2(void *e) { free(e); return 0; }
		int cuEventRecord(void *e, void *s) { return !e || s; }
		int cuEventSynchronize(void *e) { return !e; }
		int cuEventElapsedTime(float *ms, void *from, void *to) { *ms = 12.5f; return from == to; }
		int cuDevicePrimaryCtxRetain(void **c, int d) { static int one; *c = &one; return d > 1; }
		int cuDevicePrimaryCtxRelease_v2(int d) { return d > 1; }
		int cuCtxSetCurrent(void *c) { return !c; }
		int cuMemAlloc_v2(uint64_t *at, size_t n) { *at = (uintptr_t)malloc(n); return getenv("FULL") ? 2 : 0; }
		int cuMemFree_v2(uint64_t at) { free((void *)(uintptr_t)at); return 0; }
		int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t n) { memcpy((void *)(uintptr_t)to, from, n); return 0; }
		int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t n) { memcpy(to, (void *)(uintptr_t)from, n); return 0; }
		int cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t n, void *s)
		{ memcpy((void *)(uintptr_t)to, (void *)(uintptr_t)from, n); return s != 0; }
		int cuModuleLoadData(void **m, const void *image)
		{
			const char *own = strstr(image, "=sm_"), *ptx = strstr(image, "=compute_");
			*m = strdup(image);
			return own ? atoi(own + 4) == capability() ? 0 : 209 : !ptx || atoi(ptx + 9) > capability() + 1;
		}
		int cuModuleUnload(void *m) { free(m); return 0; }
		int cuModuleGetFunction(void **f, void *m, const char *name)
		{ *f = strstr(m, name); return !*f; }
		int cuLaunchKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
			unsigned shared, void *s, void **args, void **extra)
		{
			float *y = *(float **)args[0], *x = *(float **)args[1];
			long n = *(long *)args[2];
			if (gx * bx < n || gy * gz * by * bz != 1 || shared || s || extra || !f)
				return 1;
			for (long i = 0; i < n; i++)
				y[i] = 2 * x[i];
			return 0;
		}
		int cuGetErrorString(int e, const char **t) { *t = e == 2 ? "out of memory" : "wrong"; return 0; }
	END
	cat > libnvrtc.c <<-'END'
		#include <stdlib.h>
		#include <string.h>
		#include <stdio.h>
		int nvrtcCreateProgram(void **p, const char *t, const char *c, int n, const char **h, const char **m)
		{ *p = calloc(strlen(t) + 99, 1); strcpy(*p, t); return n; }
		int nvrtcCompileProgram(void *p, int n, const char **o) { strcat(p, o[0]); return getenv("BROKEN") || n != 4; }
		int nvrtcGetPTXSize(void *p, size_t *n) { *n = strlen(p) + 1; return 0; }
		int nvrtcGetPTX(void *p, char *to) { strcpy(to, p); return 0; }
		int nvrtcVersion(int *major, int *minor) { *major = 99; *minor = 9; return 0; }
		int nvrtcGetCUBINSize(void *p, size_t *n) { *n = strlen(p); return 0; }
		int nvrtcGetCUBIN(void *p, char *to) { memcpy(to, p, strlen(p)); return 0; }
		int nvrtcGetNumSupportedArchs(int *n) { *n = 3; return 0; }
		int nvrtcGetSupportedArchs(int *a) { a[0] = 75; a[1] = 80; a[2] = 90; return 0; }
		int nvrtcGetProgramLogSize(void *p, size_t *n) { *n = 99; return !p; }
		int nvrtcGetProgramLog(void *p, char *to) { strcpy(to, "a note\nline 1: error: this one\nmore"); return !p; }
		int nvrtcDestroyProgram(void **p) { free(*p); return 0; }
	END
	"${CC:-cc}" -w -shared -fPIC -o drivers/libcuda.so.1 libcuda.c
	"${CC:-cc}" -w -shared -fPIC -o drivers/libnvrtc.so libnvrtc.c
}
