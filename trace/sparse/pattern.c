/* The structural pattern of a derivative, from the graph: for each element of an output, the input
 * elements with respect to which its derivative may be nonzero.
 *
 *     y = x[1:] * x[:-1] + sum(z)     row i: {i, i+1}; the values of z do not matter
 *
 * Sources before users, the elements of each node get sets of columns (layers.h). Comparisons,
 * integers, TRUNC and DETACH have no derivative and give the empty set. WHERE has none with respect
 * to its condition; if that is constant only the side taken counts, and a constant factor 0 gives
 * the empty set. */
#include "sparse/layers.h"
#include <stdlib.h>

/* The maximum number of elements of one constant mask, and of all of them together. */
enum { MASK = 1 << 22, MASKS = 1 << 26 };

typedef struct {
	Finder f;
	Nodes all;
	Layers *of;
	uint32_t *uses;
	uint8_t *leads;
	int64_t dim[MAX_RANK];
} Walk;

static void numbers(const char *who, const UOp *u, int64_t *dim)
{
	for (int i = 0; i < u->shape->rank; i++)
		if (!ix_is_const(u->shape->dim[i], &dim[i]))
			die(UNSUPPORTED,
				"%s: a pattern needs sizes that are numbers, not %s (--set NAME=N)",
				who, shape_text(u->shape));
}

/* ---- nodes computed from constants alone */

static bool same_everywhere(const UOp *u)
{
	int64_t n;

	if (u->op == OP_BUFFER)
		return buffer_is(u, "const");
	return u->op != OP_CUSTOM && op_info[u->op].cls != CLASS_FLOW && u->op != OP_ASSIGN &&
		u->shape && shape_static(u->shape, &n) && n < PLACES;
}

/* sources whose values matter: indices, the condition of WHERE, factors that may be 0 */
static bool asks_for(const UOp *u, uint32_t k)
{
	switch (u->op) {
	case OP_GATHER: return k > 0;
	case OP_SCATTER: return k > 0 && k + 1 < u->nsrc;
	case OP_WHERE: return k == 0;
	case OP_MUL: return true;
	default: return false;
	}
}

/* Whether to evaluate a value: an index always, a mask if it is not too long and the limit for all
 * masks is not reached. */
static bool worth(const UOp *u, const UOp *s, int64_t *left)
{
	int64_t n;

	if (u->op == OP_GATHER || u->op == OP_SCATTER)
		return true;
	if (!shape_static(s->shape, &n) || n > MASK || n > *left)
		return false;
	*left -= n;
	return true;
}

static void evaluate_known(Walk *w, const uint8_t *known)
{
	uint32_t limit = node_limit();
	Array **slot = arena_alloc(limit * sizeof *slot);
	VEC(UOp *) roots = {0};
	static const VarEnv none;
	int64_t left = MASKS;

	for (size_t i = 0; i < w->all.n; i++)
		for (uint32_t k = 0; w->leads[w->all.at[i]->id] && k < w->all.at[i]->nsrc; k++) {
			UOp *s = w->all.at[i]->src[k];
			if (asks_for(w->all.at[i], k) && known[s->id] && !slot[s->id] &&
				worth(w->all.at[i], s, &left)) {
				slot[s->id] = arena_alloc(sizeof **slot);
				vec_push(&roots, s);
			}
		}
	Array *out = xcalloc(roots.n + 1, sizeof *out);
	if (roots.n)
		interp_graph(roots.n, roots.at, NULL, &none, constant_content, NULL, out);
	for (size_t i = 0; i < roots.n; i++)
		*slot[roots.at[i]->id] = out[i];
	w->f.known = slot;
	free(out);
	vec_free(&roots);
}

/* Finds the nodes that depend on wrt, and those computed from constants alone. */
static void look_ahead(Walk *w, UOp *wrt)
{
	uint8_t *known = arena_alloc(node_limit());

	w->leads = arena_alloc(node_limit());
	w->uses = arena_alloc(node_limit() * sizeof *w->uses);
	for (size_t i = 0; i < w->all.n; i++) {
		UOp *u = w->all.at[i];
		known[u->id] = u != wrt && same_everywhere(u);
		w->leads[u->id] = u == wrt;
		for (uint32_t k = 0; k < u->nsrc; k++) {
			known[u->id] &= known[u->src[k]->id];
			w->leads[u->id] |= w->leads[u->src[k]->id];
			w->uses[u->src[k]->id]++;
		}
		if (w->leads[u->id] && op_info[u->op].cls == CLASS_FLOW)
			die(UNSUPPORTED, "%s: a loop or branch has no pattern (node %u %s): leave "
				"out --sparse", w->f.who, u->id, op_name(u->op));
	}
	evaluate_known(w, known);
}

