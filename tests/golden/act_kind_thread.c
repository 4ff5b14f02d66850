// helpers: vectors i32x8 lane_i32x8 splat_i32x8 f32x8 load_if_f32x8 store_if_f32x8
/* y */
/* act_kind_thread.t:3 */
void E_5_12(float *__restrict y, const float *__restrict a, const float *__restrict b, const long from, const long to)
{
	for (long gidx0 = from; gidx0 < to; gidx0++) {
		const float v0 = a[gidx0];
		for (long r1 = 0; r1 < 2; r1++) {
			const i32x8 v1 = (i32x8)(lane_i32x8() < splat_i32x8((int)(r1 * -8 + 12)));
			store_if_f32x8(&y[gidx0 * 12 + r1 * 8], v0 - load_if_f32x8(&b[r1 * 8], v1), v1);
		}
	}
}

void E_5_12_call(void *const *bufs, const long *vars, long from, long to)
{
	(void)vars;
	E_5_12((float *)bufs[0], (const float *)bufs[1], (const float *)bufs[2], from, to);
}

