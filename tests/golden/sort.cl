#pragma OPENCL FP_CONTRACT OFF
// helpers: shl_i64 min_i64
/* sort.t:2 */
__kernel void sort_2_6(__global long *restrict t0_, __global long *restrict t1_, __global const float *restrict x)
{
	const int gidx0 = get_group_id(0);
	const int lidx0 = get_local_id(0);
	const int v0 = gidx0 * 128 + lidx0;
	if (v0 < 2) {
		for (int r3 = 0; r3 < 6; r3++) {
			t0_[v0 * 6 + r3] = r3;
		}
		for (int r3 = 0; r3 < 3; r3++) {
			const long v1 = shl_i64(1, r3);
			if (v1 < 6) {
				long acc0;
				long acc1;
				acc0 = 0;
				acc1 = 0;
				for (int r4 = 0; r4 < 6; r4++) {
					const long v2 = r4 & (long)(0 - (ulong)((long)((ulong)v1 * (ulong)2)));
					const long v3 = min_i64((long)((ulong)v2 + (ulong)v1), 6);
					const long v4 = min_i64((long)((ulong)v2 + (ulong)(long)((ulong)v1 * (ulong)2)), 6);
					if (r4 == v2) {
						acc0 = v2;
						acc1 = v3;
					}
					const long v5 = acc0;
					const long v6 = acc1;
					const bool v7 = v5 < v3;
					const bool v8 = v6 < v4;
					const long v9 = v7 ? t0_[(long)((ulong)(v0 * 6) + (ulong)v5)] : 0;
					const long v10 = v8 ? t0_[(long)((ulong)(v0 * 6) + (ulong)v6)] : 0;
					const float v11 = v7 ? x[(long)((ulong)(v0 * 6) + (ulong)v9)] : 0.0f;
					const float v12 = v8 ? x[(long)((ulong)(v0 * 6) + (ulong)v10)] : 0.0f;
					const bool v13 = v8 & ((v7 == 0) | ((v12 < v11) | ((v11 != v11) & (v12 == v12))));
					t1_[v0 * 6 + r4] = v13 ? v10 : v9;
					acc0 = (long)((ulong)v5 + (ulong)(v13 ? 0 : 1));
					acc1 = (long)((ulong)v6 + (ulong)(v13 ? 1 : 0));
				}
				for (int r4 = 0; r4 < 6; r4++) {
					t0_[v0 * 6 + r4] = t1_[v0 * 6 + r4];
				}
			}
		}
	}
}

#pragma OPENCL FP_CONTRACT OFF
/* up */
/* sort.t:2 */
__kernel void E_2_6(__global float *restrict up, __global const float *restrict x, __global const long *restrict t0_)
{
	const int gidx0 = get_group_id(0);
	const int lidx0 = get_local_id(0);
	const int v0 = gidx0 * 128 + lidx0;
	if (v0 < 12) {
		const long v1 = t0_[v0 / 6 * 6 + v0 % 6];
		up[v0 / 6 * 6 + v0 % 6] = ((-1 < v1) & (v1 < 6)) ? x[(long)((ulong)(v0 / 6 * 6) + (ulong)v1)] : 0.0f;
	}
}

#pragma OPENCL FP_CONTRACT OFF
// helpers: shl_i64 min_i64
/* order */
/* sort.t:2 */
__kernel void sort_2_6n1(__global long *restrict order, __global long *restrict t2_, __global const float *restrict x)
{
	const int gidx0 = get_group_id(0);
	const int lidx0 = get_local_id(0);
	const int v0 = gidx0 * 128 + lidx0;
	if (v0 < 2) {
		for (int r3 = 0; r3 < 6; r3++) {
			order[v0 * 6 + r3] = r3;
		}
		for (int r3 = 0; r3 < 3; r3++) {
			const long v1 = shl_i64(1, r3);
			if (v1 < 6) {
				long acc0;
				long acc1;
				acc0 = 0;
				acc1 = 0;
				for (int r4 = 0; r4 < 6; r4++) {
					const long v2 = r4 & (long)(0 - (ulong)((long)((ulong)v1 * (ulong)2)));
					const long v3 = min_i64((long)((ulong)v2 + (ulong)v1), 6);
					const long v4 = min_i64((long)((ulong)v2 + (ulong)(long)((ulong)v1 * (ulong)2)), 6);
					if (r4 == v2) {
						acc0 = v2;
						acc1 = v3;
					}
					const long v5 = acc0;
					const long v6 = acc1;
					const bool v7 = v5 < v3;
					const bool v8 = v6 < v4;
					const long v9 = v7 ? order[(long)((ulong)(v0 * 6) + (ulong)v5)] : 0;
					const long v10 = v8 ? order[(long)((ulong)(v0 * 6) + (ulong)v6)] : 0;
					const float v11 = v7 ? x[(long)((ulong)(v0 * 6) + (ulong)v9)] : 0.0f;
					const float v12 = v8 ? x[(long)((ulong)(v0 * 6) + (ulong)v10)] : 0.0f;
					const bool v13 = v8 & ((v7 == 0) | ((v11 < v12) | ((v12 != v12) & (v11 == v11))));
					t2_[v0 * 6 + r4] = v13 ? v10 : v9;
					acc0 = (long)((ulong)v5 + (ulong)(v13 ? 0 : 1));
					acc1 = (long)((ulong)v6 + (ulong)(v13 ? 1 : 0));
				}
				for (int r4 = 0; r4 < 6; r4++) {
					order[v0 * 6 + r4] = t2_[v0 * 6 + r4];
				}
			}
		}
	}
}

