/* NVIDIA's driver library, loaded at run time. */
#include "host/cuda.h"
#include <dlfcn.h>

Cuda cuda = {.devices = -1};

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
	if (cuda.devices >= 0)
		return cuda.devices;
	cuda.devices = 0;
	if (library_open() && cuda.cuDeviceGetCount(&cuda.devices) != CUDA_SUCCESS)
		cuda.devices = 0;
	return cuda.devices;
}

int cuda_capability(bool *alike)
{
	int least = 0, n = cuda_devices();

	*alike = true;
	for (int i = 0; i < n; i++) {
		CUdevice d;
		int major = 0, minor = 0;
		if (cuda.cuDeviceGet(&d, i) ||
			cuda.cuDeviceGetAttribute(&major, CU_ATTRIBUTE_MAJOR, d) ||
			cuda.cuDeviceGetAttribute(&minor, CU_ATTRIBUTE_MINOR, d))
			return 0;
		int it = 10 * major + minor;
		*alike &= !least || it == least;
		least = !least || it < least ? it : least;
	}
	return least;
}
