/* y */
/* act_order.t:3 */
void E_5_3(float *__restrict y, const float *__restrict a, const float *__restrict b)
{
	for (long r1 = 0; r1 < 3; r1++) {
		const float v0 = b[r1];
		for (long r0 = 0; r0 < 5; r0++) {
			y[r0 * 3 + r1] = a[r0] + v0;
		}
	}
}

void E_5_3_call(void *const *bufs, const long *vars, long from, long to)
{
	(void)vars;
	(void)from;
	(void)to;
	E_5_3((float *)bufs[0], (const float *)bufs[1], (const float *)bufs[2]);
}

