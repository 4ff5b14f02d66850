#pragma OPENCL FP_CONTRACT OFF
// helpers: f32x2
/* y */
/* act_group.t:3 */
__kernel void r_3_10(__global float *restrict y, __global const float *restrict x)
{
	const int gidx0 = get_group_id(0);
	const int lidx0 = get_local_id(0);
	__local float buf0[10];
	for (int r2 = 0; r2 < 2; r2++) {
		if (r2 * 4 + lidx0 < 5) {
			__attribute__((aligned(16))) float acc0[2];
			*(f32x2 *)&acc0[0] = *(__global const f32x2 *)&x[gidx0 * 10 + r2 * 8 + lidx0 * 2];
			buf0[r2 * 8 + lidx0 * 2] = sqrt(acc0[0]);
			buf0[r2 * 8 + lidx0 * 2 + 1] = sqrt(acc0[1]);
		}
	}
	barrier(CLK_LOCAL_MEM_FENCE);
	float acc1 = 0.0f;
	for (int r2 = 0; r2 < 2; r2++) {
		if (r2 * 4 + lidx0 < 5) {
			acc1 += buf0[r2 * 8 + lidx0 * 2];
			acc1 += buf0[r2 * 8 + lidx0 * 2 + 1];
		}
	}
	__local float buf1[4];
	buf1[lidx0] = acc1;
	barrier(CLK_LOCAL_MEM_FENCE);
	if (lidx0 < 2) {
		buf1[lidx0] += buf1[lidx0 + 2];
	}
	barrier(CLK_LOCAL_MEM_FENCE);
	if (lidx0 < 1) {
		buf1[lidx0] += buf1[lidx0 + 1];
	}
	barrier(CLK_LOCAL_MEM_FENCE);
	acc1 = buf1[0];
	for (int r2 = 0; r2 < 2; r2++) {
		if (r2 * 4 + lidx0 < 5) {
			__attribute__((aligned(16))) float acc2[2];
			acc2[0] = buf0[r2 * 8 + lidx0 * 2] / acc1;
			acc2[1] = buf0[r2 * 8 + lidx0 * 2 + 1] / acc1;
			*(__global f32x2 *)&y[gidx0 * 10 + r2 * 8 + lidx0 * 2] = *(const f32x2 *)&acc2[0];
		}
	}
}

