void stage(float *__restrict y_staged0, const float *__restrict w, const float *__restrict v, const long from, const long to)
{
	for (long gidx0 = from; gidx0 < to; gidx0++) {
		const long v0 = gidx0 % 3;
		const long v1 = gidx0 / 3;
		y_staged0[v1 * 3 + v0] = w[v1] + v[v0];
	}
}

void stage_call(void *const *bufs, const long *vars, long from, long to)
{
	(void)vars;
	stage((float *)bufs[0], (const float *)bufs[1], (const float *)bufs[2], from, to);
}

// helpers: vectors f32x4 load_f32x4 store_f32x4
/* y */
/* act_stage_prepared.t:4 */
void E_n_3_4(float *__restrict y, const float *__restrict x, const float *__restrict y_staged0, const long from, const long to)
{
	for (long gidx0 = from; gidx0 < to; gidx0++) {
		const long v0 = gidx0 % 3;
		const long v1 = gidx0 / 3;
		const float *p0 = &y_staged0[v0];
		store_f32x4(&y[v1 * 12 + v0 * 4], load_f32x4(&x[v1 * 12 + v0 * 4]) * __extension__ (f32x4){p0[0], p0[3], p0[6], p0[9]});
	}
}

void E_n_3_4_call(void *const *bufs, const long *vars, long from, long to)
{
	(void)vars;
	E_n_3_4((float *)bufs[0], (const float *)bufs[1], (const float *)bufs[2], from, to);
}

