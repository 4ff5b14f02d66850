#pragma OPENCL FP_CONTRACT OFF
/* y */
/* scatter.t:4 */
__kernel void E_4_3(__global float *restrict y, __global const float *restrict x)
{
	const int gidx0 = get_group_id(0);
	const int lidx0 = get_local_id(0);
	const int v0 = gidx0 * 128 + lidx0;
	if (v0 < 12) {
		y[v0] = x[v0];
	}
}

#pragma OPENCL FP_CONTRACT OFF
/* y */
/* scatter.t:4 */
__kernel void scatter_5_3(__global float *restrict y, __global const int *restrict i, __global const float *restrict v)
{
	const int gidx0 = get_group_id(0);
	const int lidx0 = get_local_id(0);
	const int v0 = gidx0 * 128 + lidx0;
	if (v0 < 3) {
		for (int r0 = 0; r0 < 5; r0++) {
			const int v1 = i[r0];
			const long v2 = (long)(v1 < 0 ? (int)((uint)v1 + (uint)4) : v1);
			const bool v3 = (-1 < v2) & (v2 < 4);
			if (v3) {
				y[v2 * 3 + v0] += v[r0 * 3 + v0];
			}
		}
	}
}

