/* Derivatives of a tensor with respect to a tensor as outputs, dense or sparse.
 *
 *     dense     one jvp per column of the identity, or one vjp per row, all at once (vmap_nodes)
 *     sparse    pattern, colours, one product per colour; each value is picked from the product
 *               of its column's colour:
 *
 *               [a b . .]   colours: columns 0 2 | 1 3
 *               [. c d .]   products: [a d e], [b c f]
 *               [. . e f]   values, by columns: a b c d e f
 *
 * Seeds are computed in the graph: by comparing indices (the identity), or from the colours, which
 * are a constant. */
#include "library/library.h"
#include "sparse/sparse.h"
#include <stdlib.h>

JacobianOptions jacobian_opt;

enum { BY_CHOICE, FORWARD, REVERSE };

static int mode_of(void)
{
	const char *mode = jacobian_opt.mode;
	return !mode ? BY_CHOICE : !strcmp(mode, "forward") ? FORWARD : REVERSE;
}

Graph *jacobian_begin(Graph *g)
{
	const char *mode = jacobian_opt.mode;
	if (mode && strcmp(mode, "forward") && strcmp(mode, "reverse"))
		die(USAGE, "the mode is forward or reverse, not '%.80s'", mode);
	if (jacobian_opt.pattern && !jacobian_opt.sparse)
		die(USAGE, "--pattern goes with --sparse");
	g = fix_sizes(g, jacobian_opt.sizes.n, jacobian_opt.sizes.at);
	steps_known(g->sink);
	Nodes all = walk(g->sink);
	buffers_reset();
	for (size_t i = 0; i < all.n; i++)
		if (all.at[i]->op == OP_BUFFER)
			name_take(buffer_name(all.at[i]));
	return g;
}

static void put(Derived *d, const char *name, UOp *u)
{
	vec_push(&d->name, name);
	vec_push(&d->node, u);
}

Graph *jacobian_end(Derived *d)
{
	Graph *g = d->g;

	if (jacobian_opt.only) {
		Graph *r = arena_alloc(sizeof *r);
		*r = *g;
		r->sink = sink_with(g->sink, 0, NULL, VNIL);
		r->meta = val_set(g->meta, "output_groups", NULL);
		g = r;
	}
	g = outputs_add(g, d->name.n, d->name.at, d->node.at);
	if (d->sparse)
		g->meta = val_set(g->meta, "sparse", d->sparse);
	vec_free(&d->name);
	vec_free(&d->node);
	return join_loops(g);
}

/* ---- products, all at once */

/* A placeholder for a seed: an input that vmap_nodes replaces by the seeds. */
static UOp *seed_place(UOp *like)
{
	return buffer_new(name_fresh("seed"), "input", like->dtype, like->shape, NULL, NULL);
}

static bool computed_anew(const UOp *u) { return op_elementwise(u->op) || op_movement(u->op); }

/* A value that costs more than this is computed once for all products, not in each of them. */
enum { WORTH_KEEPING = 8 };

static bool has_regions(Nodes all)
{
	for (size_t i = 0; i < all.n; i++)
		if (all.at[i]->op == OP_LOOP || all.at[i]->op == OP_IF)
			return true;
	return false;
}

/* d, with the values that do not depend on seed, but are read by nodes that do, kept in buffers
 * where that is worth it: loops keep what their turns share anyway. */
static UOp *keep_values(UOp *d, const UOp *seed)
{
	Nodes all = walk(d);
	if (has_regions(all))
		return d;
	uint32_t limit = node_limit(), *work = arena_alloc(limit * sizeof *work);
	uint8_t *moves = arena_alloc(limit), *keep = arena_alloc(limit);
	UOp **to = arena_alloc(limit * sizeof *to), *src[3];

	for (size_t i = 0; i < all.n; i++) {
		const UOp *u = all.at[i];
		moves[u->id] = u == seed;
		work[u->id] = op_cost(u->op);
		for (uint32_t k = 0; k < u->nsrc; k++) {
			moves[u->id] |= moves[u->src[k]->id];
			work[u->id] += computed_anew(u) ? work[u->src[k]->id] : 0;
		}
		work[u->id] = work[u->id] > WORTH_KEEPING ? WORTH_KEEPING + 1 : work[u->id];
		for (uint32_t k = 0; moves[u->id] && k < u->nsrc; k++) {
			UOp *s = u->src[k];
			while (op_movement(s->op))
				s = s->src[0];
			keep[s->id] |= !moves[s->id] && work[s->id] > WORTH_KEEPING &&
				s->shape->rank && op_elementwise(s->op);
		}
	}
	for (size_t i = 0; i < all.n; i++) {
		UOp *u = all.at[i], **at = u->nsrc > 3 ? arena_alloc(u->nsrc * sizeof *at) : src;
		for (uint32_t k = 0; k < u->nsrc; k++)
			at[k] = to[u->src[k]->id];
		to[u->id] = node_with(u, at);
		if (keep[u->id])
			to[u->id] = NODE(OP_CONTIGUOUS, u->dtype, VNIL, to[u->id]);
	}
	return to[d->id];
}

