/* The part of NVIDIA's interfaces that run uses. It is declared here so that building needs neither
 * CUDA's headers nor its libraries; the libraries are loaded at run time. Types and names follow
 * cuda.h and nvrtc.h. */
#ifndef CUDA_H
#define CUDA_H
#include <stdbool.h>
#include <stddef.h>

typedef int CUresult, CUdevice;
typedef unsigned long long CUdeviceptr;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUstream_st *CUstream;
typedef struct CUevent_st *CUevent;
enum { CUDA_SUCCESS = 0, CUDA_ERROR_OUT_OF_MEMORY = 2 };
enum { CU_ATTRIBUTE_MAJOR = 75, CU_ATTRIBUTE_MINOR = 76 };

/* F(result, name in the library, parameters) */
#define CUDA_FUNCTIONS(F) \
	F(CUresult, cuInit, (unsigned flags)) \
	F(CUresult, cuDeviceGetCount, (int *n)) \
	F(CUresult, cuDeviceGet, (CUdevice * d, int i)) \
	F(CUresult, cuDeviceGetName, (char *name, int n, CUdevice d)) \
	F(CUresult, cuDeviceGetAttribute, (int *v, int attribute, CUdevice d)) \
	F(CUresult, cuDevicePrimaryCtxRetain, (CUcontext * c, CUdevice d)) \
	F(CUresult, cuCtxSetCurrent, (CUcontext c)) \
	F(CUresult, cuCtxSynchronize, (void)) \
	F(CUresult, cuMemAlloc_v2, (CUdeviceptr * p, size_t n)) \
	F(CUresult, cuMemFree_v2, (CUdeviceptr p)) \
	F(CUresult, cuMemsetD8_v2, (CUdeviceptr p, unsigned char v, size_t n)) \
	F(CUresult, cuMemcpyHtoD_v2, (CUdeviceptr to, const void *from, size_t n)) \
	F(CUresult, cuMemcpyDtoH_v2, (void *to, CUdeviceptr from, size_t n)) \
	F(CUresult, cuMemcpyDtoDAsync_v2, \
		(CUdeviceptr to, CUdeviceptr from, size_t n, CUstream s)) \
	F(CUresult, cuModuleLoadData, (CUmodule * m, const void *image)) \
	F(CUresult, cuModuleGetFunction, (CUfunction * f, CUmodule m, const char *name)) \
	F(CUresult, cuLaunchKernel, \
		(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, \
			unsigned bz, unsigned shared, CUstream s, void **args, void **extra)) \
	F(CUresult, cuEventCreate, (CUevent * e, unsigned flags)) \
	F(CUresult, cuEventDestroy_v2, (CUevent e)) \
	F(CUresult, cuEventRecord, (CUevent e, CUstream s)) \
	F(CUresult, cuEventSynchronize, (CUevent e)) \
	F(CUresult, cuEventElapsedTime, (float *ms, CUevent from, CUevent to)) \
	F(CUresult, cuGetErrorString, (CUresult e, const char **text))

typedef struct nvrtcProgram_st *nvrtcProgram;
typedef int nvrtcResult;

#define NVRTC_FUNCTIONS(F) \
	F(nvrtcResult, nvrtcVersion, (int *major, int *minor)) \
	F(nvrtcResult, nvrtcCreateProgram, (nvrtcProgram *p, const char *src, const char *name, \
		int n, const char *const *headers, const char *const *names)) \
	F(nvrtcResult, nvrtcCompileProgram, (nvrtcProgram p, int n, const char *const *options)) \
	F(nvrtcResult, nvrtcGetPTXSize, (nvrtcProgram p, size_t *n)) \
	F(nvrtcResult, nvrtcGetPTX, (nvrtcProgram p, char *to)) \
	F(nvrtcResult, nvrtcGetCUBINSize, (nvrtcProgram p, size_t *n)) \
	F(nvrtcResult, nvrtcGetCUBIN, (nvrtcProgram p, char *to)) \
	F(nvrtcResult, nvrtcGetNumSupportedArchs, (int *n)) \
	F(nvrtcResult, nvrtcGetSupportedArchs, (int *archs)) \
	F(nvrtcResult, nvrtcGetProgramLogSize, (nvrtcProgram p, size_t *n)) \
	F(nvrtcResult, nvrtcGetProgramLog, (nvrtcProgram p, char *to)) \
	F(nvrtcResult, nvrtcDestroyProgram, (nvrtcProgram *p))

/* ---- cuda.c: the driver's functions, loaded by cuda_devices */

typedef struct {
#define MEMBER(result, name, params) result (*name) params;
	CUDA_FUNCTIONS(MEMBER)
#undef MEMBER
	int devices;            /* -1: not looked for yet */
} Cuda;
extern Cuda cuda;
/* The number of devices; 0 without the library. */
int cuda_devices(void);
/* Compute capability of the devices, 10·major + minor, the least of them; 0 without one. alike:
 * whether all have that. */
int cuda_capability(bool *alike);
#endif
