#pragma OPENCL FP_CONTRACT OFF
/* y */
/* colsum.t:2 */
__kernel void r_5_40(__global float *restrict y, __global const float *restrict x)
{
	const int gidx0 = get_group_id(0);
	const int lidx0 = get_local_id(0);
	const int v0 = gidx0 * 128 + lidx0;
	if (v0 < 5) {
		float acc0 = 0.0f;
		for (int r1 = 0; r1 < 40; r1++) {
			acc0 += x[r1 * 5 + v0];
		}
		y[v0] = acc0;
	}
}

