/* Loops of kind "vector" as vector types of the compiler, GNU C's as gcc and clang have it:
 *
 *     RANGE r4 16 vector                          acc0_1 = mulacc_f32x16(splat_f32x16(v0),
 *       STORE acc[16 + r4] = acc + v0 * b[…+r4]       load_f32x16(&b[r2 * 64 + 16]), acc0_1);
 *     ENDRANGE
 *
 * Neighbours in memory are loaded and stored at once, what is the same in all lanes is computed once,
 * and a register whose every place is a lane of some vector is variables instead of an array. A loop
 * whose body does not allow it (its stores do not move with the lane) stays a loop. */
#include "cstyle_vector.h"
#include "ix.h"
#include <stdlib.h>

enum { MOST_LANES = 64, MOST_VARIABLES = 256 };

bool is_vector_range(const UOp *u)
{
	int64_t n;
	return u->op == OP_RANGE && val_is_str(u->arg->a[1], "vector") && ix_is_const(u->src[0], &n) &&
		n >= 2 && n <= MOST_LANES && !(n & (n - 1));
}

static int lanes_of(const UOp *range)
{
	int64_t n = 0;
	ix_is_const(range->src[0], &n);
	return (int)n;
}

bool lane_place(UOp *e, UOp *lane, int64_t *stride, int64_t *k)
{
	Sum s;
	sum_of(&s, e);
	*k = s.k;
	*stride = s.n;
	if (s.n == 1 && s.t[0].c == 1)
		return lane ? s.t[0].m == lane : is_vector_range(s.t[0].m);
	return s.n == 0;
}

/* ---- registers */

const VReg *reg_of(const Printer *p, const UOp *storage)
{
	const VReg *r = p->vectors ? map_get(&p->vectors->regs, PKEY(storage)) : NULL;
	return r && !r->array ? r : NULL;
}

static int64_t reg_size(const UOp *reg)
{
	return reg->arg->a[1]->kind == VAL_INT ? reg->arg->a[1]->i : 0;
}

static VReg *reg_planned(Printer *p, UOp *reg)
{
	VReg *r = map_get(&p->vectors->regs, PKEY(reg));
	if (!r) {
		r = arena_alloc(sizeof *r);
		*r = (VReg){.lanes = 1, .array = reg_size(reg) < 2};
		map_put(&p->vectors->regs, PKEY(reg), r);
	}
	return r;
}

/* As wide as its widest loop. */
static void reg_widen(Printer *p, UOp *index)
{
	VReg *r = reg_planned(p, index->src[0]);
	int64_t stride, k;
	if (index->nsrc != 2 || !lane_place(index->src[1], NULL, &stride, &k)) {
		r->array = true;
	} else if (stride) {
		Sum s;
		sum_of(&s, index->src[1]);
		int n = lanes_of(s.t[0].m);
		r->array |= k % n || k < 0 || k + n > reg_size(index->src[0]);
		r->lanes = n > r->lanes ? n : r->lanes;
	} else {
		r->array |= k < 0 || k >= reg_size(index->src[0]);
	}
}

/* Tables by node id stay from kernel to kernel; regions and turns are numbered on. */
static struct Vectors kept;

void vectors_begin(Printer *p, const Nodes *all)
{
	p->vectors = arena_alloc(sizeof *p->vectors);
	*p->vectors = kept;
	for (size_t i = 0; i < all->n; i++)
		if (all->at[i]->op == OP_INDEX && all->at[i]->src[0]->op == OP_DEFINE_REG)
			reg_widen(p, all->at[i]);
	for (size_t i = 0; i < all->n; i++) {
		VReg *r = all->at[i]->op == OP_DEFINE_REG ? reg_planned(p, all->at[i]) : NULL;
		if (r && reg_size(all->at[i]) > MOST_VARIABLES * (int64_t)r->lanes)
			r->array = true;
	}
}

void vectors_end(Printer *p)
{
	struct Vectors *v = p->vectors;
	map_free(&v->regs);
	map_free(&v->lets);
	kept = (struct Vectors){.text = v->text, .stamp = v->stamp, .varies = v->varies, .seen = v->seen,
		.region = v->region, .at_lane = v->at_lane, .at_stamp = v->at_stamp, .at_turn = v->at_turn,
		.limit = v->limit};
}

bool vector_reg(Printer *p, UOp *reg, const char *name)
{
	VReg *r = (VReg *)reg_of(p, reg);
	if (!r)
		return false;
	Buf names = {0};
	r->name = name;
	for (int64_t i = 0; i * r->lanes < reg_size(reg); i++)
		buf_printf(&names, "%s%s_%lld", i ? ", " : "", name, (long long)i);
	print_line(p, "%s %s;",
		r->lanes == 1 ? p->d->type[reg->dtype] : vector_type(p, reg->dtype, r->lanes),
		buf_str(&names));
	buf_free(&names);
	return true;
}

