/* 3×3 convolutions by Winograd's F(4×4, 3×3): 36 products for 16 results instead of 144.
 *
 *     y[n,o,h,w] = f(Σ x[n,c,h+i-p,w+j-p] * k[o,c,i,j])      the axes of each in any order
 *
 *     u = G k Gᵀ            once, if k is constant           [6,6,c,o]
 *     v = Bᵀ d B            d: the 6×6 piece of x around a tile of 4×4 results     [6,6,n,th,tw,c]
 *     m = Σc v*u            36 contractions                                        [6,6,n,th,tw,o]
 *     y = f(Aᵀ m A)         16 stores, those beyond the edge left out
 *
 * For large images v and m are stored by rows of tiles, [n,th,6,6,tw,c], so that slices (slices.c)
 * can take one at a time.
 *
 * Matrices: A. Lavin, S. Gray, Fast Algorithms for Convolutional Neural Networks, 2015. The error
 * is about ten times that of the plain sum (1e-5 of the greatest result), so --strict leaves it
 * out.
 *
 * u takes four times the memory of k, and each call reads it: it pays where enough products are
 * saved for each additional weight, which depends on the image's size alone. A convolution of
 * ResNet-50, alone, on two cores with vectors of 64 bytes:
 *
 *     56×56    784 products a weight    0.47 → 0.15 ms    0.4 MB more
 *     28×28    196                      0.46 → 0.14       1.8
 *     14×14     44                      0.46 → 0.18       7.1 (in the model 0.25) */
#include "target/target.h"
#include "document/document.h"
#include "layout/layout.h"
#include <stdlib.h>

enum { TILE = 4, LEAST_CHANNELS = 16 };

static const double bt[6][6] = {{4, 0, -5, 0, 1, 0}, {0, -4, -4, 1, 1, 0}, {0, 4, -4, -1, 1, 0},
	{0, -2, -1, 2, 1, 0}, {0, 2, -1, -2, 1, 0}, {0, 4, 0, -5, 0, 1}};
static const double gt[6][3] = {{1 / 4.0, 0, 0}, {-1 / 6.0, -1 / 6.0, -1 / 6.0},
	{-1 / 6.0, 1 / 6.0, -1 / 6.0}, {1 / 24.0, 1 / 12.0, 1 / 6.0},
	{1 / 24.0, -1 / 12.0, 1 / 6.0}, {0, 0, 1}};
static const double at[4][6] = {{1, 1, 1, 1, 1, 0}, {0, 1, -1, 2, -2, 0}, {0, 1, 1, 4, 4, 0},
	{0, 1, -1, 8, -8, 1}};

/* The ranges of a convolution that was found. */
typedef struct {
	Roles r;
	UOp *call;
	UOp *n, *o, *h, *w, *c, *i, *j;     /* n is NULL for a single image */
	int64_t high, wide, th, tw;         /* the size of the results, and the number of tiles */
	uint32_t ah, aw;                    /* the sources of x's INDEX that slide over h and w */
	int ph, pw;                         /* padding before the first row and column */
	bool by_rows;                       /* the transforms are stored by rows of tiles */
} Conv;
typedef VEC(UOp *) Calls;
typedef struct { Calls first, out; int count; } Winograd;

/* ---- finding one */

static bool has_role(const Conv *v, UOp *range, Role role)
{
	return range->op == OP_RANGE && contraction_role(&v->r.c, range) == role;
}

/* Is at = out + tap - pad, with tap a window of three iterations? */
static bool slides(const Conv *v, UOp *at, UOp **out, UOp **tap, int *pad)
{
	Sum s;
	sum_of(&s, at);
	if (s.n != 2 || s.t[0].c != 1 || s.t[1].c != 1 || s.k > 0 || s.k < -2)
		return false;
	bool first = has_role(v, s.t[0].m, ROLE_WINDOW);
	*tap = s.t[!first].m;
	*out = s.t[first].m;
	*pad = (int)-s.k;
	return has_role(v, *tap, ROLE_WINDOW) && has_role(v, *out, ROLE_ROW) &&
		range_size(*tap) == 3;
}

/* Is the kernel's reduction a plain sum of the two loads' products? */
static bool is_product(const Conv *v)
{
	const UOp *fold = v->r.c.fold, *u = fold->src[0], *x = v->r.c.x, *w = v->r.c.w;
	return val_is_str(fold->arg, "ADD") && u->op == OP_MUL && u->dtype == DT_F32 &&
		((u->src[0] == x && u->src[1] == w) || (u->src[0] == w && u->src[1] == x));
}

