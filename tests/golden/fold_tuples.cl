#pragma OPENCL FP_CONTRACT OFF
// helpers: max_f32
__kernel void r_5_37(__global float *restrict m, __global float *restrict s, __global long *restrict i, __global const float *restrict x)
{
	const int gidx0 = get_group_id(0);
	const int lidx0 = get_local_id(0);
	const int v0 = gidx0 * 128 + lidx0;
	if (v0 < 5) {
		float acc0 = -INFINITY;
		float acc1 = 0.0f;
		long acc2 = 0;
		float acc3 = -INFINITY;
		for (int r1 = 0; r1 < 37; r1++) {
			const float v1 = x[v0 * 37 + r1];
			const float v2 = acc0;
			const float v3 = acc1;
			const float v4 = max_f32(v2, v1);
			const float v5 = v3 * exp2(v2 == v4 ? 0.0f : v2 - v4) + 1.0f * exp2(v1 == v4 ? 0.0f : v1 - v4);
			acc0 = v4;
			acc1 = v5;
			const float v6 = acc3;
			const long v7 = acc2;
			const bool v8 = v6 < v1;
			const float v9 = v8 ? v1 : v6;
			const long v10 = v8 ? r1 : v7;
			acc3 = v9;
			acc2 = v10;
		}
		m[v0] = acc0;
		s[v0] = acc1;
		i[v0] = acc2;
	}
}

