/* Matches operands with the document: every input BUFFER gets its content, every size variable its
 * value.
 *
 *     run g.mp x=x.npy w=rand n=32        x [n,4] f32 from a file: n must be its first size
 *     run g.mp @0=x.npy                   by position among the inputs
 *     run g.mp t=0.5 x=1,2,3              numbers: one for all, or the elements of one axis
 *
 * A size variable takes its value from NAME=INT and from axes whose size is just its name; all
 * values must agree. */
#include "arrays/arrays.h"
#include "io/io.h"
#include "session/session.h"
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

bool binding_parse(const char *operand, Binding *b)
{
	const char *eq = strchr(operand, '=');

	if (!eq || eq == operand)
		return false;
	*b = (Binding){xstrndup(operand, eq - operand), eq + 1, false}; /* outlives the document */
	return true;
}

/* ---- sizes of a buffer */

static const char *buffer_where(const UOp *u)
{
	return arena_printf("node %u BUFFER (%s)", u->id, buffer_name(u));
}

void buffer_array(const UOp *u, const VarEnv *env, Array *out)
{
	int64_t count = 1, bytes;

	memset(out, 0, sizeof *out);
	out->dtype = u->dtype;
	out->rank = u->shape->rank;
	for (int i = 0; i < out->rank; i++) {
		if (!ix_eval(u->shape->dim[i], env, &out->dim[i]))
			die(MALFORMED, "%s: the size of axis %d has no value", buffer_where(u), i);
		if (out->dim[i] < 0)
			die(MALFORMED, "%s: the size of axis %d is %lld", buffer_where(u), i,
				(long long)out->dim[i]);
		if (!mul_ok(count, out->dim[i] ? out->dim[i] : 1, &count))
			die(MALFORMED, "%s: too many elements", buffer_where(u));
	}
	if (!mul_ok(array_count(out), dtype_size(u->dtype), &bytes) || bytes >= (int64_t)1 << 62)
		die(MALFORMED, "%s: too many elements", buffer_where(u));
	out->bytes = bytes;
}

/* ---- variables */

static const int64_t *env_get(const VarEnv *env, const char *name)
{
	for (int i = 0; i < env->n; i++)
		if (!strcmp(env->name[i], name))
			return &env->value[i];
	return NULL;
}

static void var_set(const Graph *g, VarEnv *env, const char *name, int64_t v, const char *from)
{
	const Val *range = val_get(g->vars, name);
	const int64_t *is = env_get(env, name);

	if (is && *is != v)
		die(MALFORMED, "%s: size variable '%s' is %lld here and %lld elsewhere", from, name,
			(long long)v, (long long)*is);
	if (is)
		return;
	if (range && range->kind == VAL_ARRAY && range->n == 2 &&
		(v < range->a[0]->i || v > range->a[1]->i))
		die(MALFORMED, "%s: size variable '%s' is %lld, outside %lld to %lld", from, name,
			(long long)v, (long long)range->a[0]->i, (long long)range->a[1]->i);
	if (env->n == sizeof env->value / sizeof *env->value)
		die(UNSUPPORTED, "more than %d size variables", env->n);
	env->name[env->n] = name;
	env->value[env->n++] = v;
}

static void vars_from_operands(const Graph *g, Bindings *b, VarEnv *env)
{
	for (size_t i = 0; i < b->n; i++) {
		char *end;
		long long v;
		if (!val_get(g->vars, b->at[i].name))
			continue;
		errno = 0;
		v = strtoll(b->at[i].value, &end, 10);
		if (errno || *end || end == b->at[i].value)
			die(USAGE, "size variable '%s' is given '%s', not an integer",
				b->at[i].name, b->at[i].value);
		var_set(g, env, b->at[i].name, v, "operand");
		b->at[i].used = true;
	}
}

/* The sizes in a node: those of its shape, and the bounds of PAD and SHRINK. */
typedef VEC(UOp *) Sizes;