/* The axes of x: two that slide, the channels, perhaps the image. */
static bool find_image(Conv *v, const UOp *x)
{
	for (uint32_t a = 1; a < x->nsrc; a++) {
		UOp *at = x->src[a];
		if (has_role(v, at, ROLE_REDUCTION) && !v->c)
			v->c = at;
		else if (has_role(v, at, ROLE_ROW) && !v->n)
			v->n = at;
		else if (!v->ah && slides(v, at, &v->h, &v->i, &v->ph))
			v->ah = a;
		else if (v->ah && !v->aw && slides(v, at, &v->w, &v->j, &v->pw))
			v->aw = a;
		else if (at->op != OP_CONST)
			return false;
	}
	return v->c && v->aw && v->h != v->w && v->i != v->j;
}

/* Those of k: both taps, the channels, and the channels of y. */
static bool find_weights(Conv *v, const UOp *k)
{
	int found = 0;
	for (uint32_t a = 1; a < k->nsrc; a++) {
		UOp *at = k->src[a];
		bool known = at == v->c || at == v->i || at == v->j;
		if (!known && has_role(v, at, ROLE_COLUMN) && !v->o)
			v->o = at;
		else if (!known && at->op != OP_CONST)
			return false;
		found += known;
	}
	return v->o && found == 3;
}

static bool find_sources_of(Conv *v)
{
	return v->r.c.w->nsrc == 1 && v->r.c.fold->nsrc == 4 && is_product(v) &&
		find_image(v, v->r.c.x->src[0]) && find_weights(v, v->r.c.w->src[0]);
}

/* Where neither operand is constant, either may be the image. */
static bool find_sources(Conv *v)
{
	Conv turned = *v;
	turned.r.c.x = v->r.c.w;
	turned.r.c.w = v->r.c.x;
	if (find_sources_of(v))
		return true;
	*v = turned;
	return find_sources_of(v);
}

static bool plain_stores(const UOp *kernel)
{
	for (uint32_t i = 0; i < kernel->nsrc; i++)
		if (kernel->src[i]->nsrc != 2)
			return false;
	return true;
}

/* Are the output's ranges exactly those of the convolution, with enough channels to share the
 * transforms? */
static bool find_conv(Conv *v, UOp *call)
{
	*v = (Conv){.call = call};
	if (!roles_find(&v->r, call) || !find_sources(v))
		return false;
	uint64_t out = bit_of(v->o) | bit_of(v->h) | bit_of(v->w) | (v->n ? bit_of(v->n) : 0);
	v->high = range_size(v->h);
	v->wide = range_size(v->w);
	v->th = (v->high + TILE - 1) / TILE;
	v->tw = (v->wide + TILE - 1) / TILE;
	int64_t tiles = v->th * v->tw * (v->n ? range_size(v->n) : 1);
	v->by_rows = 36 * tiles * (range_size(v->c) + range_size(v->o)) * 4 >= sliced_bytes();
	const Facts *f = &v->r.facts;
	return v->high > 0 && v->wide > 0 && f->out == out && !f->serial && !f->in_place &&
		range_size(v->c) >= LEAST_CHANNELS && range_size(v->o) >= LEAST_CHANNELS &&
		plain_stores(f->kernel);
}

/* Products saved for each additional weight: a tile takes 36 in place of 9 for each result, and 36
 * weights replace 9. A symbolic number of images counts as its least value. */
static double spared(const Conv *v)
{
	int64_t images = 1, most;
	if (v->n)
		ix_bounds(v->n->src[0], &images, &most);
	return (double)images * (9.0 * v->high * v->wide - 36.0 * v->th * v->tw) / (36 - 9);
}

static bool is_worth(const Conv *v)
{
	double more = 4e-6 * (36 - 9) * range_size(v->c) * range_size(v->o), products = spared(v);
	const UOp *kernel = v->call->src[0];

	if (products >= target->machine.spared)
		explain(kernel,
			"by Winograd's F(4x4,3x3), which changes the arithmetic: %.0f products "
			"fewer for each weight more, %.1f MB",
			products, more);
	else
		explain(kernel,
			"not by Winograd: %.0f products fewer for each weight more, %.1f MB; "
			"%d are worth it",
			products, more, target->machine.spared);
	return products >= target->machine.spared;
}

