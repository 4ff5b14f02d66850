/* rows */
/* cumsum.t:2 */
void scan_3_5(float *__restrict rows, const float *__restrict x, const long from, const long to)
{
	for (long gidx0 = from; gidx0 < to; gidx0++) {
		float acc0 = 0.0f;
		for (long r1 = 0; r1 < 5; r1++) {
			acc0 += x[gidx0 * 5 + r1];
			rows[gidx0 * 5 + r1] = acc0;
		}
	}
}

void scan_3_5_call(void *const *bufs, const long *vars, long from, long to)
{
	(void)vars;
	scan_3_5((float *)bufs[0], (const float *)bufs[1], from, to);
}

// helpers: min_i64 mulacc_f32
/* columns */
/* cumsum.t:2 */
void scan_3_5n1(float *__restrict columns, const float *__restrict x, const long from, const long to)
{
	for (long gidx0 = from; gidx0 < to; gidx0++) {
		const long v0 = min_i64(gidx0 * 4, 1);
		float acc0;
		float acc1;
		float acc2;
		float acc3;
		acc0 = 0.0f;
		acc1 = 0.0f;
		acc2 = 0.0f;
		acc3 = 0.0f;
		for (long r0 = 0; r0 < 3; r0++) {
			const float *p0 = &x[r0 * 5 + v0];
			acc0 = mulacc_f32(p0[0], 2.0f, acc0);
			float *p1 = &columns[r0 * 5 + v0];
			p1[0] = acc0;
			acc1 = mulacc_f32(p0[1], 2.0f, acc1);
			p1[1] = acc1;
			acc2 = mulacc_f32(p0[2], 2.0f, acc2);
			p1[2] = acc2;
			acc3 = mulacc_f32(p0[3], 2.0f, acc3);
			p1[3] = acc3;
		}
	}
}

void scan_3_5n1_call(void *const *bufs, const long *vars, long from, long to)
{
	(void)vars;
	scan_3_5n1((float *)bufs[0], (const float *)bufs[1], from, to);
}

