#pragma OPENCL FP_CONTRACT OFF
/* y */
/* symbolic.t:2 */
__kernel void r_n_4(__global float *restrict y, __global float *restrict last, __global const float *restrict x, const long n)
{
	const int n_i32 = (int)n;
	const int gidx0 = get_group_id(0);
	const int lidx0 = get_local_id(0);
	float acc0 = 0.0f;
	for (int r2 = 0; r2 < (n_i32 + 31) / 32; r2++) {
		if (r2 * 32 + lidx0 < n_i32) {
			acc0 += x[r2 * 128 + lidx0 * 4 + gidx0];
		}
	}
	__local float buf0[32];
	buf0[lidx0] = acc0;
	barrier(CLK_LOCAL_MEM_FENCE);
	if (lidx0 < 16) {
		buf0[lidx0] += buf0[lidx0 + 16];
	}
	barrier(CLK_LOCAL_MEM_FENCE);
	if (lidx0 < 8) {
		buf0[lidx0] += buf0[lidx0 + 8];
	}
	barrier(CLK_LOCAL_MEM_FENCE);
	if (lidx0 < 4) {
		buf0[lidx0] += buf0[lidx0 + 4];
	}
	barrier(CLK_LOCAL_MEM_FENCE);
	if (lidx0 < 2) {
		buf0[lidx0] += buf0[lidx0 + 2];
	}
	barrier(CLK_LOCAL_MEM_FENCE);
	if (lidx0 < 1) {
		buf0[lidx0] += buf0[lidx0 + 1];
	}
	barrier(CLK_LOCAL_MEM_FENCE);
	acc0 = buf0[0];
	for (int r2 = 0; r2 < (n_i32 + 31) / 32; r2++) {
		if (r2 * 32 + lidx0 < n_i32) {
			y[r2 * 128 + lidx0 * 4 + gidx0] = x[r2 * 128 + lidx0 * 4 + gidx0] / acc0;
			last[r2 * 128 + lidx0 * 4 + gidx0] = x[r2 * -128 + n_i32 * 4 + lidx0 * -4 + gidx0 - 4];
		}
	}
}