/* ---- sums with few terms */

static UOp *times(double c, UOp *x)
{
	return c == 1 ? x : NODE(OP_MUL, DT_F32, VNIL, x, const_num(DT_F32, c));
}

/* Σ c[i]*x[i·step], without the terms that are 0 */
static UOp *combine(const double *c, int n, UOp *const *x, int step)
{
	UOp *sum = NULL;
	for (int i = 0; i < n; i++)
		if (c[i])
			sum = sum ? NODE(OP_ADD, DT_F32, VNIL, sum, times(c[i], x[i * step])) :
				times(c[i], x[i * step]);
	return sum;
}

/* m x mᵀ for m [rows,n] and x [n,n] */
static void both_sides(const double *m, int rows, int n, UOp *const *x, UOp **out)
{
	UOp *half[36];
	for (int a = 0; a < rows; a++)
		for (int j = 0; j < n; j++)
			half[a * n + j] = combine(m + a * n, n, x + j, n);
	for (int a = 0; a < rows; a++)
		for (int b = 0; b < rows; b++)
			out[a * rows + b] = combine(m + b * n, n, half + a * n, 1);
}

/* ---- buffers, places and kernels */

static UOp *new_buffer(Winograd *w, const char *role, const UOp *from, int n, UOp *const *dim)
{
	const char *name = arena_printf("%.200s.wino%d", buffer_name(from), w->count++);
	return buffer_of(name, role, DT_F32, shape_new(n, dim));
}

/* Six axes of a transform in the order in which they are stored. */
typedef struct { UOp *at[6]; } Six;

static Six six(const Conv *v, UOp *a, UOp *b, UOp *n, UOp *th, UOp *tw, UOp *ch)
{
	return v->by_rows ? (Six){{n, th, a, b, tw, ch}} : (Six){{a, b, n, th, tw, ch}};
}

static UOp *load_at_place(UOp *place) { return NODE(OP_LOAD, DT_F32, VNIL, place); }

static UOp *conv_kernel(
	const char *name, const Conv *v, bool transform, size_t n, UOp *const *stores)
{
	const char *text = arena_printf("%s_%.100s", name, kernel_name(v->r.facts.kernel));
	const Val *arg = VMAP(val_str("name"), val_str(text));
	if (transform)
		arg = val_set(arg, "winograd", val_bool(true));
	return node_like(v->r.facts.kernel, n, stores, arg);
}

/* ranges of n, th, tw and the channels, with axis numbers of their own */
typedef struct { UOp *n, *th, *tw, *ch; } TileAxes;

static TileAxes axes_for(const Conv *v, const UOp *channels)
{
	return (TileAxes){v->n ? ix_range(2, "loop", v->n->src[0]) : ix_const(0),
		ix_range(3, "loop", ix_const(v->th)), ix_range(4, "loop", ix_const(v->tw)),
		ix_range(WINOGRAD_CHANNELS, "loop", channels->src[0])};
}

/* a place in a transform, or the shape of one */
static UOp *place_at(const Conv *v, const UOp *buffer, int slot, UOp *a, UOp *b, const TileAxes *l)
{
	UOp *src[7] = {param_new(slot, buffer)};
	Six s = six(v, a, b, l->n, l->th, l->tw, l->ch);
	memcpy(src + 1, s.at, sizeof s.at);
	return node_new(OP_INDEX, DT_F32, 7, src, VNIL);
}

static UOp *transform_buffer(Winograd *w, const Conv *v, const UOp *from, const UOp *channels)
{
	UOp *images = v->n ? v->n->src[0] : ix_const(1);
	UOp *six_of = ix_const(6);
	Six s = six(v, six_of, six_of, images, ix_const(v->th), ix_const(v->tw), channels->src[0]);
	return new_buffer(w, "temp", from, 6, s.at);
}

/* ---- the four kernels */