/* ---- rules */

static Layers *layers_of(Walk *w, const UOp *u) { return &w->of[u->id]; }

/* Adds the layers of a source, broadcast to the user's shape; a scalar is expanded. */
static void add_source(Walk *w, Layers *to, const UOp *src, const UOp *u, const uint8_t *mask)
{
	const Layers *l = layers_of(w, src);

	for (int j = 0; j < l->n; j++) {
		Strided s = l->at[j]->s;
		for (int i = 0; !src->shape->rank && i < u->shape->rank; i++) {
			s.dim[i] = w->dim[i];
			s.stride[i] = 0;
		}
		s.rank = u->shape->rank;
		ArrayView *v = value_view(l->at[j], &s), *m = mask ? layer_masked(&w->f, v, mask) :
			NULL;
		layers_add(&w->f, to, m ? m : v);
		if (m)
			value_drop(v);
	}
}

/* Adds a source where the operand beside it, if its value is known, is not 0 (with not: is 0). */
static void add_masked(
	Walk *w, Layers *to, const UOp *src, const UOp *beside, const UOp *u, bool not)
{
	const Array *a = layers_of(w, src)->n ? w->f.known[beside->id] : NULL;
	int64_t n = a ? array_count(a) : 0, kept = 0;
	uint8_t *m = xmalloc(n + 1);

	if (a)
		interp_cast(DT_BOOL, m, a->dtype, a->data, n);
	for (int64_t i = 0; i < n; i++)
		kept += m[i] ^= not;
	if (!n || kept)
		add_source(w, to, src, u, kept < n && beside->shape->rank ? m : NULL);
	free(m);
}

static void along_axes(Walk *w, UOp *u, Layers *to)
{
	const Layers *l = layers_of(w, u->src[0]);
	bool axis[MAX_RANK] = {0};
	int axes[MAX_RANK], n = u->op == OP_REDUCE ? arg_axes(u->arg, axes) : 0;

	for (int i = 0; i < n; i++)
		axis[axes[i]] = true;
	for (int j = 0; j < l->n; j++)
		layers_add(&w->f, to, u->op == OP_REDUCE ? layer_reduced(&w->f, l->at[j], axis) :
			layer_scanned(&w->f, l->at[j], (int)u->arg->a[1]->i));
}

static void pass_on(Walk *w, UOp *u, Layers *to)
{
	for (uint32_t k = 0; k < u->nsrc; k++)
		if (op_follows(u, k))
			add_source(w, to, u->src[k], u, NULL);
}

static void node_layers(Walk *w, UOp *u, Layers *to)
{
	switch (u->op) {
	case OP_WHERE:
		add_masked(w, to, u->src[1], u->src[0], u, false);
		add_masked(w, to, u->src[2], u->src[0], u, true);
		break;
	case OP_MUL:
		add_masked(w, to, u->src[0], u->src[1], u, false);
		add_masked(w, to, u->src[1], u->src[0], u, false);
		break;
	case OP_REDUCE:
	case OP_SCAN: along_axes(w, u, to); break;
	case OP_GATHER: gather_layers(&w->f, u, layers_of(w, u->src[0]), w->dim, to); break;
	case OP_SCATTER:
		scatter_layers(&w->f, u, layers_of(w, u->src[0]), layers_of(w, u->src[u->nsrc - 1]),
			w->dim, to);
		break;
	case OP_CUSTOM:
		die(UNSUPPORTED, "node %u CUSTOM (%s): a kernel of one's own has no derivative",
			u->id, custom_name(u->arg));
	default:
		if (!op_movement(u->op)) {
			pass_on(w, u, to);
			break;
		}
		for (int j = 0; j < layers_of(w, u->src[0])->n; j++)
			layers_add(&w->f, to,
				layer_moved(&w->f, u, layers_of(w, u->src[0])->at[j], w->dim));
	}
}

static bool depends(Walk *w, const UOp *u)
{
	for (uint32_t k = 0; k < u->nsrc; k++)
		if (layers_of(w, u->src[k])->n)
			return true;
	return false;
}

static void identity(Walk *w, UOp *wrt, Layers *to)
{
	ArrayView *v = layer_new(&w->f, wrt->shape->rank, w->dim);
	int64_t n = strided_count(&v->s);

	for (int64_t i = 0; i < n; i++)
		((uint32_t *)value_data(v))[i] = set_single(&w->f.sets, (uint32_t)i);
	layers_add(&w->f, to, v);
}

