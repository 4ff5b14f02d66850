#pragma OPENCL FP_CONTRACT OFF
/* y */
/* act_bind.t:3 */
__kernel void E_5_3(__global float *restrict y, __global const float *restrict a, __global const float *restrict b)
{
	const int gidx0 = get_group_id(0);
	const int lidx0 = get_local_id(0);
	const int v0 = gidx0 * 4 + lidx0;
	if (v0 < 15) {
		const int v1 = v0 / 3;
		const int v2 = v0 % 3;
		y[v1 * 3 + v2] = a[v1] + b[v2];
	}
}

