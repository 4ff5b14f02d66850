// helpers: max_f32
/* y */
/* softmax.t:3 */
extern "C" __global__ void r_3_16(float *__restrict__ y, const float *__restrict__ x)
{
	const int gidx0 = blockIdx.x;
	const int lidx0 = threadIdx.x;
	const int v0 = gidx0 * 128 + lidx0;
	if (v0 < 48) {
		float acc0 = -__int_as_float(0x7f800000);
		for (int r3 = 0; r3 < 16; r3++) {
			acc0 = max_f32(acc0, x[v0 / 16 * 16 + r3]);
		}
		float acc1 = 0.0f;
		for (int r3 = 0; r3 < 16; r3++) {
			acc1 += exp2f((x[v0 / 16 * 16 + r3] - acc0) * 1.442695f);
		}
		y[v0 / 16 * 16 + v0 % 16] = exp2f((x[v0 / 16 * 16 + v0 % 16] - acc0) * 1.442695f) * (1.0f / acc1);
	}
}

