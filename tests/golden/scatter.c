// helpers: min_i64 vectors f32x8 load_f32x8 store_f32x8
/* y */
/* scatter.t:4 */
void E_4_3(float *__restrict y, const float *__restrict x, const long from, const long to)
{
	for (long gidx0 = from; gidx0 < to; gidx0++) {
		const long v0 = min_i64(gidx0 * 8, 4);
		store_f32x8(&y[v0], load_f32x8(&x[v0]));
	}
}

void E_4_3_call(void *const *bufs, const long *vars, long from, long to)
{
	(void)vars;
	E_4_3((float *)bufs[0], (const float *)bufs[1], from, to);
}

/* y */
/* scatter.t:4 */
void scatter_5_3(float *__restrict y, const int *__restrict i, const float *__restrict v)
{
	for (long r0 = 0; r0 < 5; r0++) {
		const int v0 = i[r0];
		const long v1 = (long)(v0 < 0 ? v0 + 4 : v0);
		const unsigned char v2 = (-1 < v1) & (v1 < 4);
		for (long r1 = 0; r1 < 3; r1++) {
			if (v2) {
				y[v1 * 3 + r1] += v[r0 * 3 + r1];
			}
		}
	}
}

void scatter_5_3_call(void *const *bufs, const long *vars, long from, long to)
{
	(void)vars;
	(void)from;
	(void)to;
	scatter_5_3((float *)bufs[0], (const int *)bufs[1], (const float *)bufs[2]);
}

