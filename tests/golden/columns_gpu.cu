// helpers: mulacc_f32
/* y */
/* columns_gpu.t:5 */
extern "C" __global__ void r_64_96(float *__restrict__ y, const float *__restrict__ x)
{
	const int gidx0 = blockIdx.x;
	const int lidx0 = threadIdx.x;
	__shared__ float buf0[128];
	for (int r4 = 0; r4 < 1; r4++) {
		const int v0 = lidx0 % 32;
		float acc0 = 0.0f;
		for (int r2 = 0; r2 < 24; r2++) {
			const float v1 = x[r2 * 256 + lidx0 / 32 * 64 + gidx0 * 32 + v0];
			acc0 = mulacc_f32(v1, v1, acc0);
		}
		buf0[lidx0] = acc0;
	}
	__syncthreads();
	for (int r4 = 0; r4 < 1; r4++) {
		if (lidx0 < 32) {
			float acc1 = 0.0f;
			for (int r3 = 0; r3 < 4; r3++) {
				acc1 += buf0[r3 * 32 + lidx0];
			}
			y[gidx0 * 32 + lidx0] = acc1;
		}
	}
}

// helpers: f32x4
/* z */
/* columns_gpu.t:6 */
extern "C" __global__ void r_4096_128(float *__restrict__ z, const float *__restrict__ w)
{
	const int gidx0 = blockIdx.x;
	const int lidx0 = threadIdx.x;
	float acc0 = 0.0f;
	for (int r2 = 0; r2 < 1; r2++) {
		__align__(16) float acc1[4];
		*(f32x4 *)&acc1[0] = *(const f32x4 *)&w[gidx0 * 128 + lidx0 * 4];
		acc0 += acc1[0];
		acc0 += acc1[1];
		acc0 += acc1[2];
		acc0 += acc1[3];
	}
	float acc2;
	acc2 = __shfl_xor_sync(0xffffffffu, acc0, 16);
	acc0 += acc2;
	acc2 = __shfl_xor_sync(0xffffffffu, acc0, 8);
	acc0 += acc2;
	acc2 = __shfl_xor_sync(0xffffffffu, acc0, 4);
	acc0 += acc2;
	acc2 = __shfl_xor_sync(0xffffffffu, acc0, 2);
	acc0 += acc2;
	acc2 = __shfl_xor_sync(0xffffffffu, acc0, 1);
	acc0 += acc2;
	__shared__ float buf0[32];
	buf0[lidx0] = acc0;
	__syncthreads();
	acc0 = buf0[0];
	if (lidx0 < 1) {
		z[gidx0] = acc0;
	}
}

