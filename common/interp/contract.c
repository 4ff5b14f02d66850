/* Sums of products over an index space, without storing the products: matrix products and
 * convolutions of any shape. An axis along which one operand and the output move is a row or column
 * axis, one along which all three move is a batch axis, and one along which the output does not
 * move is summed.
 *
 *     out[m, n] = Σk a[m, k]·b[k, n]      axes m (a, out), n (b, out), k (a, b; summed)
 *
 * Blocks of both operands are packed as doubles in the order in which they are read, so an f32
 * product is exact and sums are in double. Integers are packed as u64, whose low bits are right for
 * any width.
 */
#include <stdlib.h>
#include "interp/interp.h"
#include "interp/elements.h"

enum { ROWS = 4, COLS = 8,                              /* of the output, kept in registers */
	BLOCK_M = 64, BLOCK_N = 128, BLOCK_K = 256 };   /* of the blocks that stay in cache */

/* The axes of one role, and by how much each operand moves along them. */
typedef struct { int64_t n, move[3]; } RoleAxis;
typedef struct { int rank; int64_t count; RoleAxis axis[MAX_CONTRACT]; } RoleAxes;

/* Memory for blocks, in 8-byte elements, and for offsets into the operands and the output. */
typedef struct {
	uint64_t *a, *b, *sum;
	int64_t ka[BLOCK_K], kb[BLOCK_K], ma[BLOCK_M], mo[BLOCK_M], nb[BLOCK_N], no[BLOCK_N];
} Scratch;

/* A block to pack: its elements are at from + lane[…] + k[…], in panels of `width` lanes. */
typedef struct { const char *from; const int64_t *lane, *k; int lanes, width, n; } PackedBlock;
typedef void (*Pack)(DType dt, void *to, const PackedBlock *b);
typedef void (*Multiply)(int n, const void *a, const void *b, void *sum);

/* ---- micro-kernels: add n products to each element of sum[ROWS][COLS], whose rows are BLOCK_N
 * apart */

typedef double Floats __attribute__((vector_size(COLS * sizeof(double))));
typedef uint64_t Ints __attribute__((vector_size(COLS * sizeof(uint64_t))));

#define MULTIPLY(NAME, T, V) \
	static void NAME(int n, const void *pa, const void *pb, void *sum) \
	{ \
		const T *a = pa; \
		const V *b = pb; \
		V s[ROWS]; \
		for (int i = 0; i < ROWS; i++) \
			s[i] = *(V *)((T *)sum + i * BLOCK_N); \
		for (int k = 0; k < n; k++, a += ROWS) \
			for (int i = 0; i < ROWS; i++) \
				s[i] += a[i] * b[k]; \
		for (int i = 0; i < ROWS; i++) \
			*(V *)((T *)sum + i * BLOCK_N) = s[i]; \
	}
MULTIPLY(multiply_ints, uint64_t, Ints)
MULTIPLY(multiply_floats, double, Floats)
#if defined(__x86_64__)
__attribute__((target("avx2"))) MULTIPLY(multiply_floats_avx2, double, Floats)
#endif

static Multiply multiply_for(DType dt)
{
	if (!dtype_float(dt))
		return multiply_ints;
#if defined(__x86_64__)
	if (__builtin_cpu_supports("avx2"))
		return multiply_floats_avx2;
#endif
	return multiply_floats;
}

/* ---- packing: panels of `width` lanes, k by k, padded with zeros */

#define PACK(T, W, GET) { \
		W *o = to; \
		const T *x = (const T *)b->from; \
		const int lanes = b->lanes, width = b->width, n = b->n; \
		for (int p = 0; p < lanes; p += width) \
			for (int i = 0; i < n; i++) \
				for (int j = p; j < p + width; j++) \
					*o++ = j < lanes ? (W)GET(x[b->lane[j] + b->k[i]]) : 0; \
		return; }

static void pack_floats(DType dt, void *to, const PackedBlock *b)
{
	switch (dt) {
	case DT_F32: PACK(float, double, )
	case DT_F64: PACK(double, double, )
	case DT_F16: PACK(uint16_t, double, f16_value)
	default: PACK(uint16_t, double, bf16_value)
	}
}

static void pack_ints(DType dt, void *to, const PackedBlock *b)
{
	switch (dt) {
	case DT_I8: PACK(int8_t, uint64_t, )
	case DT_U8: PACK(uint8_t, uint64_t, )
	case DT_I16: PACK(int16_t, uint64_t, )
	case DT_U16: PACK(uint16_t, uint64_t, )
	case DT_I32: PACK(int32_t, uint64_t, )
	case DT_U32: PACK(uint32_t, uint64_t, )
	default: PACK(uint64_t, uint64_t, )
	}
}

/* ---- roles and places */

enum { BY_A, BY_B, BY_OUT };

static void role_add(RoleAxes *r, RoleAxis a)
{
	r->axis[r->rank++] = a;
	r->count *= a.n;
}

/* Offsets into operand `which` at positions pos … pos+n-1 of the role. */
static void places(const RoleAxes *r, int which, int64_t pos, int64_t n, int64_t *to)
{
	int64_t at[MAX_CONTRACT], off = 0;

	for (int i = r->rank - 1; i >= 0; i--) {
		at[i] = pos % r->axis[i].n;
		pos /= r->axis[i].n;
		off += at[i] * r->axis[i].move[which];
	}
	for (int64_t k = 0; k < n; k++) {
		to[k] = off;
		for (int i = r->rank - 1; i >= 0; i--) {
			off += r->axis[i].move[which];
			if (++at[i] < r->axis[i].n)
				break;
			off -= r->axis[i].n * r->axis[i].move[which];
			at[i] = 0;
		}
	}
}

