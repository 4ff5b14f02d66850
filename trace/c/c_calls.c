/* The functions that a program in C calls through the table of tensor.h. It refers to values by
 * number and to functions of the library by name.
 *
 *     sum(x, KW(axis, 0))    call("sum", x, call(".named", "axis", 0))    →
 *     REDUCE …, noted with {loc: "arm.c:12"}
 *
 * A word with a dot names a function of the header itself. Arithmetic on sizes and numbers is
 * computed, as in the text language. */
#include "io/io.h"
#include "text/text.h"
#include "c/c_program.h"
#include <stdlib.h>

enum { MAX_CALLS = 4000000, MAX_LIST = 1 << 20 };

/* RANGE is start:stop:step; NAMED is an argument with its parameter's name; MARK is ALL, REST or
 * NEW, by its word; BAD is an invalid string, which the call that receives it reports, since only
 * the call has a place. */
typedef enum { H_VALUE, H_NAMED, H_RANGE, H_MARK, H_BAD } Form;
typedef struct {
	Form form;
	Value v;
	const char *s;
	Value *part;
	const SluicePlace *closed;      /* the step in whose body it was made, which has ended */
} Handle;

static ARENA VEC(Handle *) handles;
static ARENA size_t calls;
static ARENA SluicePlace here;

/* ---- places */

SluicePlace c_place(void) { return here; }

const char *c_place_text(SluicePlace at)
{
	return arena_printf("%s:%d", at.file ? at.file : "?", at.line);
}

static void set_place(SluicePlace at)
{
	here = at;
	process.where = at.file ? c_place_text(at) : NULL;
	if (++calls > MAX_CALLS)
		die(MALFORMED, "the program makes more than %d calls", MAX_CALLS);
}

/* ---- values by number */

static SluiceValue handle(Handle h)
{
	Handle *p = arena_alloc(sizeof *p);
	*p = h;
	vec_push(&handles, p);
	return (SluiceValue){handles.n};
}

static SluiceValue given(Value v) { return handle((Handle){.form = H_VALUE, .v = v}); }

static const Handle *taken(SluiceValue v)
{
	if (!v.id)
		die(MALFORMED, "a Tensor that was never given a value");
	if (v.id > handles.n)
		die(MALFORMED, "a Tensor that is none: number %lu", (unsigned long)v.id);
	const Handle *h = handles.at[v.id - 1];
	if (h->closed)
		die(MALFORMED,
			"a Tensor of the body at %s, used behind it: give its variable to the loop "
			"or branch",
			c_place_text(*h->closed));
	return h;
}

SluiceValue c_given(const Value *v) { return given(*v); }

const Value *c_value(SluiceValue v)
{
	const Handle *h = taken(v);
	if (h->form != H_VALUE)
		die(MALFORMED, "%s", h->form == H_BAD ? h->s : "a part of an index, or an argument "
			"by name, where a value belongs");
	return &h->v;
}

size_t c_values(void) { return handles.n; }

void c_close(size_t from, SluicePlace step)
{
	SluicePlace *at = arena_alloc(sizeof *at);
	*at = step;
	for (size_t i = from; i < handles.n; i++)
		if (!handles.at[i]->closed)
			handles.at[i]->closed = at;
}

static Value plain(SluiceValue v)
{
	const Handle *h = taken(v);
	if (h->form == H_NAMED)
		die(MALFORMED, "the argument %.60s by name stands where none can", h->s);
	if (h->form == H_BAD)
		die(MALFORMED, "%s", h->s);
	if (h->form != H_VALUE)
		die(MALFORMED, "a part of an index stands outside of at(…)");
	return h->v;
}

static const char *word_text(SluiceValue v, const char *what)
{
	Value x = plain(v);
	if (x.kind != V_STR)
		die(MALFORMED, "%s is %s, expected a text", what, value_text(&x));
	return x.s;
}

/* ---- the words of the header */

static void word_count(const Words *w, size_t least, size_t most, const char *what)
{
	if (w->n < least || w->n > most)
		die(MALFORMED, "%s: %zu arguments, it takes %s%zu", what, w->n,
			least < most ? "at most " : "", most);
}

