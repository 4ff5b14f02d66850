// helpers: mulacc_f32 max_f32
/* y */
/* linear_relu.t:5 */
extern "C" __global__ void r_4_6_8(float *__restrict__ y, const float *__restrict__ a, const float *__restrict__ b, const float *__restrict__ bias)
{
	const int gidx0 = blockIdx.x;
	const int lidx0 = threadIdx.x;
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