static int64_t up_to(int64_t n, int64_t most)
{
	return n < most ? n : most;
}

/* ---- blocks */

typedef struct {
	DType dt;
	RoleAxes batch, m, n, k;
	Pack pack;
	Multiply multiply;
	Scratch *scratch;
} ContractJob;

static void sum_block(const ContractJob *j, const char *a, const char *b, int m, int n)
{
	Scratch *r = j->scratch;

	memset(r->sum, 0, BLOCK_M * BLOCK_N * sizeof *r->sum);
	for (int64_t k = 0; k < j->k.count; k += BLOCK_K) {
		int len = (int)up_to(j->k.count - k, BLOCK_K);
		places(&j->k, BY_A, k, len, r->ka);
		places(&j->k, BY_B, k, len, r->kb);
		j->pack(j->dt, r->a, &(PackedBlock){a, r->ma, r->ka, m, ROWS, len});
		j->pack(j->dt, r->b, &(PackedBlock){b, r->nb, r->kb, n, COLS, len});
		for (int y = 0; y < n; y += COLS)
			for (int x = 0; x < m; x += ROWS)
				j->multiply(len, r->a + x * len, r->b + y * len,
					r->sum + x * BLOCK_N + y);
	}
}

static void store_block(const ContractJob *j, char *out, int m, int n)
{
	const Scratch *r = j->scratch;
	const DType from = dtype_float(j->dt) ? DT_F64 : DT_U64;
	const int size = dtype_size(j->dt);
	char row[BLOCK_N * 8];

	for (int x = 0; x < m; x++) {
		interp_cast(j->dt, row, from, r->sum + x * BLOCK_N, n);
		for (int y = 0; y < n; y++)
			memcpy(out + (r->mo[x] + r->no[y]) * size, row + y * size, size);
	}
}

static void one_batch(const ContractJob *j, const char *a, const char *b, char *out)
{
	Scratch *r = j->scratch;

	for (int64_t y = 0; y < j->n.count; y += BLOCK_N) {
		int n = (int)up_to(j->n.count - y, BLOCK_N);
		places(&j->n, BY_B, y, n, r->nb);
		places(&j->n, BY_OUT, y, n, r->no);
		for (int64_t x = 0; x < j->m.count; x += BLOCK_M) {
			int m = (int)up_to(j->m.count - x, BLOCK_M);
			places(&j->m, BY_A, x, m, r->ma);
			places(&j->m, BY_OUT, x, m, r->mo);
			sum_block(j, a, b, m, n);
			store_block(j, out, m, n);
		}
	}
}

static void swap_role(RoleAxes *r)
{
	for (int i = 0; i < r->rank; i++) {
		int64_t t = r->axis[i].move[BY_A];
		r->axis[i].move[BY_A] = r->axis[i].move[BY_B];
		r->axis[i].move[BY_B] = t;
	}
}

/* Exchanges a and b. */
static void swap_operands(ContractJob *j)
{
	RoleAxes m = j->m;

	j->m = j->n;
	j->n = m;
	swap_role(&j->batch);
	swap_role(&j->m);
	swap_role(&j->n);
	swap_role(&j->k);
}

static Scratch *scratch_new(void)
{
	Scratch *r = xmalloc(sizeof *r);

	r->a = array_raw(DT_U64, 1, (int64_t[]){BLOCK_M * BLOCK_K}).data;
	r->b = array_raw(DT_U64, 1, (int64_t[]){BLOCK_N * BLOCK_K}).data;
	r->sum = array_raw(DT_U64, 1, (int64_t[]){BLOCK_M * BLOCK_N}).data;
	return r;
}

static void scratch_free(Scratch *r)
{
	free(r->a);
	free(r->b);
	free(r->sum);
	free(r);
}

void interp_contract(DType dt, int rank, const ContractAxis *axis, const void *a, const void *b,
	void *out)
{
	ContractJob j = {.dt = dt, .batch.count = 1, .m.count = 1, .n.count = 1, .k.count = 1,
		.pack = dtype_float(dt) ? pack_floats : pack_ints, .multiply = multiply_for(dt)};
	const int size = dtype_size(dt);
	double work = 1;

	for (int i = 0; i < rank; i++)
		work *= (double)axis[i].n;
	interp_bound(work, "a sum of products");
	for (int i = 0; i < rank; i++) {
		const ContractAxis *x = &axis[i];
		RoleAxis t = {x->n, {x->a, x->b, x->out}};
		role_add(x->sum ? &j.k : x->a && x->b ? &j.batch : x->a ? &j.m : &j.n, t);
	}
	if (j.m.count > j.n.count) {            /* a register tile has more columns than rows */
		const void *t = a;
		a = b;
		b = t;
		swap_operands(&j);
	}
	j.scratch = scratch_new();
	for (int64_t i = 0; i < j.batch.count; i++) {
		int64_t at[3];
		for (int k = BY_A; k <= BY_OUT; k++)
			places(&j.batch, k, i, 1, &at[k]);
		one_batch(&j, (const char *)a + at[BY_A] * size, (const char *)b + at[BY_B] * size,
			(char *)out + at[BY_OUT] * size);
	}
	scratch_free(j.scratch);
}