static SluiceValue word_list(const Words *w)
{
	if (w->n > MAX_LIST)
		die(MALFORMED, "a list of more than %d elements", MAX_LIST);
	Value *at = arena_alloc((w->n + 1) * sizeof *at);
	for (size_t i = 0; i < w->n; i++)
		at[i] = plain(w->arg[i]);
	return given(v_list(w->n, at));
}

static SluiceValue word_named(const Words *w)
{
	word_count(w, 2, 2, "KW");
	return handle((Handle){
		.form = H_NAMED, .s = word_text(w->arg[0], "the name"), .v = plain(w->arg[1])});
}

static SluiceValue word_range(const Words *w)
{
	word_count(w, 2, 3, "RANGE");
	Handle h = {.form = H_RANGE, .part = arena_alloc(3 * sizeof(Value))};
	for (size_t i = 0; i < 3; i++)
		h.part[i] = i < w->n ? plain(w->arg[i]) : v_none();
	return handle(h);
}

static IndexItem item_of(SluiceValue x)
{
	Value none = v_none();
	const Handle *h = taken(x);
	if (h->form == H_RANGE)
		return (IndexItem){.kind = I_SLICE, .start = h->part[0], .stop = h->part[1],
			.step = h->part[2]};
	Value v = h->form == H_MARK ? none : plain(x);
	if (h->form == H_VALUE && v.kind != V_NONE)
		return (IndexItem){.kind = I_AT, .at = v};
	ItemKind kind = h->form == H_VALUE ? I_NEW : *h->s == 'a' ? I_SLICE
		: *h->s == 'r' ? I_ELLIPSIS : I_NEW;
	return (IndexItem){.kind = kind, .start = none, .stop = none, .step = none};
}

static SluiceValue word_at(const Words *w)
{
	word_count(w, 1, 2 * MAX_RANK + 1, "at");
	Value x = plain(w->arg[0]);
	IndexItem *items = arena_alloc((w->n + 1) * sizeof *items);
	for (size_t i = 1; i < w->n; i++)
		items[i - 1] = item_of(w->arg[i]);
	return given(index_value(&x, w->n - 1, items));
}

static SluiceValue word_size(const Words *w)
{
	int64_t limit[2];
	word_count(w, 3, 3, "SIZE");
	const char *name = word_text(w->arg[0], "the name of a size");
	for (size_t i = 0; i < 2; i++) {
		Value v = plain(w->arg[i + 1]);
		if (v.kind != V_NUMBER || !v.is_int)
			die(MALFORMED, "a limit of %s is %s, expected an integer", name,
				value_text(&v));
		limit[i] = v.i;
	}
	const char *err = program_size(name, limit[0], limit[1]);
	if (err)
		die(MALFORMED, "%s: %s", name, err);
	return given(v_size(vars_find(name, strlen(name))));
}

static DType dtype_word(SluiceValue v, const char *what)
{
	const char *s = word_text(v, what);
	DType dt = dtype_find(s);
	if (dt == DT_NONE)
		die(MALFORMED, "%s: '%.40s' is no dtype", what, s);
	return dt;
}

/* What a call has once, it does not have in each turn of a loop, or in a branch. */
static void check_outside(const char *what)
{
	if (steps_within())
		die(MALFORMED, "%s in a LOOP, WHILE or IF; put it behind", what);
}

static void check_name(const char *name)
{
	if (!name_ok(val_str(name)))
		die(MALFORMED, "'%.100s' is no name for a buffer or an output", name);
}

static SluiceValue word_input(const Words *w)
{
	UOp *dim[MAX_RANK];
	const char *err;
	int status;
	word_count(w, 2, MAX_RANK + 2, "ARG");
	const char *name = word_text(w->arg[0], "the name of an argument");
	DType dt = dtype_word(w->arg[1], name);
	for (size_t i = 2; i < w->n; i++) {
		Value v = plain(w->arg[i]);
		if (v.kind == V_STR || !(dim[i - 2] = value_size(&v)))
			die(MALFORMED, "%s: a size is %s, expected an integer", name,
				value_text(&v));
	}
	const Shape *s = shape_checked(w->n - 2, dim, &err, &status);
	if (!s)
		die(status, "%s: %s", name, err);
	check_name(name);
	UOp *u = program_input(name, dt, s);
	node_note(u, VMAP(val_str("loc"), val_str(c_place_text(here))));
	return given(v_tensor(u));
}