/* u[a,b,c,o] = (G k Gᵀ)[a,b] */
static UOp *weights_call(Winograd *w, const Conv *v)
{
	UOp *dim[] = {ix_const(6), ix_const(6), v->c->src[0], v->o->src[0]}, *k[9], *u[36],
	    *store[36];
	UOp *place = v->r.c.w->src[0], *from = place_buffer(v->call, place),
	    *b = new_buffer(w, is_constant(from) ? "prepared" : "temp", from, 4, dim);
	UOp *c = ix_range(2, "loop", v->c->src[0]), *o = ix_range(3, "loop", v->o->src[0]);
	UOp *before[] = {place->src[0], v->o, v->c, v->i, v->j};
	for (int t = 0; t < 9; t++) {
		UOp *after[] = {param_moved(place->src[0], 1), o, c, ix_const(t / 3),
			ix_const(t % 3)};
		k[t] = load_at_place(substitute(place, 5, before, after));
	}
	both_sides(*gt, 6, 3, k, u);
	for (int t = 0; t < 36; t++)
		store[t] = NODE(OP_STORE, DT_NONE, VNIL,
			NODE(OP_INDEX, DT_F32, VNIL, param_new(0, b), ix_const(t / 6),
				ix_const(t % 6), c, o),
			u[t]);
	return NODE(OP_CALL, DT_NONE, VNIL, conv_kernel("weights", v, false, 36, store), b, from);
}

/* element s of the piece of x around a tile */
static UOp *piece_load(const Conv *v, const TileAxes *l, UOp *param, const UOp *from, int s)
{
	const UOp *whole = v->r.c.x->src[0];
	UOp *src[MAX_RANGES + 1];
	UOp *y = ix_add(ix_mul(l->th, ix_const(TILE)), ix_const(s / 6 - v->ph));
	UOp *x = ix_add(ix_mul(l->tw, ix_const(TILE)), ix_const(s % 6 - v->pw));
	for (uint32_t a = 1; a < whole->nsrc; a++)
		src[a] = a == v->ah ? y : a == v->aw ? x : whole->src[a] == v->c ? l->ch :
			whole->src[a] == v->n ? l->n : whole->src[a];
	src[0] = param;
	UOp *place = node_new(OP_INDEX, DT_F32, whole->nsrc, src, VNIL);
	UOp *gate = ix_and(ix_inside(y, from->shape->dim[v->ah - 1]),
		ix_inside(x, from->shape->dim[v->aw - 1]));
	int64_t always;
	if (const_is_int(gate, &always) && always)
		return load_at_place(place);
	return NODE(OP_LOAD, DT_F32, VNIL, place, gate);
}

/* v[a,b,n,th,tw,c] = (Bᵀ d B)[a,b] */
static UOp *input_call(Winograd *w, const Conv *v)
{
	UOp *d[36], *t[36], *store[36], *from = place_buffer(v->call, v->r.c.x->src[0]);
	UOp *b = transform_buffer(w, v, from, v->c);
	TileAxes l = axes_for(v, v->c);
	UOp *p = param_moved(v->r.c.x->src[0]->src[0], 1);
	for (int s = 0; s < 36; s++)
		d[s] = piece_load(v, &l, p, from, s);
	both_sides(*bt, 6, 6, d, t);
	for (int s = 0; s < 36; s++)
		store[s] = NODE(OP_STORE, DT_NONE, VNIL,
			place_at(v, b, 0, ix_const(s / 6), ix_const(s % 6), &l), t[s]);
	return NODE(OP_CALL, DT_NONE, VNIL, conv_kernel("input", v, true, 36, store), b, from);
}

/* m[a,b,n,th,tw,o] = Σc v*u */
static UOp *products_call(Winograd *w, const Conv *v, UOp *pieces, UOp *weights)
{
	UOp *m = transform_buffer(w, v, pieces, v->o);
	TileAxes l = axes_for(v, v->o);
	UOp *a = ix_range(0, "loop", ix_const(6)), *b = ix_range(1, "loop", ix_const(6));
	UOp *c = ix_range(6, "reduce", v->c->src[0]);
	UOp *x = load_at_place(place_at(v, pieces, 1, a, b, &(TileAxes){l.n, l.th, l.tw, c}));
	UOp *u = load_at_place(NODE(OP_INDEX, DT_F32, VNIL, param_new(2, weights), a, b, c, l.ch));
	UOp *sum = NODE(OP_RREDUCE, DT_F32, val_str("ADD"), NODE(OP_MUL, DT_F32, VNIL, x, u), c);
	UOp *store = NODE(OP_STORE, DT_NONE, VNIL, place_at(v, m, 0, a, b, &l), sum);
	UOp *kernel = conv_kernel("products", v, false, 1, &store);
	return NODE(OP_CALL, DT_NONE, VNIL, kernel, m, pieces, weights);
}