static void sizes_of(const UOp *u, Sizes *v)
{
	UOp *pair[MAX_RANK][2];

	if (u->op == OP_VAR)
		vec_push(v, (UOp *)u);
	for (int i = 0; u->shape && i < u->shape->rank; i++)
		vec_push(v, u->shape->dim[i]);
	if (u->op == OP_PAD || u->op == OP_SHRINK) {
		arg_pairs(u->arg, pair);
		for (size_t i = 0; i < u->arg->n; i++) {
			vec_push(v, pair[i][0]);
			vec_push(v, pair[i][1]);
		}
	}
}

/* Checks that every variable that the document needs has a value. */
static void vars_check(const Graph *g, const VarEnv *env)
{
	Sizes sizes = {0};
	Nodes all = walk(g->sink);

	if (g->vars == VNIL || !g->vars->n)
		return;
	for (size_t i = 0; i < all.n; i++)
		sizes_of(all.at[i], &sizes);
	all = walk_many(sizes.n, sizes.at);
	for (size_t i = 0; i < all.n; i++)
		if (all.at[i]->op == OP_VAR && !var_is_bound(all.at[i]) &&
			!env_get(env, all.at[i]->arg->a[0]->s))
			die(MALFORMED,
				"size variable '%s' has no value: give an input with it, or %s=INT",
				all.at[i]->arg->a[0]->s, all.at[i]->arg->a[0]->s);
	vec_free(&sizes);
}

static UOp *checked_size(const Val *v)
{
	const char *err = NULL;
	UOp *u = size_from_val(v, &err);

	if (!u)
		die(MALFORMED, "meta.checks: %s", err ? err : "no size");
	return u;
}

/* meta.checks has the conditions that trace could not decide: rows ["eq" or "le", a, b]. */
void checks_make(const Graph *g, const VarEnv *env)
{
	const Val *checks = val_get(g->meta, "checks");

	for (size_t i = 0; checks && checks->kind == VAL_ARRAY && i < checks->n; i++) {
		const Val *c = checks->a[i];
		int64_t a, b;
		if (c->kind != VAL_ARRAY || c->n != 3 || c->a[0]->kind != VAL_STR)
			die(MALFORMED, "meta.checks: row %zu is not [how, size, size]", i);
		bool le = val_is_str(c->a[0], "le");
		UOp *x = checked_size(c->a[1]), *y = checked_size(c->a[2]);
		if (!ix_eval(x, env, &a) || !ix_eval(y, env, &b))
			continue;
		if (le ? a > b : a != b)
			die(MALFORMED, "the sizes do not match: %s is %lld, %s %s, %lld",
				shape_text(shape_new(1, &x)), (long long)a,
				le ? "more than" : "not",
				shape_text(shape_new(1, &y)), (long long)b);
	}
}

/* ---- contents */

/* Of a file, standard input ("-") or an endpoint: by its first bytes, but for .safetensors. */
static Array file_read(const UOp *u, const char *path)
{
	size_t n;

	if (name_ends(path, ".safetensors"))
		return safetensors_read(path, buffer_name(u));
	const void *p = file_map(path, &n);
	if (name_ends(path, ".npz") || (n > 2 && !memcmp(p, "PK", 2)))
		return npz_read(path, buffer_name(u), u->dtype);
	return npy_read(path, u->dtype);
}

/* --cast: to the dtype of the input. Floats are rounded to it; an integer has to be one of its. */
static Array cast_to(const UOp *u, const char *path, Array a)
{
	Array to = array_raw(u->dtype, a.rank, a.dim);
	int64_t n = array_count(&a);
	void *back = dtype_float(u->dtype) ? NULL : xmalloc(a.bytes + 1);

	interp_cast(u->dtype, to.data, a.dtype, a.data, n);
	if (back)
		interp_cast(a.dtype, back, u->dtype, to.data, n);
	if (back && memcmp(back, a.data, a.bytes))
		die(MALFORMED, "%s: '%s' holds %s, of which not all are %s", buffer_where(u), path,
			dtype_name(a.dtype), dtype_name(u->dtype));
	free(back);
	array_free(&a);
	return to;
}

