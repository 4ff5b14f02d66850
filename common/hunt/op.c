/* The op to blame in a graph or a kernel that gives wrong values: one whose own value is nowhere in
 * the right document, while those of its sources are. It is looked for from the result down. */
#include "hunt/hunt.h"
#include <dirent.h>
#include <stdlib.h>

enum { UNSEEN, THERE, ABSENT };

typedef struct {
	Watch watch;
	const Values *right;
	const Tolerance *near;
	TABLE(uint8_t) state;           /* by node id */
} Seeker;

/* ---- from the result down */

/* Puts the sources of u, past those that were not seen by themselves, into out. */
static void sources_of(const Seeker *s, const UOp *u, size_t depth, Nodes *out)
{
	for (uint32_t i = 0; i < u->nsrc; i++) {
		UOp *x = u->src[i];
		if (s->state.at[x->id] != UNSEEN)
			out->at[out->n++] = x;
		else if (depth && out->n + x->nsrc < 64 && x->op != OP_INDEX)
			sources_of(s, x, depth - 1, out);
	}
}

static const UOp *descend(const Seeker *s, const UOp *u)
{
	UOp *room[128];

	for (const UOp *next = u; next;) {
		Nodes src = {room, 0};
		u = next;
		next = NULL;
		if (u->nsrc < 64)
			sources_of(s, u, 3, &src);
		for (size_t i = 0; i < src.n && !next; i++)
			if (s->state.at[src.at[i]->id] == ABSENT)
				next = src.at[i];
	}
	return u;
}

/* "MUL f32 (p.t:4, y)"; the line is the kernel's where the node has none. */
static const char *op_text(const UOp *u, const UOp *kernel)
{
	const Val *loc = val_get(u->note, "loc"), *name = val_get(u->note, "name");
	const char *kind = u->dtype == DT_NONE ? "" : dtype_name(u->dtype);

	if (!loc && kernel)
		loc = val_get(kernel->note, "loc");
	if (!name && kernel)
		name = val_get(kernel->note, "name");
	return arena_printf("%s %s%s%s%s%s%s", op_name(u->op), kind, loc || name ? " (" : "",
		loc ? loc->s : "", loc && name ? ", " : "", name ? name->s : "",
		loc || name ? ")" : "");
}

/* Every value is one that is right somewhere. */
static const char misplaced[] = "an INDEX or a WHERE: all values are right ones, but elsewhere";

/* ---- a graph */

static bool starts_with_number(const char *name, uint32_t k)
{
	char *end;

	return *name >= '0' && *name <= '9' && strtoul(name, &end, 10) == k && *end == '.';
}

static void mark_kept(Seeker *s, const UOp *u, uint32_t number, const char *folder)
{
	DIR *d = opendir(folder);

	for (struct dirent *e; d && (e = readdir(d));) {
		if (!starts_with_number(e->d_name, number))
			continue;
		Array a = npy_read(arena_printf("%s/%s", folder, e->d_name), u->dtype);
		s->state.at[u->id] = values_have(s->right, a.dtype, a.data, array_count(&a),
					     s->near) ? THERE : ABSENT;
		array_free(&a);
	}
	if (d)
		closedir(d);
}

const char *op_of_graph(const Graph *g, const char *kept, const Values *right, const Tolerance *t)
{
	Seeker s = {.right = right, .near = t};
	Nodes all = walk(g->sink);
	uint32_t *index = text_index(g);
	const UOp *u = NULL;

	s.state.at = xcalloc(node_limit(), 1);
	for (size_t i = 0; i < all.n; i++)
		if (all.at[i]->op != OP_CONST && all.at[i]->dtype != DT_NONE)
			mark_kept(&s, all.at[i], index[all.at[i]->id], kept);
	for (size_t i = 0; i < g->sink->nsrc && !u; i++)
		if (s.state.at[g->sink->src[i]->id] == ABSENT)
			u = descend(&s, g->sink->src[i]);
	free(index);
	free(s.state.at);
	return u ? op_text(u, NULL) : misplaced;
}

