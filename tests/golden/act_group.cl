#pragma OPENCL FP_CONTRACT OFF
/* y */
/* act_group.t:3 */
__kernel void r_3_10(__global float *restrict y, __global const float *restrict x)
{
	const int gidx0 = get_group_id(0);
	const int lidx0 = get_local_id(0);
	__local float buf0[10];
	for (int r2 = 0; r2 < 3; r2++) {
		if (r2 * 4 + lidx0 < 10) {
			buf0[r2 * 4 + lidx0] = sqrt(x[gidx0 * 10 + r2 * 4 + lidx0]);
		}
	}
	barrier(CLK_LOCAL_MEM_FENCE);
	float acc0 = 0.0f;
	for (int r2 = 0; r2 < 3; r2++) {
		if (r2 * 4 + lidx0 < 10) {
			acc0 += buf0[r2 * 4 + lidx0];
		}
	}
	__local float buf1[4];
	buf1[lidx0] = acc0;
	barrier(CLK_LOCAL_MEM_FENCE);
	if (lidx0 < 2) {
		buf1[lidx0] += buf1[lidx0 + 2];
	}
	barrier(CLK_LOCAL_MEM_FENCE);
	if (lidx0 < 1) {
		buf1[lidx0] += buf1[lidx0 + 1];
	}
	barrier(CLK_LOCAL_MEM_FENCE);
	acc0 = buf1[0];
	for (int r2 = 0; r2 < 3; r2++) {
		if (r2 * 4 + lidx0 < 10) {
			y[gidx0 * 10 + r2 * 4 + lidx0] = buf0[r2 * 4 + lidx0] / acc0;
		}
	}
}

