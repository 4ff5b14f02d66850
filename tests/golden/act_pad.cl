#pragma OPENCL FP_CONTRACT OFF
/* y */
/* act_pad.t:2 */
__kernel void E_8_6(__global float *restrict y, __global const float *restrict a)
{
	const int gidx0 = get_group_id(0);
	const int lidx0 = get_local_id(0);
	const int v0 = gidx0 / 3;
	const int v1 = gidx0 % 3;
	__local float buf0[10];
	for (int r4 = 0; r4 < 1; r4++) {
		buf0[lidx0 + lidx0 / 4] = a[v1 * 16 + lidx0 / 4 * 8 + v0 * 4 + lidx0 % 4];
	}
	barrier(CLK_LOCAL_MEM_FENCE);
	y[v0 * 24 + lidx0 / 2 * 6 + v1 * 2 + lidx0 % 2] = buf0[lidx0 % 2 * 5 + lidx0 / 2] * 2.0f;
}