static SluiceValue word_load(const Words *w)
{
	word_count(w, 1, 2, "load");
	const char *path = word_text(w->arg[0], "the file");
	const char *member = w->n > 1 ? word_text(w->arg[1], "the member") : NULL;
	const char *slash = here.file ? strrchr(here.file, '/') : NULL;
	if (!*path)
		die(MALFORMED, "load: the file's name is empty");
	/* relative to the program, as in the text language */
	if (*path != '/' && slash)
		path = arena_printf("%.*s/%s", (int)(slash - here.file), here.file, path);
	return given(v_tensor(load_buffer(path, member, DT_NONE, literal_name(), "const")));
}

/* ---- state and outputs */

static SluiceValue word_state(const Words *w)
{
	word_count(w, 2, 2, "state");
	check_outside("a state");
	const char *name = word_text(w->arg[0], "the name of a state");
	Value first = plain(w->arg[1]);
	check_name(name);
	if (vars_find(name, strlen(name)) || !name_take(name))
		die(MALFORMED, "%s is in use", name);
	reading.stem = arena_printf("%.200s_first", name);
	UOp *u = program_state(name, value_as(&first, DT_NONE, NULL, name));
	reading.stem = NULL;
	return given(v_tensor(u));
}

static SluiceValue word_assign(const Words *w)
{
	word_count(w, 2, 2, "assign");
	check_outside("the next content of a state");
	Value s = plain(w->arg[0]), next = plain(w->arg[1]);
	if (s.kind != V_TENSOR || s.u->op != OP_BUFFER || !program_state_named(buffer_name(s.u)))
		die(MALFORMED, "assign: %s is no state", value_text(&s));
	Value v = v_tensor(program_assign(buffer_name(s.u), &next));
	note_name(&v, buffer_name(s.u));
	return given(v);
}

static SluiceValue word_output(const Words *w)
{
	word_count(w, 2, 2, "output");
	check_outside("an output");
	const char *name = word_text(w->arg[0], "the name of an output");
	Value x = plain(w->arg[1]);
	check_name(name);
	if (program_has_output(name))
		die(MALFORMED, "%s is an output already", name);
	Value v = v_tensor(value_as(&x, DT_NONE, NULL, name));
	note_name(&v, name);
	program_output(name, v.u);
	return given(v);
}

/* ---- values known while tracing */

static Value tensor_in(SluiceValue v)
{
	Value x = plain(v);
	UOp *u = x.kind == V_STR ? NULL : value_tensor(&x, DT_NONE);
	if (!u)
		die(MALFORMED, "%s has no shape", value_text(&x));
	return v_tensor(u);
}

static SluiceValue word_rank(const Words *w)
{
	word_count(w, 1, 1, "rank");
	return given(v_int(t_rank(tensor_in(w->arg[0]).u)));
}

static SluiceValue word_dim(const Words *w)
{
	word_count(w, 2, 2, "dim");
	UOp *x = tensor_in(w->arg[0]).u;
	Value axis = plain(w->arg[1]);
	if (axis.kind != V_NUMBER || !axis.is_int || axis.i < -t_rank(x) || axis.i >= t_rank(x))
		die(MALFORMED, "dim: the axis is %s of %s", value_text(&axis),
			shape_text(x->shape));
	Value v = v_size(t_dim(x, axis.i));
	if (v.kind == V_SIZE)
		die(UNSUPPORTED,
			"dim: the size is not known while tracing; size(x, axis) gives it as a "
			"value");
	return given(v);
}

static SluiceValue word_length(const Words *w)
{
	word_count(w, 1, 1, "length");
	Value v = plain(w->arg[0]);
	if (v.kind != V_LIST)
		die(MALFORMED, "length: expected a list, got %s", value_text(&v));
	return given(v_int(v.n));
}

static SluiceValue word_dtype(const Words *w)
{
	word_count(w, 1, 1, "dtype");
	return given(v_str(dtype_name(tensor_in(w->arg[0]).u->dtype)));
}

static SluiceValue word_none(const Words *w) { return given(v_none()); }
static SluiceValue word_all(const Words *w) { return handle((Handle){.form = H_MARK, .s = "all"}); }
static SluiceValue word_rest(const Words *w)
{
	return handle((Handle){.form = H_MARK, .s = "rest"});
}
static SluiceValue word_new(const Words *w) { return handle((Handle){.form = H_MARK, .s = "new"}); }

