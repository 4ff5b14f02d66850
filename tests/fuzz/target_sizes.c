/* Sizes, expressions over size variables: what is read has values within its bounds, and prints as
 * what has the same values (where numbers are beyond int64 that is another node, or refused). */
#include "index/index.h"
#include "seam.h"

static bool value_at(UOp *u, int64_t n, int64_t m, int64_t *v)
{
	VarEnv env = {.n = 2, .name = {"n", "m"}, .value = {n, m}};
	return ix_eval(u, &env, v);
}

static void check_values(UOp *u, UOp *printed, int64_t n, int64_t m)
{
	int64_t lo, hi, v, w;
	ix_bounds(u, &lo, &hi);
	if (!value_at(u, n, m, &v))
		return;
	CHECK(lo <= v && v <= hi);
	if (printed && value_at(printed, n, m, &w))
		CHECK(v == w);
}

void fuzz_one(const uint8_t *p, size_t n)
{
	const char *err;
	vars_declare(VMAP(val_str("n"), VARR(val_int(1), val_int(8)), val_str("m"),
		VARR(val_int(2), val_int(1000))));
	UOp *u = ix_parse((const char *)p, n, &err);
	if (!u)
		return;
	const Val *text = size_to_val(u);
	UOp *printed = text->kind == VAL_STR ? ix_parse(text->s, text->n, &err) : u;
	for (int64_t i = 1; i <= 8; i++)
		check_values(u, printed, i, 2 + i * 37 % 999);
	check_values(u, printed, 8, 1000);
}
