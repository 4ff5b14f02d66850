/* The PROGRAM nodes of a document, read and checked.
 *
 *     %9 PROGRAM(%8) {name: "E_4", src: "void E_4(…", target: "clang", vars: ["n"], …}
 *     →   a struct Program
 *
 * and back: programs_put writes the results of compiling (object, entry) into the nodes. */
#include "document/document.h"
#include "build/build.h"

static const struct { const char *target; Runtime runtime;
} known[] = {
	{"clang", RUNTIME_CPU},
	{"c", RUNTIME_CPU},
	{"llvm", RUNTIME_CPU},
	{"opencl", RUNTIME_OPENCL},
	{"cuda", RUNTIME_CUDA},
	{"cpu", RUNTIME_CPU},
};

static Runtime runtime_of(const Program *p)
{
	const Val *v = val_get(p->u->arg, "runtime");

	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (v ? val_is_str(v, known[i].target) : !strcmp(p->target, known[i].target))
			return known[i].runtime;
	die(UNSUPPORTED, "%s: no device here executes target '%s'", p->where, p->target);
}

/* Its language is LLVM's, not C. */
static bool is_ir(const Program *p)
{
	const Val *v = val_get(p->u->arg, "runtime");

	return v ? val_is_str(v, "llvm") : !strcmp(p->target, "llvm");
}

static bool device_named(const Graph *g)
{
	const Val *names = val_get(g->meta, "devices");

	return names && names->kind == VAL_ARRAY && names->n;
}

bool target_elsewhere(const char *target)
{
	for (size_t k = 0; k < sizeof known / sizeof *known; k++)
		if (!strcmp(known[k].target, target))
			return known[k].runtime != RUNTIME_CPU;
	return false;
}

bool programs_elsewhere(const Graph *g)
{
	Nodes all = walk(g->sink);

	for (size_t i = 0; i < all.n; i++) {
		const UOp *u = all.at[i];
		const Val *v = u->op == OP_PROGRAM ? val_get(u->arg, "runtime") : NULL;
		if (u->op == OP_COPY)
			return true;
		if (u->op == OP_PROGRAM && !v)
			v = val_get(u->arg, "target");
		if (v && v->kind == VAL_STR && target_elsewhere(v->s))
			return true;
	}
	return device_named(g);
}

static const char *text_at(const Program *p, const char *key, bool must)
{
	const Val *v = val_get(p->u->arg, key);

	if (v && v->kind == VAL_STR && strlen(v->s) == v->n)
		return v->s;
	if (v || must)
		die(MALFORMED, "%s: arg has no text '%s'", p->where, key);
	return NULL;
}

