// helpers: vectors i64x4 lane_i64x4 splat_i64x4 u64x4 u32x4 threefry_u64x4 splat_u64x4 u64_to_u32_x4 splat_u32x4 f32x4 store_f32x4
/* u */
/* rand.t:1 */
void E_4(float *__restrict u, const long from, const long to)
{
	for (long gidx0 = from; gidx0 < to; gidx0++) {
		store_f32x4(&u[gidx0 * 4], (f32x4)((u64_to_u32_x4(threefry_u64x4((u64x4)(splat_i64x4(gidx0 * 4) + lane_i64x4()), splat_u64x4(7)) & splat_u64x4(4294967295uL)) >> 9) | splat_u32x4(1065353216)) + -1.0f);
	}
}

void E_4_call(void *const *bufs, const long *vars, long from, long to)
{
	(void)vars;
	E_4((float *)bufs[0], from, to);
}

// helpers: min_i64 vectors i64x4 lane_i64x4 splat_i64x4 u64x4 u32x4 threefry_u64x4 splat_u64x4 store_i64x4
/* n */
/* rand.t:1 */
void E_6(long *__restrict n, const long from, const long to)
{
	for (long gidx0 = from; gidx0 < to; gidx0++) {
		const long v0 = min_i64(gidx0 * 4, 2);
		store_i64x4(&n[v0], (i64x4)(((threefry_u64x4((u64x4)(splat_i64x4(v0) + lane_i64x4()), splat_u64x4(7)) & splat_u64x4(4294967295uL)) * splat_u64x4(100)) >> 32));
	}
}

void E_6_call(void *const *bufs, const long *vars, long from, long to)
{
	(void)vars;
	E_6((long *)bufs[0], from, to);
}