const char *reg_variable(const VReg *r, int64_t k, int *part)
{
	*part = (int)(k % r->lanes);
	return arena_printf("%s_%lld", r->name, (long long)(k / r->lanes));
}

const char *vector_place(Printer *p, UOp *index)
{
	const VReg *r = reg_of(p, index->src[0]);
	int64_t stride, k;
	int part;
	if (!r)
		return NULL;
	CHECK(r->name && lane_place(index->src[1], NULL, &stride, &k));
	const char *name = reg_variable(r, k, &part);
	if (r->lanes == 1)
		return name;
	if (!stride)
		return arena_printf("%s[%d]", name, part);
	UOp *lane = ix_add(index->src[1], ix_const(part - k));
	return arena_printf("%s[%s]", name, expr_text(p, lane).s);
}

/* ---- statements */

static void print_let(Printer *p, UOp *u)
{
	struct Vectors *v = p->vectors;
	if (!varies(p, u->src[0])) {
		const char *value = expr_text(p, u->src[0]).s, *name = arena_printf("v%d", p->lets++);
		print_line(p, "const %s %s = %s;", p->d->type[u->dtype], name, value);
		map_put(&p->names, PKEY(u), (void *)name);
		return;
	}
	VText *t = arena_alloc(sizeof *t);
	*t = vector_text(p, u->src[0]);
	const char *type = u->dtype == DT_BOOL ? mask_type(p, t->mask, v->lanes) :
											 vector_type(p, u->dtype, v->lanes);
	const char *name = arena_printf("v%d", p->lets++);
	print_line(p, "const %s %s = %s;", type, name, t->s);
	*t = (VText){name, PREC_ATOM, 0, t->mask};
	map_put(&v->lets, PKEY(u), t);
}

static bool is_place(const UOp *u, const UOp *store)
{
	return u->op == OP_LOAD && u->src[0] == store->src[0] &&
		(u->nsrc == 1 || (store->nsrc > 2 && u->src[1] == store->src[2]));
}

/* The value to store; a sum of products rounds once where the loop's own would. */
static const char *stored_value(Printer *p, UOp *store)
{
	UOp *value = store->src[1];
	DType d = value->dtype;
	if (d == DT_BOOL)
		return arena_printf("(%s)(%s) & 1", vector_type(p, d, p->vectors->lanes),
			mask_arg(p, value, 1));
	if (value->op == OP_ADD && (d == DT_F32 || d == DT_F64) && is_place(value->src[0], store) &&
		value->src[1]->op == OP_MUL && p->d->mulacc[d == DT_F64]) {
		UOp *term = value->src[1];
		const char *a = vector_arg(p, term->src[0]), *b = vector_arg(p, term->src[1]);
		return arena_printf("%s(%s, %s, %s)", vector_fn(p, "mulacc", d), a, b,
			vector_arg(p, value->src[0]));
	}
	return vector_arg(p, value);
}

/* ", 16, 17, 2, 3": n places, count of them from `first` on those of a second vector */
static const char *places(int n, int first, int count)
{
	Buf b = {0};
	for (int i = 0; i < n; i++)
		buf_printf(&b, ", %d", i >= first && i < first + count ? n + i - first : i);
	char *s = arena_strdup(buf_str(&b));
	buf_free(&b);
	return s;
}

/* ", 0, 1, 0, 1": n places, over and over those of a vector of `lanes` */
static const char *repeated(int n, int lanes)
{
	Buf b = {0};
	for (int i = 0; i < n; i++)
		buf_printf(&b, ", %d", i % lanes);
	char *s = arena_strdup(buf_str(&b));
	buf_free(&b);
	return s;
}

/* n lanes of a wider variable from place `part` on; the others stay */
static void store_part(Printer *p, const UOp *reg, const char *name, int part, const char *value)
{
	struct Vectors *v = p->vectors;
	const VReg *r = reg_of(p, reg);
	const char *narrow =
		vector_variable(p, vector_type(p, reg->dtype, v->lanes), value);
	const char *wide = arena_printf("__builtin_shufflevector(%s, %s%s)", narrow, narrow,
		repeated(r->lanes, v->lanes));
	wide = vector_variable(p, vector_type(p, reg->dtype, r->lanes), wide);
	print_line(p, "%s = __builtin_shufflevector(%s, %s%s);", name, name, wide,
		places(r->lanes, part, v->lanes));
}

