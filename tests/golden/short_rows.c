// helpers: min_i64 vectors f32x8 splat_f32x8 i32x8 max_f32x8 max_with_f32x8 mulacc_f32x8 store_f32x8 load_f32x8
/* y */
/* short_rows.t:3 */
void r_20_3(float *__restrict y, const float *__restrict x, const long from, const long to)
{
	for (long gidx0 = from; gidx0 < to; gidx0++) {
		const long v0 = min_i64(gidx0 * 8, 12);
		f32x8 acc0;
		acc0 = splat_f32x8(-__builtin_inff());
		const float *p0 = &x[v0 * 3];
		acc0 = max_f32x8(acc0, __extension__ (f32x8){p0[0], p0[3], p0[6], p0[9], p0[12], p0[15], p0[18], p0[21]});
		acc0 = max_f32x8(acc0, __extension__ (f32x8){p0[1], p0[4], p0[7], p0[10], p0[13], p0[16], p0[19], p0[22]});
		acc0 = max_f32x8(acc0, __extension__ (f32x8){p0[2], p0[5], p0[8], p0[11], p0[14], p0[17], p0[20], p0[23]});
		__attribute__((aligned(64))) float buf0[24];
		const float *p1 = &x[v0 * 3];
		const f32x8 v1 = max_with_f32x8((__extension__ (f32x8){p1[0], p1[3], p1[6], p1[9], p1[12], p1[15], p1[18], p1[21]} - acc0) * 1.442695f, splat_f32x8(-152.0f));
		const f32x8 v2 = max_with_f32x8((__extension__ (f32x8){p1[1], p1[4], p1[7], p1[10], p1[13], p1[16], p1[19], p1[22]} - acc0) * 1.442695f, splat_f32x8(-152.0f));
		const f32x8 v3 = max_with_f32x8((__extension__ (f32x8){p1[2], p1[5], p1[8], p1[11], p1[14], p1[17], p1[20], p1[23]} - acc0) * 1.442695f, splat_f32x8(-152.0f));
		const f32x8 v4 = v1 + 12583103.0f;
		const f32x8 v5 = v2 + 12583103.0f;
		const f32x8 v6 = v3 + 12583103.0f;
		const f32x8 v7 = v1 - (v4 - 12583103.0f);
		const f32x8 v8 = v2 - (v5 - 12583103.0f);
		const f32x8 v9 = v3 - (v6 - 12583103.0f);
		store_f32x8(&buf0[0], mulacc_f32x8(mulacc_f32x8(mulacc_f32x8(mulacc_f32x8(mulacc_f32x8(mulacc_f32x8(splat_f32x8(8.323074e-24f), v7, splat_f32x8(7.263544e-23f)), v7, splat_f32x8(5.214165e-22f)), v7, splat_f32x8(3.0088412e-21f)), v7, splat_f32x8(1.30227034e-20f)), v7, splat_f32x8(3.7575584e-20f)), v7, splat_f32x8(5.421011e-20f)) * (f32x8)((i32x8)v4 << 23));
		store_f32x8(&buf0[8], mulacc_f32x8(mulacc_f32x8(mulacc_f32x8(mulacc_f32x8(mulacc_f32x8(mulacc_f32x8(splat_f32x8(8.323074e-24f), v8, splat_f32x8(7.263544e-23f)), v8, splat_f32x8(5.214165e-22f)), v8, splat_f32x8(3.0088412e-21f)), v8, splat_f32x8(1.30227034e-20f)), v8, splat_f32x8(3.7575584e-20f)), v8, splat_f32x8(5.421011e-20f)) * (f32x8)((i32x8)v5 << 23));
		store_f32x8(&buf0[16], mulacc_f32x8(mulacc_f32x8(mulacc_f32x8(mulacc_f32x8(mulacc_f32x8(mulacc_f32x8(splat_f32x8(8.323074e-24f), v9, splat_f32x8(7.263544e-23f)), v9, splat_f32x8(5.214165e-22f)), v9, splat_f32x8(3.0088412e-21f)), v9, splat_f32x8(1.30227034e-20f)), v9, splat_f32x8(3.7575584e-20f)), v9, splat_f32x8(5.421011e-20f)) * (f32x8)((i32x8)v6 << 23));
		f32x8 acc1;
		acc1 = splat_f32x8(0.0f);
		const f32x8 v10 = load_f32x8(&buf0[0]);
		acc1 = acc1 + v10;
		const f32x8 v11 = load_f32x8(&buf0[8]);
		acc1 = acc1 + v11;
		const f32x8 v12 = load_f32x8(&buf0[16]);
		acc1 = acc1 + v12;
		const f32x8 v13 = v10 * (1.0f / acc1);
		const f32x8 v14 = v11 * (1.0f / acc1);
		const f32x8 v15 = v12 * (1.0f / acc1);
		const f32x8 v16 = __builtin_shufflevector(v13, v14, 0, 8, 0, 1, 9, 1, 2, 10);
		const f32x8 v17 = __builtin_shufflevector(v13, v14, 2, 3, 11, 3, 4, 12, 4, 5);
		const f32x8 v18 = __builtin_shufflevector(v13, v14, 13, 5, 6, 14, 6, 7, 15, 7);
		const f32x8 v19 = __builtin_shufflevector(v16, v15, 0, 1, 8, 3, 4, 9, 6, 7);
		const f32x8 v20 = __builtin_shufflevector(v17, v15, 10, 1, 2, 11, 4, 5, 12, 7);
		const f32x8 v21 = __builtin_shufflevector(v18, v15, 0, 13, 2, 3, 14, 5, 6, 15);
		float *p2 = &y[v0 * 3];
		store_f32x8(&p2[0], v19);
		store_f32x8(&p2[8], v20);
		store_f32x8(&p2[16], v21);
	}
}

void r_20_3_call(void *const *bufs, const long *vars, long from, long to)
{
	(void)vars;
	r_20_3((float *)bufs[0], (const float *)bufs[1], from, to);
}

