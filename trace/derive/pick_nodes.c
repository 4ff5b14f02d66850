/* Finds outputs and buffers of a document by name, and adds outputs to it: shared by grad, jvp and
 * other tools.
 *
 *     SINK y {names: ["y"]}   →   SINK y grad_w {names: ["y", "grad_w"]} */
#include "primitives/primitives.h"
#include "derive/derive.h"
#include <stdlib.h>

/* ---- outputs */

const char *output_name(const Graph *g, size_t i)
{
	const Val *names = val_get(g->sink->arg, "names");

	return names ? names->a[i]->s : arena_printf("out%zu", i);
}

ptrdiff_t output_find(const Graph *g, const char *name)
{
	for (size_t i = 0; i < sink_outputs(g->sink); i++)
		if (!strcmp(output_name(g, i), name))
			return i;
	return -1;
}

/* "y f32[3], z f32" */
static const char *outputs_text(const Graph *g)
{
	const char *text = "";

	for (size_t i = 0; i < sink_outputs(g->sink) && i < 20; i++) {
		UOp *u = g->sink->src[i];
		text = arena_printf("%s%s%s %s%s", text, i ? ", " : "", output_name(g, i),
			dtype_name(u->dtype),
			u->shape->rank ? shape_text(u->shape) : "");
	}
	return text;
}

Graph *outputs_add(Graph *g, size_t n, const char *const *name, UOp *const *u)
{
	size_t old = sink_outputs(g->sink), all = old + n;
	UOp **src = arena_alloc(all * sizeof *src);
	const Val **names = arena_alloc(all * sizeof *names);
	Graph *r = arena_alloc(sizeof *r);

	for (size_t i = 0; i < all; i++) {
		bool fresh = i >= old;
		src[i] = fresh ? u[i - old] : g->sink->src[i];
		names[i] = val_str(fresh ? name[i - old] : output_name(g, i));
		for (size_t k = 0; fresh && k < i; k++)
			if (names[k] == names[i])
				die(USAGE, "there is an output '%s' already", name[i - old]);
		if (fresh && !name_ok(names[i]))
			die(USAGE, "'%.80s' cannot be an output's name", name[i - old]);
	}
	*r = *g;
	r->all = (Nodes){0};
	r->sink = steps_sink(all, src,
		val_set(sink_plain_arg(g->sink->arg), "names", val_array(all, names)));
	return r;
}

/* ---- names given by the user */

/* The names in all arguments, separated by commas; an argument that is itself a known name is not
 * split. */
static Names names_listed(
	size_t n, const char *const *arg, bool (*known)(const char *name, void *ctx), void *ctx)
{
	Names r = {0};

	for (size_t i = 0; i < n; i++) {
		const char *s = arg[i];
		while (s) {
			size_t len = known(s, ctx) ? strlen(s) : strcspn(s, ",");
			vec_push(&r, arena_printf("%.*s", (int)len, s));
			s = s[len] ? s + len + 1 : NULL;
		}
	}
	for (size_t i = 0; i < r.n; i++)
		for (size_t k = 0; k < i; k++)
			if (!strcmp(r.at[i], r.at[k]))
				die(USAGE, "'%.80s' is named twice", r.at[i]);
	return r;
}

static bool is_output(const char *name, void *g) { return output_find(g, name) >= 0; }

/* The outputs named, or all float outputs; each must be a float tensor. */
Picked pick_outputs(Graph *g, size_t n, const char *const *arg)
{
	Names names = names_listed(n, arg, is_output, g);
	Picked r = {0};

	for (size_t i = 0; i < names.n; i++) {
		ptrdiff_t at = output_find(g, names.at[i]);
		if (at < 0 || (size_t)at >= sink_outputs(g->sink))
			die(USAGE, "there is no output '%.80s'; there are %s", names.at[i],
				outputs_text(g));
		if (!dtype_float(g->sink->src[at]->dtype))
			die(USAGE, "the output '%s' is %s: only floats have a derivative",
				names.at[i],
				dtype_name(g->sink->src[at]->dtype));
		vec_push(&r.name, names.at[i]);
		vec_push(&r.node, g->sink->src[at]);
	}
	for (size_t i = 0; !names.n && i < sink_outputs(g->sink); i++)
		if (dtype_float(g->sink->src[i]->dtype)) {
			vec_push(&r.name, output_name(g, i));
			vec_push(&r.node, g->sink->src[i]);
		}
	if (!r.node.n)
		die(USAGE, "no output is of floats; there are %s", outputs_text(g));
	return r;
}

UOp *pick_scalar(const Picked *out, const char *what, const char *instead)
{
	UOp *u = out->node.at[0];

	if (out->node.n > 1)
		die(USAGE, "the outputs %s and %s are of floats: say of which with -o",
			out->name.at[0], out->name.at[1]);
	for (int i = 0; i < u->shape->rank; i++)
		if (u->shape->dim[i] != ix_const(1))
			die(USAGE,
				"'%s' is %s%s, and %s of a scalar: fold it in the program (sum, "
				"mean)%s",
				out->name.at[0], dtype_name(u->dtype), shape_text(u->shape), what,
				instead);
	return u;
}