/* ---- a call */

static void see(Watch *w, const SeenValues *v)
{
	Seeker *s = (Seeker *)w;
	uint8_t *state = &s->state.at[v->u->id];

	if (v->u->op == OP_CONST || v->u->op == OP_RANGE || v->u->dtype == DT_BOOL)
		return;
	if (*state != ABSENT)
		*state = values_have(s->right, v->u->dtype, v->out, v->n, s->near) ? THERE : ABSENT;
}

/* What the call had in a buffer before it ran, or room for what it writes. */
static Array buffer_before(const char *kept, const UOp *buffer)
{
	const char *in = arena_printf(".in.%s.npy", buffer_name(buffer)),
		   *out = arena_printf(".%s.npy", buffer_name(buffer));
	Array a = {0};
	DIR *d = opendir(kept);

	for (struct dirent *e; d && (e = readdir(d));) {
		size_t n = strlen(e->d_name), m = strlen(in), k = strlen(out);
		bool before = n > m && !strcmp(e->d_name + n - m, in);
		if (!before && (a.data || n <= k || strcmp(e->d_name + n - k, out)))
			continue;
		Array file = npy_read(arena_printf("%s/%s", kept, e->d_name), buffer->dtype);
		a = array_new(file.dtype, file.rank, file.dim);
		memcpy(a.data, file.data, file.bytes);
		array_free(&file);
		if (before)
			break;
	}
	if (d)
		closedir(d);
	return a;
}

/* The size variables of a kernel, read off its buffers' shapes. */
static void sizes_of(VarEnv *env, UOp *kernel, const Array *at, size_t n)
{
	Nodes all = walk(kernel);

	for (size_t i = 0; i < all.n; i++) {
		const UOp *u = all.at[i];
		for (int k = 0; u->op == OP_PARAM && k < u->shape->rank; k++) {
			const UOp *dim = u->shape->dim[k];
			bool known = (size_t)param_slot(u) >= n || dim->op != OP_VAR;
			for (int v = 0; !known && v < env->n; v++)
				known = !strcmp(env->name[v], dim->arg->a[0]->s);
			if (known || env->n >= 64)
				continue;
			env->name[env->n] = dim->arg->a[0]->s;
			env->value[env->n++] = at[param_slot(u)].dim[k];
		}
	}
}

/* The op of a kernel that was seen: down from what it stores. */
static const UOp *blame(const Seeker *s, UOp *kernel)
{
	for (uint32_t i = 0; i < kernel->nsrc; i++) {
		const UOp *store = kernel->src[i];
		if (store->op == OP_STORE && s->state.at[store->src[1]->id] == ABSENT)
			return descend(s, store->src[1]);
	}
	return NULL;
}

const char *op_of_call(
	const Graph *g, size_t k, const char *kept, const Values *right, const Tolerance *t)
{
	Seeker s = {.watch = {see}, .right = right, .near = t};
	const UOp *call = g->sink->src[k], *u = NULL;
	UOp *kernel = call->src[0];
	size_t n = call->nsrc - 1;
	Array *at = xcalloc(n + 1, sizeof *at);
	void **buf = xcalloc(n + 1, sizeof *buf);
	VarEnv env = {0};
	bool all = true;

	for (size_t i = 0; i < n; i++) {
		at[i] = buffer_before(kept, call->src[1 + i]);
		buf[i] = at[i].data;
		all &= buf[i] != NULL;
	}
	s.state.at = xcalloc(node_limit(), 1);
	sizes_of(&env, kernel, at, n);
	if (all) {
		interp_kernel(kernel, &env, n, buf, &s.watch);
		u = blame(&s, kernel);
	}
	for (size_t i = 0; i < n; i++)
		array_free(&at[i]);
	free(at);
	free(buf);
	free(s.state.at);
	return u ? op_text(u, kernel) : all ? misplaced : NULL;
}
