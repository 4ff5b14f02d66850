#pragma OPENCL FP_CONTRACT OFF
// helpers: mulacc_f32 max_f32
/* y */
/* linear_relu.t:5 */
__kernel void r_4_6_8(__global float *restrict y, __global const float *restrict a, __global const float *restrict b, __global const float *restrict bias)
{
	const int gidx0 = get_group_id(0);
	const int lidx0 = get_local_id(0);
	const int v0 = gidx0 * 128 + lidx0;
	if (v0 < 24) {
		const int v1 = v0 / 6;
		const int v2 = v0 % 6;
		float acc0 = 0.0f;
		for (int r2 = 0; r2 < 8; r2++) {
			acc0 = mulacc_f32(a[v1 * 8 + r2], b[r2 * 6 + v2], acc0);
		}
		y[v1 * 6 + v2] = max_f32(acc0 + bias[v2], 0.0f);
	}
}

