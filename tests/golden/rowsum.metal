#include <metal_stdlib>
using namespace metal;

/* y */
/* rowsum.t:2 */
kernel void r_5_40(device float *y [[buffer(0)]], device const float *x [[buffer(1)]], uint3 group_at [[threadgroup_position_in_grid]], uint3 item_at [[thread_position_in_threadgroup]])
{
	const int gidx0 = group_at.x;
	const int lidx0 = item_at.x;
	const int v0 = gidx0 * 128 + lidx0;
	if (v0 < 5) {
		float acc0 = 0.0f;
		for (int r1 = 0; r1 < 40; r1++) {
			acc0 += x[v0 * 40 + r1];
		}
		y[v0] = acc0;
	}
}

