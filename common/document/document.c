/* Builds a document from its parts and checks each as it is added.
 *
 * The readers of bytes and of text add nodes here one by one: op, dtype, positions of the sources,
 * arg, note. The result is a graph whose nodes all have shapes. Errors have one form:
 *     node 17 ADD (h): shapes [3,4] and [5] do not match
 */
#include "document/document.h"
#include "shape/regions.h"
#include <ctype.h>
#include <stdlib.h>

/* The name of an op or a dtype, and its number. */
typedef struct { char text[20]; uint8_t n; int16_t value; } KnownName;

struct Doc {
	Level level;
	const Val *vars, *meta;
	bool raw, ended;
	VEC(UOp *) nodes;
	NodeList src;
	Steps steps;
	KnownName ops[256], dtypes[256];
};

static int by_address(const void *a, const void *b)
{
	const Val *x = *(const Val *const *)a, *y = *(const Val *const *)b;
	return x < y ? -1 : x > y;
}

/* Keys are interned, so equal keys are the same Val. */
const Val *val_key_twice(size_t n, const Val *const *kv)
{
	const Val *found = NULL;
	if (n <= 12) {
		for (size_t i = 1; i < n; i++)
			for (size_t k = 0; k < i; k++)
				if (kv[2 * i] == kv[2 * k])
					return kv[2 * i];
		return NULL;
	}
	const Val **key = xmalloc(n * sizeof *key);
	for (size_t i = 0; i < n; i++)
		key[i] = kv[2 * i];
	qsort(key, n, sizeof *key, by_address);
	for (size_t i = 1; i < n; i++)
		if (key[i] == key[i - 1])
			found = key[i];
	free(key);
	return found;
}

static const char *bad_var(const Val *name, const Val *bounds)
{
	const char *s = name->s;
	bool ok = name->n > 0 && name->n < 256 && !isdigit((unsigned char)s[0]);
	for (size_t i = 0; i < name->n; i++)
		ok &= isalnum((unsigned char)s[i]) || s[i] == '_';
	if (!ok)
		return arena_printf("vars: '%.40s' is not a name", s);
	if (bounds->kind != VAL_ARRAY || bounds->n != 2 || bounds->a[0]->kind != VAL_INT ||
		bounds->a[1]->kind != VAL_INT)
		return arena_printf("vars: %.40s: not [min, max]", s);
	int64_t lo = bounds->a[0]->i, hi = bounds->a[1]->i;
	if (lo < 0 || lo > hi)
		return arena_printf("vars: %.40s: [%lld, %lld] is not 0 ≤ min ≤ max", s,
			(long long)lo, (long long)hi);
	return NULL;
}

Doc *doc_begin(Level level, const Val *vars, const Val *meta, int flags, const char **err)
{
	*err = NULL;
	if (vars->kind != VAL_MAP && vars->kind != VAL_NIL)
		*err = "vars is not a map";
	else if (meta->kind != VAL_MAP && meta->kind != VAL_NIL)
		*err = "meta is not a map";
	for (size_t i = 0; !*err && i < vars->n; i++)
		*err = bad_var(vars->a[2 * i], vars->a[2 * i + 1]);
	vars_unbind();
	if (level == LV_GRAPH)
		sizes_defer();
	if (!*err)
		*err = vars_declare(vars);
	if (*err)
		return NULL;
	Doc *d = arena_alloc(sizeof *d);
	d->level = level;
	d->vars = vars;
	d->meta = meta;
	d->raw = flags & READ_RAW;
	return d;
}

/* The name of a node in parentheses, or "". */
static const char *known_as(const Val *arg, const Val *note)
{
	const Val *name = val_get(note, "name");
	if (!name)
		name = val_get(arg, "name");
	return name && name->kind == VAL_STR && name->n ? arena_printf(" (%.80s)", name->s) : "";
}

/* There are few ops and dtypes, but they are looked up a million times: a small hash table. */
static int find_known(KnownName *table, const char *s, size_t n, bool dtype)
{
	char name[sizeof table->text] = "";
	if (n == 0 || n >= sizeof name)
		return dtype ? DT_NONE : -1;
	KnownName *k = &table[(s[0] * 31 + s[n - 1] * 7 + s[n / 2] + n) & 255];
	if (k->n == n && !memcmp(k->text, s, n))
		return k->value;
	if (memchr(s, 0, n))
		return dtype ? DT_NONE : -1;
	memcpy(name, s, n);
	k->value = dtype ? (int)dtype_find_lanes(name) : op_find(name);
	memcpy(k->text, s, n);
	k->n = n;
	return k->value;
}

static bool function_name(const char *s, size_t n)
{
	bool ok = n > 0 && n < 256 && (islower((unsigned char)s[0]) || s[0] == '_');
	for (size_t i = 0; i < n; i++)
		ok &= islower((unsigned char)s[i]) || isdigit((unsigned char)s[i]) || s[i] == '_';
	return ok;
}

/* "node 17 ADD (h): why" */
static const char *message(
	const Doc *d, const char *op, size_t nop, const Val *arg, const Val *note, const char *why)
{
	int n = nop < 40 ? nop : 40;
	while (n && n < nop && ((unsigned char)op[n] & 0xc0) == 0x80)
		n--;
	return arena_printf("node %zu %.*s%s: %s", d->nodes.n, n, op, known_as(arg, note), why);
}

