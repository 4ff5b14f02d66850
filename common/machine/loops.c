/* Each loop in code for the processors that have vectors of that size: wider ones than these would
 * be in memory, and what they take would be measured. This file alone is compiled to contract
 * a·b + c. */
#include "machine/loops.h"

#define LOOPS(N, CODE)                                                                             \
	typedef float Lanes##N __attribute__((vector_size(N)));                                    \
	typedef int64_t Words##N __attribute__((vector_size(N)));                                  \
	CODE static void mulacc_apart_##N(const Memory *m)                                         \
	{                                                                                          \
		Lanes##N sum[CHAINS], one = {1};                                                   \
		for (int c = 0; c < CHAINS; c++)                                                   \
			sum[c] = one * (float)c;                                                   \
		/* written out, or the chains would be in memory */                                \
		for (int i = 0; i < ROUNDS; i++)                                                   \
			_Pragma("GCC unroll 12") for (int c = 0; c < CHAINS; c++)                  \
				sum[c] = one * sum[c] + one;                                       \
		for (int c = 1; c < CHAINS; c++)                                                   \
			sum[0] += sum[c];                                                          \
		memcpy(m->at, &sum[0], N);                                                         \
	}                                                                                          \
	CODE static void mulacc_in_turn_##N(const Memory *m)                                       \
	{                                                                                          \
		Lanes##N sum = {1}, one = {1};                                                     \
		for (int i = 0; i < ROUNDS; i++)                                                   \
			sum = one * sum + one;                                                     \
		memcpy(m->at, &sum, N);                                                            \
	}                                                                                          \
	CODE static inline void read_##N(Words##N sum[4], const char *from, size_t n)              \
	{                                                                                          \
		const Words##N *at = (const Words##N *)from;                                       \
		for (size_t i = 0; i + 8 <= n / N; i += 8)                                         \
			_Pragma("GCC unroll 8") for (int c = 0; c < 8; c++)                        \
				sum[c % 4] |= at[i + c];                                           \
	}                                                                                          \
	CODE static inline void keep_##N(const Memory *m, Words##N sum[4])                         \
	{                                                                                          \
		sum[0] |= sum[1] | sum[2] | sum[3];                                                \
		/* never so, which the compiler does not know */                                   \
		if (sum[0][0] == 12345)                                                            \
			m->at[0] = 0;                                                              \
	}                                                                                          \
	CODE static void read_all_##N(const Memory *m)                                             \
	{                                                                                          \
		Words##N sum[4] = {{0}};                                                           \
		read_##N(sum, m->at, m->n);                                                        \
		keep_##N(m, sum);                                                                  \
	}                                                                                          \
	CODE static void read_runs_##N(const Memory *m)                                            \
	{                                                                                          \
		Words##N sum[4] = {{0}};                                                           \
		for (size_t run = 0; run < APART; run += RUN * N)                                  \
			for (size_t i = run; i + RUN * N <= m->n; i += APART) {                    \
				for (int k = 0; k < RUN * N; k += 64)                              \
					__builtin_prefetch(m->at + i + APART + k);                 \
				read_##N(sum, m->at + i, RUN * N);                                 \
			}                                                                          \
		keep_##N(m, sum);                                                                  \
	}
#define ROW(N) {N, mulacc_apart_##N, mulacc_in_turn_##N, read_all_##N, read_runs_##N}

LOOPS(16, )
#ifdef __x86_64__
LOOPS(32, __attribute__((target("avx2,fma"))))
LOOPS(64, __attribute__((target("avx512f"))))

const Loops *loops_native(void)
{
	static const Loops widths[] = {ROW(64), ROW(32), ROW(16)};
	__builtin_cpu_init();
	if (__builtin_cpu_supports("avx512f"))
		return &widths[0];
	return &widths[__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? 1 : 2];
}
#else
const Loops *loops_native(void)
{
	static const Loops width = ROW(16);
	return &width;
}
#endif