static void store_reg(Printer *p, UOp *store, const char *value)
{
	struct Vectors *v = p->vectors;
	UOp *index = store->src[0];
	const VReg *r = reg_of(p, index->src[0]);
	int64_t stride, k;
	int part;
	lane_place(index->src[1], v->lane, &stride, &k);
	const char *name = reg_variable(r, k, &part);
	if (v->gate_mask) {
		DType d = lane_dtype(index->dtype);
		UOp *old = NODE(OP_LOAD, index->dtype, VNIL, index);
		const char *before = d == index->dtype || index->dtype != DT_BOOL ? vector_arg(p, old) :
			arena_printf("(%s)(%s) & 1", vector_type(p, DT_BOOL, v->lanes), mask_arg(p, old, 1));
		value = arena_printf("%s(%s, %s, %s)", vector_fn(p, "where", d),
			mask_arg(p, v->gate, dtype_size(d)), value, before);
	}
	if (r->lanes == v->lanes)
		print_line(p, "%s = %s;", name, value);
	else
		store_part(p, index->src[0], name, part, value);
}

/* each lane to a place of its own, in order */
static void store_scattered(Printer *p, UOp *store, const char *value)
{
	struct Vectors *v = p->vectors;
	UOp *index = store->src[0];
	value = vector_variable(p, vector_type(p, index->dtype, v->lanes), value);
	for (int k = 0; k < v->lanes; k++) {
		UOp *one = NODE(OP_INDEX, index->dtype, VNIL, index->src[0], at_lane(p, index->src[1], k));
		const char *gate = v->gate_mask ? arena_printf("if (%s[%d]) ", v->gate_mask, k) : "";
		expr_text(p, one);
		print_line(p, "%s%s = %s[%d];", gate, expr_place(p, one), value, k);
	}
}

/* the address of the first lane's place */
const char *first_place(Printer *p, UOp *index)
{
	UOp *one = NODE(OP_INDEX, index->dtype, VNIL, index->src[0], at_lane(p, index->src[1], 0));
	expr_text(p, one);
	return expr_place(p, one);
}

static void store_memory(Printer *p, UOp *store, const char *value)
{
	struct Vectors *v = p->vectors;
	UOp *index = store->src[0];
	if (lane_step(p, index->src[1]) != 1) {
		store_scattered(p, store, value);
		return;
	}
	const char *place = first_place(p, index);
	bool past = val_is_str(store->arg, "nt") && !v->gate_mask;
	const char *fn = vector_fn(p, v->gate_mask ? "store_if" : past ? "stream" : "store",
		lane_dtype(index->dtype));
	v->streams |= past;
	if (v->gate_mask)
		print_line(p, "%s(&%s, %s, %s);", fn, place, value,
			mask_arg(p, v->gate, dtype_size(index->dtype)));
	else
		print_line(p, "%s(&%s, %s);", fn, place, value);
}

static void print_store(Printer *p, UOp *u)
{
	struct Vectors *v = p->vectors;
	UOp *gate = u->nsrc > 2 ? u->src[2] : NULL;
	bool each = gate && varies(p, gate);
	varies(p, u->src[0]);
	varies(p, u->src[1]);
	if (each) {
		v->gate_mask = vector_cut(p, gate).s;
		v->gate = gate;
	} else if (gate) {
		p->gate = gate;
		print_line(p, "if (%s) {", expr_text(p, gate).s);
		p->indent++;
	}
	const char *value = stored_value(p, u);
	if (reg_of(p, u->src[0]->src[0]))
		store_reg(p, u, value);
	else
		store_memory(p, u, value);
	if (p->gate) {
		p->indent--;
		print_line(p, "}");
	}
	p->gate = v->gate = NULL;
	v->gate_mask = NULL;
}

/* ---- regions */

/* How many statements the region has whose RANGE is statement i, with both ends; 0 when it must be
 * a loop. */
static uint32_t region_length(Printer *p, uint32_t i)
{
	UOp *range = p->kernel->src[i];
	uint32_t k = i + 1;
	for (; k < p->kernel->nsrc && p->kernel->src[k]->op != OP_ENDRANGE; k++) {
		UOp *u = p->kernel->src[k];
		if (u->op != OP_LET && (u->op != OP_STORE || u->src[0]->nsrc != 2))
			return 0;
		if (u->op == OP_STORE && !varies(p, u->src[0]->src[1]))
			return 0;
	}
	return k < p->kernel->nsrc && p->kernel->src[k]->src[0] == range ? k - i + 1 : 0;
}

uint32_t vector_region(Printer *p, uint32_t i)
{
	struct Vectors *v = p->vectors;
	UOp *range = p->kernel->src[i];
	if (!v || !is_vector_range(range))
		return 0;
	v->lane = range;
	v->lanes = lanes_of(range);
	v->region++;
	uint32_t n = region_length(p, i);
	v->region++;
	for (uint32_t k = 1; k + 1 < n; k++) {
		UOp *u = p->kernel->src[i + k];
		p->statement++;
		if (u->op == OP_LET)
			print_let(p, u);
		else
			print_store(p, u);
	}
	v->lane = NULL;
	return n;
}

void vectors_fence(Printer *p)
{
	if (p->vectors && p->vectors->streams)
		print_line(p, "%s();", vector_fence(p));
}
