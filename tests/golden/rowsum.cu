/* y */
/* rowsum.t:2 */
extern "C" __global__ void r_5_40(float *__restrict__ y, const float *__restrict__ x)
{
	const int gidx0 = blockIdx.x;
	const int lidx0 = threadIdx.x;
	const int v0 = gidx0 * 128 + lidx0;
	if (v0 < 5) {
		float acc0 = 0.0f;
		for (int r1 = 0; r1 < 40; r1++) {
			acc0 += x[v0 * 40 + r1];
		}
		y[v0] = acc0;
	}
}