/* p products: [p, y…] for seeds [p, x…] (forward), or [p, x…] for seeds [p, y…] */
static UOp *products(UOp *y, UOp *x, int mode, UOp *p, UOp *seeds)
{
	UOp *seed = seed_place(mode == FORWARD ? x : y), *d, *all;

	if (mode == FORWARD)
		derive_forward(1, &x, &seed, 1, &y, &d);
	else
		derive_reverse(1, &y, &seed, 1, &x, &d);
	d = keep_values(d, seed);
	vmap_nodes(p, 1, &seed, &seeds, 1, &d, &all);
	return all == d ? t_expand_axis(t_unsqueeze(d, 0), 0, p) : all;
}

static const Shape *shape_behind(UOp *first, const Shape *s)
{
	UOp *dim[MAX_RANK];

	if (s->rank >= MAX_RANK)
		die(UNSUPPORTED, "rank %d is above %d", s->rank + 1, MAX_RANK);
	dim[0] = first;
	for (int i = 0; i < s->rank; i++)
		dim[i + 1] = s->dim[i];
	return shape_new(s->rank + 1, dim);
}

static const Shape *shape_joined(const Shape *a, const Shape *b)
{
	UOp *dim[2 * MAX_RANK];

	for (int i = 0; i < a->rank + b->rank; i++)
		dim[i] = i < a->rank ? a->dim[i] : b->dim[i - a->rank];
	if (a->rank + b->rank > MAX_RANK)
		die(UNSUPPORTED, "the derivative of %s by %s has rank %d, above %d", shape_text(a),
			shape_text(b), a->rank + b->rank, MAX_RANK);
	return shape_new(a->rank + b->rank, dim);
}

/* [p, like…]: 1 where colour[i] equals the index along axis 0 */
static UOp *seeds_by(UOp *colour, UOp *p, const UOp *like)
{
	UOp *n = t_dim(colour, 0), *one = ix_const(1), *size[2] = {p, n};
	UOp *c = t_expandv(t_reshapev(colour, 2, (UOp *[]){one, n}), 2, size);
	UOp *k = t_expandv(t_reshapev(t_arange(colour->dtype, p), 2, (UOp *[]){p, one}), 2, size);

	return t_reshape(t_cast(t_eq(c, k), like->dtype), shape_behind(p, like->shape));
}

/* ---- dense */

static UOp *dense(UOp *y, UOp *x)
{
	UOp *m = shape_count(y->shape), *n = shape_count(x->shape);
	int mode = mode_of() ? mode_of() : ix_prove_lt(m, n) ? REVERSE : FORWARD;
	UOp *p = mode == FORWARD ? n : m, *all;

	all = products(y, x, mode, p, seeds_by(t_arange(DT_I64, p), p, mode == FORWARD ? x : y));
	if (mode == FORWARD)
		all = t_permute(t_reshapev(all, 2, (UOp *[]){p, m}), (int[]){1, 0});
	return t_reshape(all, shape_joined(y->shape, x->shape));
}

/* ---- sparse */

/* The data needed to find each value: its product and its place in it. Values are in column
 * order. */
typedef struct { Rows byrow, bycol; uint32_t *colour, p; int mode; bool star; } Compressed;

/* Colours columns or rows, whichever needs fewer colours; rows are given up when they cannot
 * win. */
