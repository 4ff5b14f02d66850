/* Dropout: the identity outside training; in training x times a random mask, divided by 1 - ratio.
 *
 *     seed given, sizes known   →   the draws of the standard's reference, as data: MT19937
 *                                   (Matsumoto and Nishimura, 1998), two words a draw, 53 bits
 *     else                      →   THREEFRY of the seed, or of the node's name, and the place */
#include "onnx/onnx.h"

enum { MT_WORDS = 624, MT_AHEAD = 397, MOST_DRAWS = 1 << 20 };

typedef struct { uint32_t at[MT_WORDS]; int next; } Twister;

static void twister_seed(Twister *t, uint32_t seed)
{
	t->at[0] = seed;
	for (uint32_t i = 1; i < MT_WORDS; i++)
		t->at[i] = 1812433253u * (t->at[i - 1] ^ t->at[i - 1] >> 30) + i;
	t->next = MT_WORDS;
}

static void twister_next(Twister *t)
{
	for (int i = 0; i < MT_WORDS; i++) {
		uint32_t y = (t->at[i] & 0x80000000u) | (t->at[(i + 1) % MT_WORDS] & 0x7fffffffu);
		t->at[i] = t->at[(i + MT_AHEAD) % MT_WORDS] ^ y >> 1 ^ (y & 1 ? 0x9908b0dfu : 0);
	}
	t->next = 0;
}

static uint32_t twister_word(Twister *t)
{
	if (t->next == MT_WORDS)
		twister_next(t);
	uint32_t y = t->at[t->next++];
	y ^= y >> 11;
	y ^= y << 7 & 0x9d2c5680u;
	y ^= y << 15 & 0xefc60000u;
	return y ^ y >> 18;
}

/* [0, 1) in steps of 2^-53 */
static double twister_unit(Twister *t)
{
	uint32_t a = twister_word(t) >> 5, b = twister_word(t) >> 6;
	return (a * 67108864.0 + b) / 9007199254740992.0;
}

static UOp *draws_as_data(const Shape *s, int64_t n, uint32_t seed)
{
	Twister t;
	double *v = arena_alloc((n + 1) * sizeof *v);
	Array a = {.dtype = DT_F64, .rank = s->rank, .data = v, .bytes = n * sizeof *v};
	for (int i = 0; i < s->rank; i++)
		a.dim[i] = shape_dim(s, i);
	twister_seed(&t, seed);
	for (int64_t i = 0; i < n; i++)
		v[i] = twister_unit(&t);
	return array_tensor(&a);
}

static UOp *draws(OnnxCall *c, const Shape *s)
{
	const char *name = onnx_node_name(c);
	uint32_t by_name = hash_bytes(name, strlen(name), 0),
		 seed = onnx_attr_int(c, "seed", by_name);
	Value shape = v_shape(s), key = v_int(seed);
	int64_t n;
	if (onnx_attr_has(c, "seed") && shape_static(s, &n) && n <= MOST_DRAWS)
		return draws_as_data(s, n, seed);
	return t_cast(onnx_lib("rand", 1, &shape, 1, (const char *[]){"key"}, &key), DT_F64);
}

static UOp *scalar(OnnxCall *c, int k)
{
	UOp *u = onnx_in(c, k);
	if (shape_count(u->shape) != ix_const(1))
		onnx_fail(c, MALFORMED, "input %d is not one number", k);
	return t_reshape(u, shape_scalar());
}

void onnx_Dropout(OnnxCall *c)
{
	UOp *x = onnx_in(c, 0), *kept = t_full(x->shape, const_int(DT_BOOL, 1)), *y = x;
	int version = onnx_version(c);
	Array known;
	bool never = version < 12 || !onnx_has(c, 2);
	if (!never && onnx_try_known(c, 2, &known))
		never = !onnx_known_int(c, 2);
	if (!never) {
		DType wide = dtype_acc(x->dtype);
		UOp *ratio = onnx_has(c, 1) ? t_cast(scalar(c, 1), DT_F64) : t_num(DT_F64, 0.5);
		UOp *training = t_cast(scalar(c, 2), DT_BOOL);
		UOp *scale = t_cast(t_recip(t_sub(t_num(DT_F64, 1), ratio)), wide);
		kept = t_or(t_not(training), t_not(t_lt(draws(c, x->shape), ratio)));
		y = t_mul(t_cast(x, wide), t_where(kept, scale, t_num(wide, 0)));
		y = t_where(training, t_cast(y, x->dtype), x);
	}
	onnx_set(c, 0, y);
	if (onnx_wants(c, 1))
		onnx_set(c, 1, t_cast(kept, version < 10 ? x->dtype : DT_BOOL));
}