/* ---- buffers */

static UOp *buffer_named(Nodes all, const char *name)
{
	for (size_t i = 0; i < all.n; i++)
		if (all.at[i]->op == OP_BUFFER && !strcmp(buffer_name(all.at[i]), name))
			return all.at[i];
	return NULL;
}

static const char *buffers_text(Nodes all)
{
	const char *text = "";
	int n = 0;

	for (size_t i = 0; i < all.n && n < 20; i++)
		if (all.at[i]->op == OP_BUFFER && dtype_float(all.at[i]->dtype))
			text = arena_printf("%s%s%s", text, n++ ? ", " : "",
				buffer_name(all.at[i]));
	return n ? text : "none";
}

bool listed(const Val *names, const char *name)
{
	for (size_t i = 0; names && i < names->n; i++)
		if (val_is_str(names->a[i], name))
			return true;
	return false;
}

bool buffer_taken(const Graph *g, const char *name)
{
	return listed(val_get(g->meta, "inputs"), name) || buffer_named(walk(g->sink), name);
}

static bool is_buffer(const char *name, void *all)
{
	return buffer_named(*(Nodes *)all, name) != NULL;
}

/* Adds all float buffers of that role which the outputs read. */
static void add_role(Picked *r, const Picked *out, const char *role)
{
	Nodes all = walk_many(out->node.n, out->node.at);

	for (size_t i = 0; i < all.n; i++)
		if (all.at[i]->op == OP_BUFFER && buffer_is(all.at[i], role) &&
			dtype_float(all.at[i]->dtype)) {
			vec_push(&r->name, buffer_name(all.at[i]));
			vec_push(&r->node, all.at[i]);
		}
}

static Picked pick(Graph *g, size_t n, const char *const *arg, const Picked *out, bool both)
{
	Nodes all = walk(g->sink);
	Names names = names_listed(n, arg, is_buffer, &all);
	Picked r = {0};

	for (size_t i = 0; i < names.n; i++) {
		UOp *u = buffer_named(all, names.at[i]);
		if (!u)
			die(USAGE, "there is no buffer '%.80s'; of floats there are %s",
				names.at[i], buffers_text(all));
		if (!dtype_float(u->dtype))
			die(USAGE, "the buffer '%s' is %s: only floats have a derivative",
				names.at[i], dtype_name(u->dtype));
		vec_push(&r.name, buffer_name(u));
		vec_push(&r.node, u);
	}
	if (!names.n)
		add_role(&r, out, "state");
	if (!names.n && (both || !r.node.n))
		add_role(&r, out, "input");
	if (!r.node.n)
		die(USAGE, "'%s' reads no state and no input of floats: name what to derive by "
			"with -w",
			out->name.at[0]);
	return r;
}

Picked pick_buffers(Graph *g, size_t n, const char *const *arg, const Picked *out)
{
	return pick(g, n, arg, out, false);
}
Picked pick_leaves(Graph *g, size_t n, const char *const *arg, const Picked *out)
{
	return pick(g, n, arg, out, true);
}

/* A new input of like's dtype and shape, appended to meta.inputs. */
UOp *input_add(Graph *g, const char *name, UOp *like)
{
	const Val *shape = shape_to_val(like->shape), *list = val_get(g->meta, "inputs");
	const Val *key[2] = {val_str(name),
		VARR(val_str(name), val_str(dtype_name(like->dtype)), shape)};
	int64_t count;

	if (!name_ok(val_str(name)))
		die(USAGE, "'%.80s' cannot be an input's name", name);
	for (int i = 0; i < like->shape->rank; i++)
		if (size_is_bound(like->shape->dim[i]))
			die(UNSUPPORTED,
				"input '%s' would have a size that is data, %s: fold the output in "
				"the program",
				name, shape_text(like->shape));
	if (buffer_taken(g, name) || vars_find(name, strlen(name)))
		die(USAGE, "there is a %s '%s' already", buffer_taken(g, name) ? "buffer" : "size",
			name);
	for (int i = 0; i < 2; i++) {
		const char *where = i ? "sized" : "inputs";
		if ((i && shape_static(like->shape, &count)) || (!i && !list))
			continue;
		const Val *old = val_get(g->meta, where);
		size_t n = old ? old->n : 0;
		const Val **at = arena_alloc((n + 1) * sizeof *at);
		if (n)
			memcpy(at, old->a, n * sizeof *at);
		at[n] = key[i];
		g->meta = val_set(g->meta, where, val_array(n + 1, at));
	}
	return LEAF(OP_BUFFER, like->dtype,
		VMAP(val_str("name"), val_str(name), val_str("shape"), shape, val_str("role"),
		val_str("input")));
}
