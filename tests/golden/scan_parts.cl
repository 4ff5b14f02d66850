#pragma OPENCL FP_CONTRACT OFF
// helpers: f32x2
/* y */
/* scan_parts.t:2 */
__kernel void parts_scan_70000(__global float *restrict totals0_, __global const float *restrict x)
{
	const int gidx0 = get_group_id(0);
	const int lidx0 = get_local_id(0);
	float acc0 = 0.0f;
	for (int r4 = 0; r4 < 3; r4++) {
		if (r4 * 64 + lidx0 < 137) {
			__attribute__((aligned(16))) float acc1[2];
			*(f32x2 *)&acc1[0] = *(__global const f32x2 *)&x[gidx0 * 274 + r4 * 128 + lidx0 * 2];
			acc0 += acc1[0];
			acc0 += acc1[1];
		}
	}
	__local float buf0[64];
	buf0[lidx0] = acc0;
	barrier(CLK_LOCAL_MEM_FENCE);
	if (lidx0 < 32) {
		buf0[lidx0] += buf0[lidx0 + 32];
	}
	barrier(CLK_LOCAL_MEM_FENCE);
	if (lidx0 < 16) {
		buf0[lidx0] += buf0[lidx0 + 16];
	}
	barrier(CLK_LOCAL_MEM_FENCE);
	if (lidx0 < 8) {
		buf0[lidx0] += buf0[lidx0 + 8];
	}
	barrier(CLK_LOCAL_MEM_FENCE);
	if (lidx0 < 4) {
		buf0[lidx0] += buf0[lidx0 + 4];
	}
	barrier(CLK_LOCAL_MEM_FENCE);
	if (lidx0 < 2) {
		buf0[lidx0] += buf0[lidx0 + 2];
	}
	barrier(CLK_LOCAL_MEM_FENCE);
	if (lidx0 < 1) {
		buf0[lidx0] += buf0[lidx0 + 1];
	}
	barrier(CLK_LOCAL_MEM_FENCE);
	acc0 = buf0[0];
	if (lidx0 < 1) {
		totals0_[gidx0] = acc0;
	}
}

#pragma OPENCL FP_CONTRACT OFF
/* y */
/* scan_parts.t:2 */
__kernel void scan_70000(__global float *restrict y, __global const float *restrict x, __global const float *restrict totals0_)
{
	const int gidx0 = get_group_id(0);
	const int lidx0 = get_local_id(0);
	const int v0 = gidx0 * 128 + lidx0;
	float acc0 = 0.0f;
	for (int r2 = 0; r2 < 255; r2++) {
		acc0 += r2 < v0 ? totals0_[r2] : 0.0f;
	}
	float acc1 = 0.0f;
	for (int r1 = 0; r1 < 274; r1++) {
		const bool v1 = v0 * 274 + r1 < 70000;
		acc1 += v1 ? x[v0 * 274 + r1] : 0.0f;
		if (v1) {
			y[v0 * 274 + r1] = acc0 + acc1;
		}
	}
}