/* Reads the file for the next of the inputs and sets variables from its shape. Other sizes are
 * compared later, when all variables have values. */
/* What is neither a file nor looks like one's name may be a word that was meant. */
static void check_word(const char *path)
{
	static const char *const words[] = {"rand", "zeros"};
	Nearest near = {.word = path};

	if (strpbrk(path, "./") || !access(path, F_OK))
		return;
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		nearest_try(&near, words[i]);
	if (*nearest_hint(&near))
		die(FAILED, "%s: cannot open: no such file%s", path, nearest_hint(&near));
}

static Array input_read(
	const Graph *g, const UOp *u, const char *path, Inputs *r, Feeds *f, bool cast)
{
	check_word(path);
	Array a = file_read(u, path);
	VarEnv *env = &r->env;

	if (a.dtype != u->dtype && cast)
		a = cast_to(u, path, a);
	if (a.dtype != u->dtype)
		die(MALFORMED, "%s: '%s' holds %s, not %s (--cast takes it)", buffer_where(u), path,
			dtype_name(a.dtype), dtype_name(u->dtype));
	if (a.rank != u->shape->rank)
		die(MALFORMED, "%s: '%s' has %d axes, not %d", buffer_where(u), path, a.rank,
			u->shape->rank);
	r->fed[r->n] = feeds_take(f, path, u, r->n, env, &a);
	for (int i = 0; i < a.rank; i++) {
		const UOp *d = u->shape->dim[i];
		if (d->op == OP_VAR)
			var_set(g, env, d->arg->a[0]->s, a.dim[i], buffer_where(u));
	}
	return a;
}

static void shape_check(const UOp *u, const Array *a, const VarEnv *env)
{
	Array want;

	buffer_array(u, env, &want);
	for (int i = 0; i < a->rank; i++)
		if (a->dim[i] != want.dim[i])
			die(MALFORMED, "%s: axis %d has size %lld, not %lld", buffer_where(u), i,
				(long long)a->dim[i], (long long)want.dim[i]);
}