/* an integer of 2^63 or more, given as its digits */
static SluiceValue word_natural(const Words *w)
{
	uint64_t v = strtoull(word_text(w->arg[0], "a number"), NULL, 10);
	return given((Value){.kind = V_NUMBER, .is_int = true, .i = (int64_t)v, .f = (double)v});
}

static const struct { const char *word; SluiceValue (*fn)(const Words *w);
} words[] = {
	{".list", word_list},
	{".named", word_named},
	{".range", word_range},
	{".at", word_at},
	{".size", word_size},
	{".input", word_input},
	{".load", word_load},
	{".state", word_state},
	{".assign", word_assign},
	{".output", word_output},
	{".rank", word_rank},
	{".dim", word_dim},
	{".length", word_length},
	{".dtype", word_dtype},
	{".none", word_none},
	{".all", word_all},
	{".rest", word_rest},
	{".new", word_new},
	{".natural", word_natural},
	{".loop", word_loop},
	{".while", word_while},
	{".if", word_if},
	{".turn", word_turn},
	{".append", word_append},
	{".step", word_step},
	{".now", word_now},
	{".left", word_left},
};

static SluiceValue call_word(const char *name, const Words *w)
{
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (!strcmp(words[i].word, name))
			return words[i].fn(w);
	die(MALFORMED, "there is no word %.60s; is the header of another version?", name);
}

/* ---- functions */

/* Functions that are operators of the text language, which also accept sizes and numbers. */
static const struct { const char *name; int op; } operators[] = {
	{"add", OPERATOR(ADD)}, {"sub", OPERATOR(SUB)}, {"mul", OPERATOR(MUL)},
	{"div", OPERATOR(FDIV)}, {"floordiv", OPERATOR(FLOORDIV)}, {"mod", OPERATOR(FLOORMOD)},
	{"pow", OPERATOR(POW)}, {"less", OPERATOR(CMPLT)}, {"less_equal", T_LE},
	{"greater", '>'}, {"greater_equal", T_GE}, {"equal", OPERATOR(CMPEQ)},
	{"not_equal", OPERATOR(CMPNE)}, {"bitwise_and", OPERATOR(AND)},
	{"bitwise_or", OPERATOR(OR)}, {"bitwise_xor", OPERATOR(XOR)},
	{"shift_left", OPERATOR(SHL)}, {"shift_right", OPERATOR(SHR)},
};

static bool call_operator(const char *name, size_t n, const Value *v, Value *out)
{
	if (n == 1 && (!strcmp(name, "neg") || !strcmp(name, "bitwise_not")))
		return *out = operate_prefix(*name == 'n' ? OPERATOR(SUB) : '~', v), true;
	for (size_t i = 0; n == 2 && i < sizeof operators / sizeof *operators; i++)
		if (!strcmp(operators[i].name, name))
			return *out = operate(operators[i].op, &v[0], &v[1]), true;
	return false;
}

static Value call_function(const char *name, size_t n, const SluiceValue *arg)
{
	const Function *f = function_find(name);
	Value *v = arena_alloc((n + 1) * sizeof *v), out;
	const char **kw = arena_alloc((n + 1) * sizeof *kw);
	size_t pos = 0;
	if (!f)
		die(MALFORMED, "there is no function %.100s%s", name, function_hint(name));
	while (pos < n && taken(arg[pos])->form != H_NAMED) {
		v[pos] = plain(arg[pos]);
		pos++;
	}
	for (size_t i = pos; i < n; i++) {
		const Handle *h = taken(arg[i]);
		if (h->form != H_NAMED)
			die(MALFORMED, "%s: an argument by its place stands behind one by its name",
				name);
		kw[i - pos] = h->s;
		v[i] = h->v;
	}
	if (pos == n &&
		(call_operator(name, n, v, &out) || (n == 1 && number_function(name, v, &out))))
		return out;
	return function_call(f, pos, v, n - pos, kw, v + pos);
}

