// helpers: vectors f32x4 load_f32x4 splat_f32x4 store_f32x4
/* y */
/* embedding.t:4 */
void E_5_4(float *__restrict y, const float *__restrict table, const long *__restrict id, const long from, const long to)
{
	for (long gidx0 = from; gidx0 < to; gidx0++) {
		const long v0 = id[gidx0];
		const long v1 = v0 < 0 ? v0 + 10 : v0;
		const unsigned char v2 = (-1 < v1) & (v1 < 10);
		store_f32x4(&y[gidx0 * 4], (v2 ? load_f32x4(&table[v1 * 4]) : splat_f32x4(0.0f)) * 2.0f);
	}
}

void E_5_4_call(void *const *bufs, const long *vars, long from, long to)
{
	(void)vars;
	E_5_4((float *)bufs[0], (const float *)bufs[1], (const long *)bufs[2], from, to);
}