static void walk_node(Walk *w, UOp *u, UOp *wrt)
{
	bool mine = u == wrt || (dtype_float(u->dtype) && depends(w, u));

	if (mine) {
		numbers(w->f.who, u, w->dim);
		Array a = {.rank = u->shape->rank};
		memcpy(a.dim, w->dim, sizeof a.dim);
		mine = array_count(&a) > 0;
	}
	if (mine && u == wrt)
		identity(w, u, layers_of(w, u));
	else if (mine)
		node_layers(w, u, layers_of(w, u));
	for (uint32_t k = 0; k < u->nsrc; k++)
		if (--w->uses[u->src[k]->id] == 0)
			layers_drop(layers_of(w, u->src[k]));
}

/* ---- rows */

static Rows rows_of(Walk *w, const Layers *l, uint32_t m, uint32_t n)
{
	Rows r = {m, n, xcalloc((size_t)m + 1, sizeof *r.first), NULL};
	ArrayView *v = layers_joined(&w->f, l), *packed = v ? value_packed(v) : NULL;
	const Sets *s = &w->f.sets;
	const uint32_t *set = packed ? (const uint32_t *)value_data(packed) : NULL;

	for (uint32_t i = 0; i < m; i++)
		r.first[i + 1] = r.first[i] + (set ? set_size(s, set[i]) : 0);
	if (r.first[m] > INT32_MAX)
		die(UNSUPPORTED, "%s: its pattern has %zu places, more than %d", w->f.who,
			r.first[m], INT32_MAX);
	r.at = xmalloc((r.first[m] + 1) * sizeof *r.at);
	for (uint32_t i = 0; set && i < m; i++)
		memcpy(r.at + r.first[i], s->at + s->first[set[i]],
			set_size(s, set[i]) * sizeof *r.at);
	value_drop(packed);
	value_drop(v);
	return r;
}

Rows pattern_find(UOp *out, UOp *wrt, const char *who)
{
	Walk w = {.f.who = who, .all = walk(out)};
	int64_t m, n;

	numbers(who, wrt, w.dim);
	n = layer_count(&w.f, wrt->shape->rank, w.dim);
	numbers(who, out, w.dim);
	m = layer_count(&w.f, out->shape->rank, w.dim);
	w.of = arena_alloc(node_limit() * sizeof *w.of);
	sets_init(&w.f.sets, (uint32_t)n, who);
	look_ahead(&w, wrt);
	w.uses[out->id]++;
	for (size_t i = 0; i < w.all.n; i++)
		walk_node(&w, w.all.at[i], wrt);
	Rows r = rows_of(&w, layers_of(&w, out), (uint32_t)m, (uint32_t)n);
	layers_drop(layers_of(&w, out));
	for (size_t i = 0; i < w.all.n; i++)
		if (w.f.known[w.all.at[i]->id])
			array_free(w.f.known[w.all.at[i]->id]);
	sets_free(&w.f.sets);
	return r;
}

/* Exchanges rows and columns; the order stays rising. */
Rows rows_transposed(const Rows *r)
{
	Rows t = {r->columns, r->rows, xcalloc((size_t)r->columns + 2, sizeof *t.first), NULL};

	t.at = xmalloc((rows_count(r) + 1) * sizeof *t.at);
	for (size_t k = 0; k < rows_count(r); k++)
		t.first[r->at[k] + 2]++;
	for (uint32_t c = 2; c < r->columns + 2; c++)
		t.first[c] += t.first[c - 1];
	for (uint32_t i = 0; i < r->rows; i++)
		for (size_t k = r->first[i]; k < r->first[i + 1]; k++)
			t.at[t.first[r->at[k] + 1]++] = i;
	return t;
}

Rows rows_symmetric(const Rows *r)
{
	Rows t = rows_transposed(r),
		 s = {r->rows, r->columns, xcalloc((size_t)r->rows + 1, sizeof *s.first), NULL};
	size_t n = 0;

	s.at = xmalloc((rows_count(r) + 1) * sizeof *s.at);
	for (uint32_t i = 0; i < r->rows; i++) {
		for (size_t k = r->first[i], j = t.first[i];
			k < r->first[i + 1] && j < t.first[i + 1];) {
			if (r->at[k] == t.at[j])
				s.at[n++] = r->at[k];
			uint32_t a = r->at[k], b = t.at[j];
			k += a <= b;
			j += b <= a;
		}
		s.first[i + 1] = n;
	}
	rows_free(&t);
	return s;
}

void rows_free(Rows *r)
{
	free(r->first);
	free(r->at);
	*r = (Rows){0};
}
