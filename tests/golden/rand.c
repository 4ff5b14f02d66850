#ifndef HELPER_threefry_u64
#define HELPER_threefry_u64
static inline unsigned long threefry_u64(unsigned long a, unsigned long b)
{
	const unsigned k[3] = {(unsigned)b, (unsigned)(b >> 32), (unsigned)b ^ (unsigned)(b >> 32) ^ 0x1bd11bdau};
	const unsigned by[8] = {13, 15, 26, 6, 17, 29, 16, 24};
	unsigned x = (unsigned)a + k[0], y = (unsigned)(a >> 32) + k[1];
	for (unsigned i = 0; i < 20; i++) {
		x += y;
		y = (y << by[i % 8]) | (y >> (32 - by[i % 8]));
		y ^= x;
		if (i % 4 == 3) {
			x += k[(i / 4 + 1) % 3];
			y += k[(i / 4 + 2) % 3] + i / 4 + 1;
		}
	}
	return ((unsigned long)y << 32) | x;
}
#endif

#ifndef HELPER_bits_u32_f32
#define HELPER_bits_u32_f32
static inline float bits_u32_f32(unsigned x)
{
	union { unsigned from; float to; } u;
	u.from = x;
	return u.to;
}
#endif

/* u */
/* rand.t:1 */
void E_4(float *restrict u)
{
	for (long r0 = 0; r0 < 4; r0++) {
		u[r0] = bits_u32_f32(((unsigned)(threefry_u64((unsigned long)r0, 7) & 4294967295uL) >> 9) | 1065353216) + -1.0f;
	}
}

void E_4_call(void *const *bufs, const long *vars, long from, long to)
{
	(void)vars;
	(void)from;
	(void)to;
	E_4(bufs[0]);
}

#ifndef HELPER_threefry_u64
#define HELPER_threefry_u64
static inline unsigned long threefry_u64(unsigned long a, unsigned long b)
{
	const unsigned k[3] = {(unsigned)b, (unsigned)(b >> 32), (unsigned)b ^ (unsigned)(b >> 32) ^ 0x1bd11bdau};
	const unsigned by[8] = {13, 15, 26, 6, 17, 29, 16, 24};
	unsigned x = (unsigned)a + k[0], y = (unsigned)(a >> 32) + k[1];
	for (unsigned i = 0; i < 20; i++) {
		x += y;
		y = (y << by[i % 8]) | (y >> (32 - by[i % 8]));
		y ^= x;
		if (i % 4 == 3) {
			x += k[(i / 4 + 1) % 3];
			y += k[(i / 4 + 2) % 3] + i / 4 + 1;
		}
	}
	return ((unsigned long)y << 32) | x;
}
#endif

/* n */
/* rand.t:1 */
void E_6(long *restrict n)
{
	for (long r0 = 0; r0 < 6; r0++) {
		n[r0] = (long)(((threefry_u64((unsigned long)r0, 7) & 4294967295uL) * 100) >> 32);
	}
}

void E_6_call(void *const *bufs, const long *vars, long from, long to)
{
	(void)vars;
	(void)from;
	(void)to;
	E_6(bufs[0]);
}

