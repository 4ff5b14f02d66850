#pragma OPENCL FP_CONTRACT OFF
// helpers: mulacc_f32
/* y */
/* act_kind.t:3 */
__kernel void r_9_8_6(__global float *restrict y, __global const float *restrict a, __global const float *restrict b)
{
	const int gidx0 = get_group_id(0);
	const int lidx0 = get_local_id(0);
	const int v0 = gidx0 / 2;
	const int v1 = lidx0 / 2;
	float acc0[4];
	acc0[0] = 0.0f;
	acc0[1] = 0.0f;
	acc0[2] = 0.0f;
	acc0[3] = 0.0f;
	const float v2 = v0 * 2 + v1 < 5 ? a[v0 * 24 + v1 * 12] : 0.0f;
	acc0[0] = mulacc_f32(v2, b[gidx0 % 2 * 4 + lidx0 % 2 * 2], acc0[0]);
	acc0[1] = mulacc_f32(v2, b[gidx0 % 2 * 4 + lidx0 % 2 * 2 + 1], acc0[1]);
	const float v3 = v0 * 2 + v1 < 4 ? a[v0 * 24 + v1 * 12 + 6] : 0.0f;
	acc0[2] = mulacc_f32(v3, b[gidx0 % 2 * 4 + lidx0 % 2 * 2], acc0[2]);
	acc0[3] = mulacc_f32(v3, b[gidx0 % 2 * 4 + lidx0 % 2 * 2 + 1], acc0[3]);
	const float v4 = v0 * 2 + v1 < 5 ? a[v0 * 24 + v1 * 12 + 1] : 0.0f;
	acc0[0] = mulacc_f32(v4, b[gidx0 % 2 * 4 + lidx0 % 2 * 2 + 8], acc0[0]);
	acc0[1] = mulacc_f32(v4, b[gidx0 % 2 * 4 + lidx0 % 2 * 2 + 9], acc0[1]);
	const float v5 = v0 * 2 + v1 < 4 ? a[v0 * 24 + v1 * 12 + 7] : 0.0f;
	acc0[2] = mulacc_f32(v5, b[gidx0 % 2 * 4 + lidx0 % 2 * 2 + 8], acc0[2]);
	acc0[3] = mulacc_f32(v5, b[gidx0 % 2 * 4 + lidx0 % 2 * 2 + 9], acc0[3]);
	const float v6 = v0 * 2 + v1 < 5 ? a[v0 * 24 + v1 * 12 + 2] : 0.0f;
	acc0[0] = mulacc_f32(v6, b[gidx0 % 2 * 4 + lidx0 % 2 * 2 + 16], acc0[0]);
	acc0[1] = mulacc_f32(v6, b[gidx0 % 2 * 4 + lidx0 % 2 * 2 + 17], acc0[1]);
	const float v7 = v0 * 2 + v1 < 4 ? a[v0 * 24 + v1 * 12 + 8] : 0.0f;
	acc0[2] = mulacc_f32(v7, b[gidx0 % 2 * 4 + lidx0 % 2 * 2 + 16], acc0[2]);
	acc0[3] = mulacc_f32(v7, b[gidx0 % 2 * 4 + lidx0 % 2 * 2 + 17], acc0[3]);
	const float v8 = v0 * 2 + v1 < 5 ? a[v0 * 24 + v1 * 12 + 3] : 0.0f;
	acc0[0] = mulacc_f32(v8, b[gidx0 % 2 * 4 + lidx0 % 2 * 2 + 24], acc0[0]);
	acc0[1] = mulacc_f32(v8, b[gidx0 % 2 * 4 + lidx0 % 2 * 2 + 25], acc0[1]);
	const float v9 = v0 * 2 + v1 < 4 ? a[v0 * 24 + v1 * 12 + 9] : 0.0f;
	acc0[2] = mulacc_f32(v9, b[gidx0 % 2 * 4 + lidx0 % 2 * 2 + 24], acc0[2]);
	acc0[3] = mulacc_f32(v9, b[gidx0 % 2 * 4 + lidx0 % 2 * 2 + 25], acc0[3]);
	const float v10 = v0 * 2 + v1 < 5 ? a[v0 * 24 + v1 * 12 + 4] : 0.0f;
	acc0[0] = mulacc_f32(v10, b[gidx0 % 2 * 4 + lidx0 % 2 * 2 + 32], acc0[0]);
	acc0[1] = mulacc_f32(v10, b[gidx0 % 2 * 4 + lidx0 % 2 * 2 + 33], acc0[1]);
	const float v11 = v0 * 2 + v1 < 4 ? a[v0 * 24 + v1 * 12 + 10] : 0.0f;
	acc0[2] = mulacc_f32(v11, b[gidx0 % 2 * 4 + lidx0 % 2 * 2 + 32], acc0[2]);
	acc0[3] = mulacc_f32(v11, b[gidx0 % 2 * 4 + lidx0 % 2 * 2 + 33], acc0[3]);
	const float v12 = v0 * 2 + v1 < 5 ? a[v0 * 24 + v1 * 12 + 5] : 0.0f;
	acc0[0] = mulacc_f32(v12, b[gidx0 % 2 * 4 + lidx0 % 2 * 2 + 40], acc0[0]);
	acc0[1] = mulacc_f32(v12, b[gidx0 % 2 * 4 + lidx0 % 2 * 2 + 41], acc0[1]);
	const float v13 = v0 * 2 + v1 < 4 ? a[v0 * 24 + v1 * 12 + 11] : 0.0f;
	acc0[2] = mulacc_f32(v13, b[gidx0 % 2 * 4 + lidx0 % 2 * 2 + 40], acc0[2]);
	acc0[3] = mulacc_f32(v13, b[gidx0 % 2 * 4 + lidx0 % 2 * 2 + 41], acc0[3]);
	const int v14 = v0 * 32 + v1 * 16 + gidx0 % 2 * 4 + lidx0 % 2 * 2;
	const bool v15 = v0 * 2 + v1 < 5;
	if (v15) {
		y[v14] = acc0[0];
	}
	if (v15) {
		y[v14 + 1] = acc0[1];
	}
	const int v16 = v0 * 32 + v1 * 16 + gidx0 % 2 * 4 + lidx0 % 2 * 2 + 8;
	const bool v17 = v0 * 2 + v1 < 4;
	if (v17) {
		y[v16] = acc0[2];
	}
	if (v17) {
		y[v16 + 1] = acc0[3];
	}
}

