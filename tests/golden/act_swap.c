// helpers: vectors i32x4 splat_i32x4 i8x4 load_i8x4 i16x4 i8_to_i32_x4 dotu8i8_i32x4 store_i32x4
/* y */
/* act_swap.t:3 */
void r_2_4_24(int *__restrict y, const unsigned char *__restrict a, const signed char *__restrict b)
{
	for (long r0 = 0; r0 < 2; r0++) {
		i32x4 acc0;
		acc0 = splat_i32x4(0);
		for (long r2 = 0; r2 < 6; r2++) {
			const unsigned char *p0 = &a[r0 * 24 + r2 * 4];
			const int v0 = ((((int)p0[0] & 255) | (int)((unsigned)((int)p0[1] & 255) << 8)) | (int)((unsigned)((int)p0[2] & 255) << 16)) | (int)((unsigned)(int)p0[3] << 24);
			const signed char *p1 = &b[r2 * 16];
			acc0 = dotu8i8_i32x4(splat_i32x4(v0), (((i8_to_i32_x4(load_i8x4(&p1[0])) & splat_i32x4(255)) | ((i8_to_i32_x4(load_i8x4(&p1[4])) & splat_i32x4(255)) << 8)) | ((i8_to_i32_x4(load_i8x4(&p1[8])) & splat_i32x4(255)) << 16)) | (i8_to_i32_x4(load_i8x4(&p1[12])) << 24), acc0);
		}
		store_i32x4(&y[r0 * 4], acc0);
	}
}

void r_2_4_24_call(void *const *bufs, const long *vars, long from, long to)
{
	(void)vars;
	(void)from;
	(void)to;
	r_2_4_24((int *)bufs[0], (const unsigned char *)bufs[1], (const signed char *)bufs[2]);
}

