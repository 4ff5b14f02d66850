// helpers: vectors f32x8 load_f32x8 store_f32x8
/* y */
/* act_chunk.t:3 */
void E_12_8(float *__restrict y, const float *__restrict a, const float *__restrict b, const long from, const long to)
{
	for (long gidx0 = from; gidx0 < to; gidx0++) {
		for (long r3 = 0; r3 < 3; r3++) {
			const float v0 = a[gidx0 * 6 + r3 * 2];
			const f32x8 v1 = load_f32x8(&b[0]);
			store_f32x8(&y[gidx0 * 48 + r3 * 16], v0 * v1);
			const float v2 = a[gidx0 * 6 + r3 * 2 + 1];
			store_f32x8(&y[gidx0 * 48 + r3 * 16 + 8], v2 * v1);
		}
	}
}

void E_12_8_call(void *const *bufs, const long *vars, long from, long to)
{
	(void)vars;
	E_12_8((float *)bufs[0], (const float *)bufs[1], (const float *)bufs[2], from, to);
}

