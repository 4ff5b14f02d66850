#include <metal_stdlib>
using namespace metal;

// helpers: max_f32
/* y */
/* linear_relu.t:5 */
kernel void r_4_6_8(device float *y [[buffer(0)]], device const float *a [[buffer(1)]], device const float *b [[buffer(2)]], device const float *bias [[buffer(3)]], uint3 group_at [[threadgroup_position_in_grid]], uint3 item_at [[thread_position_in_threadgroup]])
{
	const int gidx0 = group_at.x;
	const int lidx0 = item_at.x;
	const int v0 = gidx0 * 128 + lidx0;
	if (v0 < 24) {
		const int v1 = v0 / 6;
		const int v2 = v0 % 6;
		float acc0 = 0.0f;
		for (int r2 = 0; r2 < 8; r2++) {
			acc0 += a[v1 * 8 + r2] * b[r2 * 6 + v2];
		}
		y[v1 * 6 + v2] = max_f32(acc0 + bias[v2], 0.0f);
	}
}

