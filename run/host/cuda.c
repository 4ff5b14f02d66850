/* NVIDIA's driver library, looked for at run time. */
#include "host/cuda.h"
#include <dlfcn.h>

Cuda cuda;

static bool library_open(void)
{
	void *so = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);

	if (!so)
		return false;
#define FIND(result, name, params) \
	if (!(cuda.name = (result(*) params)dlsym(so, #name))) \
		return false;
	CUDA_FUNCTIONS(FIND)
#undef FIND
	return cuda.cuInit(0) == CUDA_SUCCESS;
}

int cuda_devices(void)
{
	static int n = -1;

	if (n >= 0)
		return n;
	n = 0;
	if (library_open() && cuda.cuDeviceGetCount(&n) != CUDA_SUCCESS)
		n = 0;
	return n;
}

int cuda_capability(void)
{
	CUdevice d;
	int major = 0, minor = 0;

	if (!cuda_devices() || cuda.cuDeviceGet(&d, 0) ||
		cuda.cuDeviceGetAttribute(&major, CU_ATTRIBUTE_MAJOR, d) ||
		cuda.cuDeviceGetAttribute(&minor, CU_ATTRIBUTE_MINOR, d))
		return 0;
	return 10 * major + minor;
}