/* Loads of the epilogue beyond the edge are gated off. */
typedef struct { UOp *th, *tw, *gate; int slot; } Edge;

static bool holds(UOp *u, const UOp *a, const UOp *b)
{
	Nodes all = walk(u);
	for (size_t i = 0; i < all.n; i++)
		if (all.at[i] == a || all.at[i] == b)
			return true;
	return false;
}

static UOp *guard(UOp *u, void *ctx)
{
	const Edge *e = ctx;
	if (u->op != OP_LOAD || u->src[0]->src[0]->op != OP_PARAM ||
		param_slot(u->src[0]->src[0]) == e->slot || !holds(u->src[0], e->th, e->tw))
		return u;
	UOp *gate = u->nsrc > 1 ? ix_and(u->src[1], e->gate) : e->gate;
	return NODE(OP_LOAD, u->dtype, VNIL, u->src[0], gate);
}

/* The store of the kernel at row p and column q of its tile. */
static UOp *result_store(
	const Conv *v, const UOp *store, const TileAxes *l, UOp *sum, int slot, int p, int q)
{
	UOp *y = ix_add(ix_mul(l->th, ix_const(TILE)), ix_const(p));
	UOp *x = ix_add(ix_mul(l->tw, ix_const(TILE)), ix_const(q));
	UOp *from[] = {v->r.c.fold, v->h, v->w, v->o, v->n}, *to[] = {sum, y, x, l->ch, l->n};
	int n = v->n ? 5 : 4;
	UOp *place = substitute(store->src[0], n, from, to);
	UOp *value = substitute(store->src[1], n, from, to);
	UOp *gate = ix_and(ix_inside(y, ix_const(v->high)), ix_inside(x, ix_const(v->wide)));
	int64_t always;
	if (const_is_int(gate, &always) && always)
		return NODE(OP_STORE, DT_NONE, VNIL, place, value);
	Edge e = {l->th, l->tw, gate, slot};
	return NODE(OP_STORE, DT_NONE, VNIL, place, walk_replace(value, guard, &e), gate);
}

/* y = f(Aᵀ m A): the kernel with its sum replaced, once for each place in the tile */
static UOp *output_call(const Conv *v, UOp *m)
{
	UOp *load[36], *sum[16];
	UOp *kernel = v->r.facts.kernel;
	VEC(UOp *) stores = {0};
	int slot = (int)v->call->nsrc - 1;
	TileAxes l = axes_for(v, v->o);
	for (int s = 0; s < 36; s++)
		load[s] = load_at_place(place_at(v, m, slot, ix_const(s / 6), ix_const(s % 6), &l));
	both_sides(*at, 4, 6, load, sum);
	for (uint32_t k = 0; k < kernel->nsrc; k++)
		for (int s = 0; s < 16; s++)
			vec_push(&stores,
				result_store(v, kernel->src[k], &l, sum[s], slot, s / 4, s % 4));
	UOp *out = node_like(
		kernel, stores.n, stores.at, val_set(kernel->arg, "winograd", val_bool(true)));
	vec_free(&stores);
	return call_compact(call_with_buffer(v->call, out, m));
}

/* ---- the pass */

static void rewrite_call(Winograd *w, UOp *call)
{
	Conv v;
	if (!find_conv(&v, call) || !is_worth(&v)) {
		vec_push(&w->out, call);
		return;
	}
	UOp *u = weights_call(w, &v), *pieces = input_call(w, &v);
	UOp *products = products_call(w, &v, pieces->src[1], u->src[1]);
	vec_push(is_constant(u->src[2]) ? &w->first : &w->out, u);
	vec_push(&w->out, pieces);
	vec_push(&w->out, products);
	vec_push(&w->out, output_call(&v, products->src[1]));
}

Graph *layout_winograd(Graph *g)
{
	Winograd w = {0};
	for (uint32_t i = 0; i < g->sink->nsrc; i++) {
		if (call_prepares(g->sink->src[i]))
			vec_push(&w.first, g->sink->src[i]);
		else
			rewrite_call(&w, g->sink->src[i]);
	}
	for (size_t i = 0; i < w.out.n; i++)
		vec_push(&w.first, w.out.at[i]);
	Graph *r = graph_with_calls(g, w.first.n, w.first.at);
	vec_free(&w.first);
	vec_free(&w.out);
	return r;
}
