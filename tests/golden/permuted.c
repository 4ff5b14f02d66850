// helpers: vectors f32x2 store_f32x2
/* y */
/* permuted.t:3 */
void E_3_2(float *__restrict y, float *__restrict z, const float *__restrict x, const long from, const long to)
{
	for (long gidx0 = from; gidx0 < to; gidx0++) {
		const f32x2 v0 = __extension__ (f32x2){x[gidx0], x[gidx0 + 3]};
		store_f32x2(&y[gidx0 * 2], v0 * 2.0f);
		store_f32x2(&z[gidx0 * 2], v0);
	}
}

void E_3_2_call(void *const *bufs, const long *vars, long from, long to)
{
	(void)vars;
	E_3_2((float *)bufs[0], (float *)bufs[1], (const float *)bufs[2], from, to);
}