static void colour_either(Compressed *c)
{
	uint32_t m = c->byrow.rows, n = c->byrow.columns, count = n + 1;

	c->mode = FORWARD;
	if (mode_of() != REVERSE)
		c->p = count = colour_columns(&c->byrow, &c->bycol, n, c->colour);
	if (mode_of() == FORWARD || count == 0)
		return;
	uint32_t *rows = xmalloc(((size_t)m + 1) * sizeof *rows),
			 limit = mode_of() == REVERSE || m < count ? m : count - 1;
	uint32_t by_rows = colour_columns(&c->bycol, &c->byrow, limit, rows);
	if (by_rows > limit || (by_rows >= count && mode_of() != REVERSE)) {
		free(rows);
		return;
	}
	free(c->colour);
	c->colour = rows;
	c->p = by_rows;
	c->mode = REVERSE;
}

static Compressed compress(UOp *y, UOp *x, const char *name, bool symmetric)
{
	Compressed c = {.byrow = pattern_find(y, x, name), .star = symmetric};

	if (symmetric) {
		Rows both = rows_symmetric(&c.byrow);
		rows_free(&c.byrow);
		c.byrow = both;
	}
	c.bycol = rows_transposed(&c.byrow);
	c.colour = xmalloc(((size_t)c.byrow.columns + 1) * sizeof *c.colour);
	if (symmetric) {
		c.p = colour_star(&c.byrow, c.colour);
		c.mode = mode_of() == REVERSE ? REVERSE : FORWARD;
	} else {
		colour_either(&c);
	}
	return c;
}

/* Value (i, j) of a symmetric matrix is alone at place i of the product of j's colour if no other
 * column of row i has that colour; otherwise it is at place j of the product of i's colour. next:
 * the position, in column order, of each column's next value, since rows are visited in order. */
static void star_places(const Compressed *c, int32_t *product, int32_t *place)
{
	const Rows *r = &c->byrow;
	uint32_t *count = xcalloc((size_t)c->p + 1, sizeof *count);
	size_t *next = xmalloc(((size_t)r->rows + 1) * sizeof *next);

	memcpy(next, r->first, r->rows * sizeof *next);
	for (uint32_t i = 0; i < r->rows; i++) {
		for (size_t k = r->first[i]; k < r->first[i + 1]; k++)
			count[c->colour[r->at[k]]]++;
		for (size_t k = r->first[i]; k < r->first[i + 1]; k++) {
			uint32_t j = r->at[k];
			bool alone = count[c->colour[j]] == 1;
			product[next[j]] = (int32_t)c->colour[alone ? j : i];
			place[next[j]++] = (int32_t)(alone ? i : j);
		}
		for (size_t k = r->first[i]; k < r->first[i + 1]; k++)
			count[c->colour[r->at[k]]] = 0;
	}
	free(count);
	free(next);
}

/* The product that holds each value, and the value's place in it. */
static void places(const Compressed *c, int32_t *product, int32_t *place)
{
	const Rows *r = &c->bycol;
	bool forward = c->mode == FORWARD;

	for (uint32_t j = 0; j < r->rows; j++)
		for (size_t k = r->first[j]; k < r->first[j + 1]; k++) {
			product[k] = (int32_t)c->colour[forward ? j : r->at[k]];
			place[k] = (int32_t)(forward ? r->at[k] : j);
		}
}

static UOp *constant(const char *stem, size_t n, const void *data, DType dt)
{
	UOp *size = ix_const((int64_t)n);

	return buffer_new(name_fresh(stem), "const", dt, shape_new(1, &size),
		val_bin(data, n * dtype_size(dt)), NULL);
}

/* v [p, …] at n products and places: one index for each axis of size above one, which leaves the
 * loops over v unchanged. */
