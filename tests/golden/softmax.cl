#pragma OPENCL FP_CONTRACT OFF
// helpers: max_f32
/* y */
/* softmax.t:3 */
__kernel void r_3_16(__global float *restrict y, __global const float *restrict x)
{
	const int gidx0 = get_group_id(0);
	const int lidx0 = get_local_id(0);
	const int v0 = gidx0 * 128 + lidx0;
	if (v0 < 48) {
		float acc0 = -INFINITY;
		for (int r3 = 0; r3 < 16; r3++) {
			acc0 = max_f32(acc0, x[v0 / 16 * 16 + r3]);
		}
		float acc1 = 0.0f;
		for (int r3 = 0; r3 < 16; r3++) {
			acc1 += exp2((x[v0 / 16 * 16 + r3] - acc0) * 1.442695f);
		}
		y[v0 / 16 * 16 + v0 % 16] = exp2((x[v0 / 16 * 16 + v0 % 16] - acc0) * 1.442695f) * (1.0f / acc1);
	}
}

