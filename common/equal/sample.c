/* Draws size variables and inputs. What an input gets depends on the seed, its name and the
 * element's number alone: both documents get the same. */
#include <math.h>
#include "shape/shape.h"
#include "equal/parts.h"

/* ---- inputs */

/* Mostly indices near 0, some negative ones, some of any size. */
static int64_t draw_int(uint64_t r)
{
	int64_t v = (int64_t)(r >> 16);

	switch (r % 16) {
	case 0: return -1 - v % 4;
	case 1: return v % 256;
	case 2: return (int64_t)(r * UINT64_C(0x9e3779b97f4a7c15));
	default: return v % 5;
	}
}

static int64_t edge_int(DType dt, uint64_t r)
{
	uint64_t most = dtype_max(dt);

	switch (r >> 8 & 15) {
	case 0: return dtype_min(dt);
	case 1: return (int64_t)most;
	case 2: return (int64_t)(most - 1);
	case 3: return (int64_t)(most / 2 + 1);
	default: return draw_int(r >> 12);
	}
}

/* Quarters up to 4, whose sums and products are exact in any order, and among them values at the
 * edges. */
static double edge_float(DType dt, uint64_t r, const Draw *d, bool greatest)
{
	static const struct { double tiny, least, most; } of[DT_COUNT] = {
		[DT_F16] = {0x1p-24, 0x1p-14, 65504},
		[DT_BF16] = {0x1p-133, 0x1p-126, 0x1.fep127},
		[DT_F32] = {0x1p-149, 0x1p-126, 0x1.fffffep127},
		[DT_F64] = {0x1p-1074, 0x1p-1022, 0x1.fffffffffffffp1023},
	};

	if (greatest)
		return r & 1 ? of[dt].most : -of[dt].most;
	if (d->rough)
		return ((double)(r >> 11) * 0x1p-50 - 4) * (r % 16 ? 1 : 0x1p15);
	const uint64_t edge = d->greatest ? 63 : d->tiny ? r % 64 : 2 + r % 62;
	switch (d->calm && edge >= 4 && edge <= 6 ? 63 : edge) {
	case 0: return r & 64 ? of[dt].tiny : -of[dt].tiny;
	case 1: return r & 64 ? of[dt].least : -of[dt].least;
	case 2: return 0.0;
	case 3: return -0.0;
	case 4: return INFINITY;
	case 5: return -INFINITY;
	case 6: return NAN;
	case 7: return r & 64 ? 0.5 : 1.5;
	case 8: return r & 64 ? -0.5 : 2.5;
	default: return (double)((int64_t)(r >> 20 & 31) - 16) / 4;
	}
}

static void draw_one(const Draw *d, DType dt, uint64_t r, bool greatest, void *to)
{
	double v;
	int64_t i;

	if (dt == DT_BOOL) {
		*(uint8_t *)to = r >> 20 & 1;
	} else if (!dtype_float(dt)) {
		i = d->kind == DRAW_EDGES ? edge_int(dt, r) : draw_int(r);
		interp_cast(dt, to, DT_I64, &i, 1);
	} else if (d->kind == DRAW_EDGES) {
		v = edge_float(dt, r, d, greatest);
		interp_cast(dt, to, DT_F64, &v, 1);
	} else {
		*(uint64_t *)to = d->kind == DRAW_DEGREES ? degree_word(1) :
			d->kind == DRAW_FIELD         ? field_random(r) :
							field_integer((int64_t)(r % 7) - 3);
	}
}

/* A size that the document binds: one of the first few that its bounds allow. False: it is none. */
static bool draw_size(const Draw *d, const char *name, uint64_t r, int64_t *size)
{
	const char *err;
	int64_t lo, hi;

	for (size_t i = 0; d->binds && i < d->binds->n; i++) {
		const UOp *bind = d->binds->at[i];
		UOp *min = size_from_val(bind->arg->a[1], &err),
		    *max = size_from_val(bind->arg->a[2], &err);
		if (strcmp(buffer_name(bind->src[0]), name) || !min || !max ||
			!ix_eval(min, d->env, &lo) || !ix_eval(max, d->env, &hi) || lo > hi)
			continue;
		hi = hi - lo > 7 ? lo + 7 : hi;
		*size = lo + (int64_t)(r % (uint64_t)(hi - lo + 1));
		return true;
	}
	return false;
}

void sample_input(const Draw *d, const UOp *buffer, Array *a)
{
	const char *name = buffer_name(buffer);
	uint64_t own = equal_mix(d->seed, hash_bytes(name, strlen(name), 0));
	bool has = d->greatest && !strcmp(d->greatest, name);
	int64_t n = array_count(a), greatest = has && n ? (int64_t)(equal_mix(own, 1) % n) : -1;
	const int size = element_size(a->dtype);

	if (a->dtype == DT_I64 && !a->rank && draw_size(d, name, own, a->data))
		return;
	for (int64_t i = 0; i < n; i++)
		draw_one(d, a->dtype, equal_mix(own, 2 + (uint64_t)i), i == greatest,
			(char *)a->data + i * size);
}