static UOp *picked(
	UOp *v, const char *name, size_t n, const int32_t *product, const int32_t *place)
{
	UOp *at[MAX_RANK], *dim[MAX_RANK];
	int64_t size[MAX_RANK], step = 1;
	int rank = 0;

	for (int i = 0; i < t_rank(v); i++)
		if ((size[rank] = shape_dim(v->shape, i)) > 1 || (i == t_rank(v) - 1 && !rank))
			dim[rank++] = t_dim(v, i);
	bool one = shape_dim(v->shape, 0) == 1;
	for (int i = rank - 1; i >= 0; i--) {
		int32_t *x = arena_alloc((n + 1) * sizeof *x);
		bool which = !i && !one;
		for (size_t k = 0; k < n; k++)
			x[k] = which ? product[k] : (int32_t)(place[k] / step % size[i]);
		at[i] = constant(
			arena_printf("%s_%s", name, which ? "products" : "places"), n, x, DT_I32);
		step *= size[i];
	}
	v = NODE(OP_CONTIGUOUS, v->dtype, VNIL, v);
	return t_gather(t_reshapev(v, rank, dim), rank, at);
}

/* The seed of each colour. With a single colour the seeds are ones, and the multiplications
 * vanish. */
static UOp *colour_seeds(const Compressed *c, const char *name, size_t n, const UOp *like)
{
	uint32_t *colour = memcpy(
		arena_alloc((n + 1) * sizeof *colour), c->colour, n * sizeof *colour);
	UOp *p = ix_const(c->p);
	bool ones = c->p == 1;

	for (size_t i = 0; i < n; i++)
		ones &= colour[i] == 0;
	if (ones)
		return t_expand_to(t_num(like->dtype, 1), shape_behind(p, like->shape));
	/* NO_COLOUR is -1 as i32, which matches no index: no seed */
	return seeds_by(constant(arena_printf("%s_colours", name), n, colour, DT_I32), p, like);
}

static UOp *values(const Compressed *c, const char *name, UOp *y, UOp *x)
{
	size_t nnz = rows_count(&c->byrow),
	       nseed = c->mode == FORWARD ? c->byrow.columns : c->byrow.rows;
	int32_t *product = arena_alloc((nnz + 1) * sizeof *product),
			*place = arena_alloc((nnz + 1) * sizeof *place);
	UOp *p = ix_const(c->p), *none = ix_const(0);

	if (!nnz)
		return t_expandv(
			t_reshapev(t_num(y->dtype, 0), 1, (UOp *[]){ix_const(1)}), 1, &none);
	(c->star ? star_places : places)(c, product, place);
	UOp *like = c->mode == FORWARD ? x : y;
	UOp *v = products(y, x, c->mode, p, colour_seeds(c, name, nseed, like));
	return picked(v, name, nnz, product, place);
}

/* Puts the pattern, in column order, into meta.sparse and into outputs. */
static void note_pattern(Derived *d, const char *name, const Compressed *c)
{
	size_t nnz = rows_count(&c->bycol), n = c->bycol.rows;
	int32_t *indptr = arena_alloc((n + 1) * sizeof *indptr),
			*indices = arena_alloc((nnz + 1) * sizeof *indices);
	const char *how = c->star ? "star" : c->mode == FORWARD ? "columns" : "rows";

	for (size_t j = 0; j <= n; j++)
		indptr[j] = (int32_t)c->bycol.first[j];
	for (size_t k = 0; k < nnz; k++)
		indices[k] = (int32_t)c->bycol.at[k];
	d->sparse = val_set(d->sparse ? d->sparse : VNIL, name, VMAP(
		val_str("shape"), VARR(val_int(c->byrow.rows), val_int(c->byrow.columns)),
		val_str("colours"), val_int(c->p), val_str("by"), val_str(how),
		val_str("indptr"), val_bin(indptr, (n + 1) * sizeof *indptr),
		val_str("indices"), val_bin(indices, nnz * sizeof *indices)));
	if (jacobian_opt.pattern) {
		const char *ptr = arena_printf("%s_indptr", name),
			   *ind = arena_printf("%s_indices", name);
		put(d, ptr, constant(ptr, n + 1, indptr, DT_I32));
		put(d, ind, constant(ind, nnz, indices, DT_I32));
	}
}

void jacobian_add(Derived *d, const char *name, UOp *y, UOp *x, bool symmetric)
{
	if (!jacobian_opt.sparse) {
		put(d, name, t_cast(dense(y, x), y->dtype));
		return;
	}
	Compressed c = compress(y, x, name, symmetric);
	put(d, name, t_cast(values(&c, name, y, x), y->dtype));
	note_pattern(d, name, &c);
	rows_free(&c.byrow);
	rows_free(&c.bycol);
	free(c.colour);
}
