/* rows */
/* cumsum.t:2 */
void scan_3_5(float *__restrict rows, const float *__restrict x)
{
	for (long r0 = 0; r0 < 3; r0++) {
		float acc0 = 0.0f;
		for (long r1 = 0; r1 < 5; r1++) {
			acc0 += x[r0 * 5 + r1];
			rows[r0 * 5 + r1] = acc0;
		}
	}
}

void scan_3_5_call(void *const *bufs, const long *vars, long from, long to)
{
	(void)vars;
	(void)from;
	(void)to;
	scan_3_5((float *)bufs[0], (const float *)bufs[1]);
}

// helpers: mulacc_f32
/* columns */
/* cumsum.t:2 */
void scan_3_5n1(float *__restrict columns, const float *__restrict x)
{
	for (long r1 = 0; r1 < 5; r1++) {
		float acc0 = 0.0f;
		for (long r0 = 0; r0 < 3; r0++) {
			acc0 = mulacc_f32(x[r0 * 5 + r1], 2.0f, acc0);
			columns[r0 * 5 + r1] = acc0;
		}
	}
}

void scan_3_5n1_call(void *const *bufs, const long *vars, long from, long to)
{
	(void)vars;
	(void)from;
	(void)to;
	scan_3_5n1((float *)bufs[0], (const float *)bufs[1]);
}