/* splitmix64 */
static uint64_t next_random(uint64_t *s)
{
	uint64_t z = *s += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

/* Fills with floats uniform in [0, 1) or integers 0 … 9, which depend on the name alone. */
static void fill_random(const char *name, Array *a)
{
	uint64_t s = hash_bytes(name, strlen(name), 1);
	int64_t n = array_count(a);
	size_t size = dtype_size(a->dtype);

	for (int64_t i = 0; i < n; i++) {
		uint64_t r = next_random(&s);
		float f = (float)(r >> 40) / 16777216.0f;
		int64_t k = a->dtype == DT_BOOL ? r >> 63 : (r >> 32) % 10;
		if (dtype_float(a->dtype))
			interp_cast(a->dtype, (char *)a->data + i * size, DT_F32, &f, 1);
		else
			interp_cast(a->dtype, (char *)a->data + i * size, DT_I64, &k, 1);
	}
}

/* ---- numbers in place of a file: "0.5" fills the input, "1,2,3" and "1," are its elements */

/* How many comma-separated numbers s holds (a comma at the end is allowed); 0 when it is something
 * else. */
static size_t numbers_in(const char *s)
{
	size_t n = 0;
	char *end;

	for (; *s; s = end + (*end == ',')) {
		strtod(s, &end);
		if (end == s || (*end && *end != ','))
			return 0;
		n++;
	}
	return n;
}

/* Whether an integer is one of the dtype's, as the text language has it: 300 is no u8. */
static bool holds(DType dt, DType wide, const void *value)
{
	int64_t narrow = 0, back;
	bool negative = wide == DT_I64 && *(const int64_t *)value < 0;

	interp_cast(dt, &narrow, wide, value, 1);
	interp_cast(wide, &back, dt, &narrow, 1);
	return back == *(const int64_t *)value && !(negative && !dtype_signed(dt)) &&
		!(wide == DT_U64 && dtype_signed(dt));
}

/* Stores the next number for u, integers exactly; returns the text after it. */
static const char *number_put(const UOp *u, const char *s, void *to)
{
	char *end, *whole;
	double f = strtod(s, &end);

	errno = 0;
	long long i = strtoll(s, &whole, 10);
	bool large = errno != 0, below = large && i < 0;
	errno = 0;
	unsigned long long big = large ? strtoull(s, NULL, 10) : 0;
	bool beyond = errno != 0;
	const void *from = large ? (const void *)&big : &i;
	DType wide = large ? DT_U64 : DT_I64;
	bool exact = whole == end && !below && !beyond;
	if (exact && (dtype_float(u->dtype) || holds(u->dtype, wide, from)))
		interp_cast(u->dtype, to, wide, from, 1);
	else if (dtype_float(u->dtype))
		interp_cast(u->dtype, to, DT_F64, &f, 1);
	else
		die(USAGE, "%s: %.*s does not fit %s", buffer_where(u),
			(int)strcspn(s, ",") < 80 ? (int)strcspn(s, ",") : 80, s,
			dtype_name(u->dtype));
	return end + (*end == ',');
}

static Array input_listed(const Graph *g, const UOp *u, const char *list, VarEnv *env)
{
	int64_t n = numbers_in(list);

	if (u->shape->rank != 1)
		die(USAGE, "%s: a list of numbers is for an input of one axis, not %s",
			buffer_where(u), shape_text(u->shape));
	if (u->shape->dim[0]->op == OP_VAR)
		var_set(g, env, u->shape->dim[0]->arg->a[0]->s, n, buffer_where(u));
	Array a = array_new(u->dtype, 1, &n);
	for (int64_t i = 0; i < n; i++)
		list = number_put(u, list, (char *)a.data + i * dtype_size(u->dtype));
	return a;
}

static void fill_number(const UOp *u, const char *number, Array *a)
{
	for (size_t at = 0; at < a->bytes; at += dtype_size(u->dtype))
		number_put(u, number, (char *)a->data + at);
}

static Array input_generated(const UOp *u, const char *how, const VarEnv *env)
{
	Array a;

	buffer_array(u, env, &a);
	a = array_new(a.dtype, a.rank, a.dim);
	if (!strcmp(how, "rand"))
		fill_random(buffer_name(u), &a);
	else if (strcmp(how, "zeros"))
		fill_number(u, how, &a);
	return a;
}

/* ---- names and positions */

static bool is_input(const UOp *u)
{
	return u->op == OP_BUFFER && buffer_is(u, "input");
}

/* The BUFFER of a row [name, dtype, shape] of meta.sized; NULL when the row has another form. */
static UOp *input_sized(const Val *row)
{
	const char *err = NULL;
	int status;

	if (row->kind != VAL_ARRAY || row->n != 3 || row->a[0]->kind != VAL_STR ||
		row->a[1]->kind != VAL_STR)
		return NULL;
	return node_try(OP_BUFFER, dtype_find(row->a[1]->s), 0, NULL,
		VMAP(val_str("name"), row->a[0], val_str("shape"), row->a[2], val_str("role"),
			val_str("input")),
		&err, &status);
}

/* Every input of the document: those that the sink reaches, others that are still in it, and those
 * of which only the size is used. */
static Nodes inputs_all(const Graph *g)
{
	const Val *sized = val_get(g->meta, "sized");
	size_t extra = sized && sized->kind == VAL_ARRAY ? sized->n : 0;
	Nodes all = g->all.n ? g->all : walk(g->sink);
	Nodes in = {arena_alloc((all.n + extra + 1) * sizeof *in.at), 0};

	for (size_t i = 0; i < all.n; i++)
		if (is_input(all.at[i]))
			in.at[in.n++] = all.at[i];
	for (size_t i = 0; i < extra; i++) {
		UOp *u = input_sized(sized->a[i]);
		size_t k = 0;
		while (u && k < in.n && strcmp(buffer_name(in.at[k]), buffer_name(u)))
			k++;
		if (u && k == in.n)
			in.at[in.n++] = u;
	}
	return in;
}

Graph inputs_written(const Graph *g)
{
	Graph r = *g;
	Nodes in = inputs_all(g);
	const Val **name = arena_alloc((in.n + 1) * sizeof *name);

	for (size_t i = 0; i < in.n; i++)
		name[i] = val_str(buffer_name(in.at[i]));
	if (g->level <= LV_GRAPH && !val_get(g->meta, "inputs"))
		r.meta = val_set(g->meta, "inputs", val_array(in.n, name));
	return r;
}

/* The name of input "@K": in the user's order of meta.inputs, which later levels may lack. */
static const char *name_at(const Graph *g, const Nodes *in, const char *at)
{
	const Val *names = val_get(g->meta, "inputs");
	size_t n = names && names->kind == VAL_ARRAY ? names->n : in->n;
	char *end;
	unsigned long k = strtoul(at + 1, &end, 10);

	if (*end || end == at + 1 || at[1] < '0' || at[1] > '9')
		die(USAGE, "'%s' is not @ and a number", at);
	if (k >= n)
		die(USAGE, "there is no input %s: the document has only %zu", at, n);
	if (!names || names->kind != VAL_ARRAY)
		return buffer_name(in->at[k]);
	return names->a[k]->kind == VAL_STR ? names->a[k]->s : "";
}

static bool name_known(const Graph *g, const char *name)
{
	const Val *names = val_get(g->meta, "inputs");

	if (!names || names->kind != VAL_ARRAY)
		return false;
	for (size_t i = 0; i < names->n; i++)
		if (val_is_str(names->a[i], name))
			return true;
	return false;
}

/* A sequence is given as a folder; each of its elements is an input (meta.sequences). */
static void match_sequence(const Val *elements, const Nodes *in, const char *folder,
	const char **value)
{
	for (size_t i = 0; i < elements->n; i++)
		for (size_t k = 0; k < in->n; k++)
			if (val_is_str(elements->a[i], buffer_name(in->at[k])))
				value[k] = arena_printf("%s/%zu.npy", folder, i);
	if (!access(arena_printf("%s/%zu.npy", folder, elements->n), F_OK))
		die(MALFORMED, "'%s' has more elements than the sequence was traced with, %zu",
			folder, elements->n);
}

static void name_tried(Nearest *near, Buf *all, const char *name)
{
	nearest_try(near, name);
	buf_printf(all, "%s%s", all->n ? ", " : "", name);
}

static _Noreturn void no_operand(const Graph *g, const Nodes *in, const char *name)
{
	Nearest near = {.word = name};
	Buf all = {0};

	for (size_t k = 0; k < in->n; k++)
		name_tried(&near, &all, buffer_name(in->at[k]));
	for (size_t k = 0; g->vars->kind == VAL_MAP && k < g->vars->n; k++)
		name_tried(&near, &all, g->vars->a[2 * k]->s);
	if (*nearest_hint(&near))
		die(USAGE, "the document has no input or size variable '%s'%s", name,
			nearest_hint(&near));
	die(USAGE, "the document has no input or size variable '%s'%s%s", name,
		all.n ? "; it has " : "", all.n ? buf_str(&all) : "");
}

/* The operand for each input, NULL if there is none. */
static const char **operands_match(const Graph *g, const Nodes *in, Bindings *b)
{
	const char **value = arena_alloc((in->n + 1) * sizeof *value);

	for (size_t i = 0; i < b->n; i++) {
		Binding *o = &b->at[i];
		const char *name = o->name[0] == '@' ? name_at(g, in, o->name) : o->name;
		const Val *elements = val_get(val_get(g->meta, "sequences"), name);
		bool found = o->used || name_known(g, name);
		if (elements && elements->kind == VAL_ARRAY)
			match_sequence(elements, in, o->value, value);
		for (size_t k = 0; k < in->n && !o->used; k++)
			if (!strcmp(buffer_name(in->at[k]), name)) {
				if (value[k])
					die(USAGE, "input '%s' is given twice", name);
				value[k] = o->value;
				found = true;
			}
		if (!found && (g->level <= LV_GRAPH || val_get(g->meta, "inputs")))
			no_operand(g, in, name);
		if (!found)
			warn("the document has no input or size variable '%s'", name);
	}
	return value;
}

/* Whether the input's content is generated, once all sizes are known. */
static bool is_generated(const char *value)
{
	return !strcmp(value, "rand") || !strcmp(value, "zeros") ||
		(numbers_in(value) == 1 && !strchr(value, ','));
}

/* An input whose value trace assumed (meta.assumed) must have that value. */
static void assumed_check(const Graph *g, const UOp *u, const Array *a)
{
	const Val *v = val_get(val_get(g->meta, "assumed"), buffer_name(u));

	if (v && v->kind == VAL_BIN && (v->n != a->bytes || (v->n && memcmp(v->s, a->data, v->n))))
		die(MALFORMED, "input '%s': its value is not the one that trace assumed for shapes",
			buffer_name(u));
}

Inputs inputs_bind(const Graph *g, Bindings *b, Feeds *f, bool cast)
{
	Nodes in = inputs_all(g), live = walk(g->sink);
	Inputs r = {
		.buffer = arena_alloc((in.n + 1) * sizeof *r.buffer),
		.at = arena_alloc((in.n + 1) * sizeof *r.at),
		.fed = arena_alloc(in.n + 1),
	};
	const char **value;
	Map needed = {0};

	for (size_t i = 0; i < b->n; i++)
		b->at[i].used = false;
	vars_from_operands(g, b, &r.env);
	value = operands_match(g, &in, b);
	for (size_t i = 0; i < live.n; i++)
		if (is_input(live.at[i]))
			map_put(&needed, live.at[i]->id + 1, live.at[i]);
	for (size_t i = 0; i < in.n; i++) {
		if (!value[i] && map_get(&needed, in.at[i]->id + 1))
			die(MALFORMED, "input '%s' is missing: give %s=FILE.npy",
				buffer_name(in.at[i]), buffer_name(in.at[i]));
		if (!value[i])
			continue;
		r.buffer[r.n] = in.at[i];
		if (numbers_in(value[i]) && !is_generated(value[i]))
			r.at[r.n] = input_listed(g, in.at[i], value[i], &r.env);
		else if (!is_generated(value[i]))
			r.at[r.n] = input_read(g, in.at[i], value[i], &r, f, cast);
		value[r.n++] = value[i];
	}
	map_free(&needed);
	vars_check(g, &r.env);
	checks_make(g, &r.env);
	for (size_t i = 0; i < r.n; i++) {
		if (is_generated(value[i]))
			r.at[i] = input_generated(r.buffer[i], value[i], &r.env);
		else
			shape_check(r.buffer[i], &r.at[i], &r.env);
		assumed_check(g, r.buffer[i], &r.at[i]);
	}
	return r;
}

const Array *input_of(const Inputs *in, const UOp *buffer)
{
	for (size_t i = 0; i < in->n; i++)
		if (in->buffer[i] == buffer)
			return &in->at[i];
	for (size_t i = 0; i < in->n; i++)
		if (!strcmp(buffer_name(in->buffer[i]), buffer_name(buffer)))
			return &in->at[i];
	return NULL;
}