static SluiceValue api_call(SluicePlace at, const char *name, int n, const SluiceValue *arg)
{
	set_place(at);
	if (n < 0 || n > MAX_LIST)
		die(MALFORMED, "%.60s: %d arguments", name, n);
	uint32_t start = node_limit();
	SluiceValue v =
		*name == '.' ? call_word(name, &(Words){n, arg}) :
			       given(call_function(name, n, arg));
	if (node_limit() > start)
		note_nodes(&taken(v)->v, start, VMAP(val_str("loc"), val_str(c_place_text(at))));
	return v;
}

/* ---- numbers, strings and arrays of C */

static SluiceValue api_integer(int64_t v) { return given(v_int(v)); }
static SluiceValue api_real(double v) { return given(v_float(v)); }
static SluiceValue api_truth(bool v) { return given(v_bool(v)); }

static SluiceValue api_text(const char *s)
{
	enum { MOST = 1 << 16 };
	size_t n = s ? strnlen(s, MOST) : 0;
	if (!s || n == MOST || !utf8_ok(s, n))
		return handle((Handle){.form = H_BAD,
			.s = s ? "a text is no UTF-8, or too long" : "a text is NULL"});
	return given(v_str(val_strn(s, n)->s));
}

static bool identifier(const char *s)
{
	size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
	return n && n < 100 && !s[n] && (*s < '0' || *s > '9');
}

/* Equal arrays from one place share a buffer, so that a constant in a C loop occurs once. */
static UOp *constant_buffer(const char *name, DType dt, const Shape *s, const void *bytes, size_t n)
{
	static ARENA Map made;
	void *copy = arena_alloc(n + 1);
	if (n)
		memcpy(copy, bytes, n);
	const Val *data = val_bin(copy, n), *key = VARR(data, shape_to_val(s), val_int(dt));
	UOp *u = map_get(&made, PKEY(key));
	if (!u) {
		name = identifier(name) ? name_fresh(name) : literal_name();
		u = buffer_new(name, "const", dt, s, data, NULL);
		map_put(&made, PKEY(key), u);
	}
	return u;
}

static SluiceValue api_data(SluicePlace at, const char *name, const char *dtype, int rank,
	const int64_t *dim, const void *bytes)
{
	UOp *size[MAX_RANK];
	const char *err;
	int status;
	int64_t n;
	DType dt = dtype_find(dtype);
	set_place(at);
	if (rank < 0 || rank > MAX_RANK || dt == DT_NONE)
		die(MALFORMED, "%.60s: an array of rank %d of '%.20s' is no constant", name, rank,
			dtype);
	for (int i = 0; i < rank; i++)
		size[i] = ix_const(dim[i]);
	const Shape *s = shape_checked(rank, size, &err, &status);
	if (!s)
		die(status, "%.60s: %s", name, err);
	if (!shape_static(s, &n) || n > INT64_MAX / 8 || (n && !bytes))
		die(MALFORMED, "%.60s: there is nothing at the pointer", name);
	UOp *u = constant_buffer(name, dt, s, bytes, n * dtype_size(dt));
	node_note(u, VMAP(val_str("loc"), val_str(c_place_text(at))));
	return given(v_tensor(u));
}

/* ---- back to C */

static Value known(SluicePlace at, SluiceValue v)
{
	set_place(at);
	Value x = plain(v);
	if (x.kind == V_TENSOR && is_const(x.u)) {
		int64_t i;
		double f;
		if (const_is_int(x.u, &i))
			return v_int(i);
		if (const_is_float(x.u, &f))
			return v_float(f);
	}
	if (x.kind == V_SIZE)
		die(UNSUPPORTED, "a size that is not known while tracing");
	if (x.kind != V_NUMBER && x.kind != V_BOOL)
		die(MALFORMED, "%s is no number that is known while tracing", value_text(&x));
	return x;
}

static int64_t api_to_integer(SluicePlace at, SluiceValue v) { return known(at, v).i; }

static double api_to_real(SluicePlace at, SluiceValue v)
{
	Value x = known(at, v);
	return x.kind == V_BOOL ? (double)x.i : x.f;
}

static const char *api_to_text(SluicePlace at, SluiceValue v)
{
	set_place(at);
	return word_text(v, "the value");
}

const SluiceApi c_api = {api_integer, api_real, api_truth, api_text, api_data, api_call,
	api_to_integer, api_to_real, api_to_text};