static const char *take_sources(Doc *d, size_t nsrc, const uint64_t *src)
{
	d->src.n = 0;
	for (size_t i = 0; i < nsrc; i++) {
		if (src[i] >= d->nodes.n)
			return arena_printf("source %zu is not an earlier node", i);
		vec_push(&d->src, d->nodes.at[src[i]]);
	}
	return NULL;
}

/* folder/path, without what leads out of a folder again: the folder's path has no links. */
static const char *joined(const char *folder, const char *path)
{
	size_t n = strcmp(folder, "/") ? strlen(folder) : 0;
	while (path[0] == '.' && (path[1] == '/' || !strncmp(path + 1, "./", 2))) {
		for (bool out = path[1] == '.' && n; out && folder[--n] != '/';)
			;
		path += path[1] == '.' ? 3 : 2;
	}
	return arena_printf("%.*s/%s", (int)n, folder, path);
}

/* The arg of a BUFFER whose file is relative to the document's folder, with an absolute path. */
static const Val *from_folder(const Val *arg)
{
	const Val *file = val_get(arg, "file"), *at[4];
	if (!file || file->kind != VAL_ARRAY || !file->n || file->n > 4 ||
		file->a[0]->kind != VAL_STR || file->a[0]->s[0] == '/')
		return arg;
	memcpy(at, file->a, file->n * sizeof *at);
	at[0] = val_str(joined(process.folder, file->a[0]->s));
	return val_set(arg, "file", val_array(file->n, at));
}

/* Makes the node, or sets *err. Functions of the tensor library have neither dtype nor shape yet.
 */
static UOp *make(
	Doc *d, Op op, DType dt, const Val *arg, const Val *note, const char **err, int *status)
{
	UOp *u;
	*err = NULL;
	if (op == OP_CUSTOM && !process.custom_allowed) {
		*status = UNSUPPORTED;
		*err = custom_refusal;
		return NULL;
	}
	if (d->level == LV_TENSOR)
		return (*err = steps_written(op, d->src.n, arg)) ? NULL :
			node_plain(op, dt, d->src.n, d->src.at, arg, note);
	if (!d->raw && d->level == LV_GRAPH &&
		(*err = steps_complete(&d->steps, op, &d->src, &arg)))
		return NULL;
	if (!d->raw) {
		u = node_try(op, dt, d->src.n, d->src.at, arg, err, status);
		if (u)
			node_note(u, note);
		return u;
	}
	const Shape *shape = NULL;
	if (op == OP_CONST && !const_normal(dt, arg))
		*err = arena_printf("the value does not fit %s", dtype_name(dt));
	else
		*err = node_infer(op, dt, d->src.n, d->src.at, arg, &shape, status);
	if (*err)
		return NULL;
	u = node_plain(op, dt, d->src.n, d->src.at, arg, note);
	u->shape = shape;
	return u;
}

const char *doc_node(Doc *d, const char *op, size_t nop, const char *dtype, size_t ndtype,
	size_t nsrc, const uint64_t *src, const Val *arg, const Val *note, int *status)
{
	const char *err = NULL;
	*status = MALFORMED;
	int o = find_known(d->ops, op, nop, false);
	DType dt = dtype ? find_known(d->dtypes, dtype, ndtype, true) : DT_NONE;
	if (o == OP_FUNC)
		o = -1;
	if (o < 0 && d->level == LV_TENSOR && function_name(op, nop)) {
		o = OP_FUNC;
		arg = VARR(val_strn(op, nop), arg);
	}
	if (d->ended)
		err = "comes after the SINK";
	else if (o < 0)
		err = "there is no such op";
	else if (dtype && dt == DT_NONE)
		err = arena_printf("'%.*s' is not a dtype", ndtype < 20 ? (int)ndtype : 20, dtype);
	else
		err = take_sources(d, nsrc, src);
	if (o == OP_SINK)
		arg = sink_plain_arg(arg);
	if (o == OP_BUFFER && process.folder)
		arg = from_folder(arg);
	UOp *u = err ? NULL : make(d, o, dt, arg, note, &err, status);
	if (u && d->level > LV_TENSOR)
		err = steps_add(&d->steps, u);
	if (err)
		return message(d, op, nop, arg, note, err);
	d->ended = o == OP_SINK;
	vec_push(&d->nodes, u);
	return NULL;
}

Graph *doc_end(Doc *d, const char **err)
{
	*err = !d->nodes.n ? "there are no nodes"
		: !d->ended ? "the last node is not a SINK" : NULL;
	if (*err)
		return NULL;
	Graph *g = arena_alloc(sizeof *g);
	g->level = d->level;
	g->vars = d->vars;
	g->meta = d->meta;
	g->raw = d->raw;
	g->sink = d->nodes.at[d->nodes.n - 1];
	g->all.n = d->nodes.n;
	g->all.at = arena_alloc(d->nodes.n * sizeof *g->all.at);
	memcpy(g->all.at, d->nodes.at, d->nodes.n * sizeof *g->all.at);
	vec_free(&d->nodes);
	vec_free(&d->src);
	steps_free(&d->steps);
	return g;
}