static bool is_identifier(const char *s)
{
	if (!*s || strlen(s) > 200 || (*s >= '0' && *s <= '9'))
		return false;
	return strspn(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_") ==
		strlen(s);
}

static void read_sizes(const Program *p, const char *key, UOp **size)
{
	const Val *v = val_get(p->u->arg, key);
	const char *err = NULL;

	for (int i = 0; i < 3; i++)
		size[i] = ix_const(1);
	if (!v || v->kind == VAL_NIL)
		return;
	if (v->kind != VAL_ARRAY || v->n > 3)
		die(MALFORMED, "%s: '%s' is not an array of up to 3 sizes", p->where, key);
	for (size_t i = 0; i < v->n; i++)
		if (!(size[i] = size_from_val(v->a[i], &err)))
			die(MALFORMED, "%s: '%s': %s", p->where, key, err);
}

/* A grid on the CPU has one dimension. */
static void check_cpu_grid(const Program *p)
{
	UOp *one = ix_const(1);

	if (p->runtime == RUNTIME_CPU && (p->global[1] != one || p->global[2] != one ||
		p->local[0] != one || p->local[1] != one || p->local[2] != one))
		die(MALFORMED, "%s: a CPU's grid has one dimension and no local size", p->where);
}

static void read_work(Program *p)
{
	enum { UNKNOWN = 1000 };        /* assume that a grid is worth sharing */
	const Val *v = val_get(p->u->arg, "work");
	const char *err = NULL;

	p->work = !v || v == VNIL ? ix_const(UNKNOWN) : size_from_val(v, &err);
	if (!p->work)
		die(MALFORMED, "%s: 'work': %s", p->where, err);
}

static const Val *read_slots(const Program *p, const char *key)
{
	const Val *v = val_get(p->u->arg, key);

	if (!v || v->kind != VAL_ARRAY)
		die(MALFORMED, "%s: arg has no array '%s'", p->where, key);
	for (size_t i = 0; i < v->n; i++)
		if (v->a[i]->kind != VAL_INT || v->a[i]->i < 0 || (size_t)v->a[i]->i >= p->nslots)
			die(MALFORMED, "%s: '%s' names a slot that does not exist", p->where, key);
	return v;
}

static const char *source_digest(const char *src)
{
	Digest d = digest_of("source", src, strlen(src));
	return arena_strdup(digest_text(&d).s);
}

const char *program_entry(const Program *p)
{
	return p->entry ? p->entry : arena_printf("%s_call", p->name);
}

const char *program_suffix(const Program *p) { return p->ir ? ".o" : ".so"; }

static void program_read(Program *p, UOp *u)
{
	const Val *v = val_get(u->arg, "name");

	p->u = u;
	p->where = arena_printf("node %u PROGRAM (%s)", u->id, v && v->kind == VAL_STR ? v->s : "");
	p->name = text_at(p, "name", true);
	if (!is_identifier(p->name))
		die(MALFORMED, "%s: its name is not a C identifier", p->where);
	p->src = text_at(p, "src", true);
	p->digest = *p->src ? NULL : text_at(p, "digest", false);
	if (!p->digest)
		p->digest = source_digest(p->src);
	p->target = text_at(p, "target", true);
	p->flags = text_at(p, "flags", false);
	p->object = text_at(p, "object", false);
	p->entry = text_at(p, "entry", false);
	p->key = text_at(p, "object_key", false);
	p->runtime = runtime_of(p);
	p->ir = is_ir(p);
	flags_check(p);
	v = val_get(u->arg, "alone");
	p->alone = v && v->kind == VAL_BOOL && v->b;
	v = val_get(u->arg, "brief");
	p->brief = v && v->kind == VAL_BOOL && v->b;
	v = val_get(u->arg, "alternate");
	p->alternate = v && v->kind == VAL_BOOL && v->b;
	v = val_get(u->arg, "globals");
	if (!v || v->kind != VAL_ARRAY)
		die(MALFORMED, "%s: arg has no array 'globals'", p->where);
	p->nslots = v->n;
	p->ins = read_slots(p, "ins");
	p->outs = read_slots(p, "outs");
	v = val_get(u->arg, "vars");
	p->nvars = v && v->kind == VAL_ARRAY ? v->n : 0;
	p->vars = p->nvars ? v->a : NULL;
	for (size_t i = 0; i < p->nvars; i++)
		if (p->vars[i]->kind != VAL_STR)
			die(MALFORMED, "%s: 'vars' holds a value that is not a name", p->where);
	read_sizes(p, "global_size", p->global);
	read_sizes(p, "local_size", p->local);
	check_cpu_grid(p);
	read_work(p);
}

Programs programs_of(const Graph *g)
{
	Nodes nodes = walk(g->sink);
	Programs all = { arena_alloc((nodes.n + 1) * sizeof *all.at), 0 };
	Map seen = {0};

	for (size_t i = 0; i < nodes.n; i++) {
		UOp *call = nodes.at[i], *u = call->op == OP_CALL ? call->src[0] : NULL;
		if (!u)
			continue;
		if (u->op != OP_PROGRAM)
			die(MALFORMED, "node %u CALL: it calls a %s, not a PROGRAM", call->id,
				op_name(u->op));
		Program *p = map_get(&seen, u->id + 1);
		if (!p) {
			p = &all.at[all.n++];
			map_put(&seen, u->id + 1, p);
			program_read(p, u);
		}
		if (call->nsrc - 1 != val_get(u->arg, "globals")->n)
			die(MALFORMED, "node %u CALL: %u buffers for a PROGRAM of %zu", call->id,
				call->nsrc - 1, val_get(u->arg, "globals")->n);
	}
	map_free(&seen);
	return all;
}

static UOp *put_object(UOp *u, void *ctx)
{
	const Program *p = u->op == OP_PROGRAM ? map_get(ctx, u->id + 1) : NULL;
	const Val *arg = u->arg;
	UOp *v;

	if (!p || p->given || (!p->object && !val_get(arg, "object")))
		return u;
	arg = val_set(val_set(arg, "object_hash", NULL), "object", NULL);
	arg = p->object ? val_set(arg, "object", val_str(p->object)) : arg;
	/* without a key the mark gets the hash of its bytes */
	arg = val_set(arg, "object_key", p->object && p->made ? val_str(p->made) : NULL);
	arg = val_set(arg, "entry", p->object && p->entry ? val_str(p->entry) : NULL);
	v = node_new(OP_PROGRAM, u->dtype, u->nsrc, u->src, arg);
	if (u->note != VNIL)
		node_note(v, u->note);
	return v;
}

Graph *programs_put(const Graph *g, const Programs *p)
{
	Graph *out = arena_alloc(sizeof *out);
	Map by = {0};

	for (size_t i = 0; i < p->n; i++)
		map_put(&by, p->at[i].u->id + 1, &p->at[i]);
	*out = *g;
	out->sink = walk_replace(g->sink, put_object, &by);
	out->all = (Nodes){ NULL, 0 };
	out->raw = false;
	map_free(&by);
	return out;
}
