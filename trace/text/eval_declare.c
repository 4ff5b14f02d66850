/* Declarations: the program's inputs, sizes and constants.
 *
 *     input x f32[n, 4] where n in 1..64    BUFFER f32 {name: x, …}, vars {n: [1, 64]}
 *     const w f32 = load("w.npy")           BUFFER f32 {name: w, …, file: [path, offset, bytes]}
 */
#include "io/io.h"
#include "onnx/onnx.h"
#include "text/text.h"

static ARENA const char *folder;
static ARENA DType load_dtype;

void declare_start(const char *file)
{
	const char *slash = strrchr(file, '/');
	folder = slash ? arena_printf("%.*s/", (int)(slash - file), file) : "";
	load_dtype = DT_NONE;
}

/* ---- sizes and types */

static int64_t size_limit(Expr *e)
{
	Value v = eval(e);
	if (v.kind != V_NUMBER || !v.is_int)
		fail_at(&e->pos, "the limit of a size is %s, expected an integer", value_text(&v));
	return v.i;
}

static void declare_size(const SizeRange *r)
{
	int64_t lo = size_limit(r->lo), hi = size_limit(r->hi);
	if (scope_find(r->name))
		fail_at(&r->pos, "%s is in use", r->name);
	const char *err = program_size(r->name, lo, hi);
	if (err)
		fail_at(lo < 0 || lo > hi ? &r->lo->pos : &r->pos, "%s", err);
}

void declare_sizes(const Stmt *s)
{
	for (size_t i = 0; i < s->n; i++)
		declare_size(&s->sizes[i]);
}

static const Shape *type_shape(const Type *t)
{
	UOp *dim[MAX_RANK];
	if (t->rank > MAX_RANK) {
		at_pos(&t->pos);
		die(UNSUPPORTED, "rank %u, at most %d is supported", t->rank, MAX_RANK);
	}
	for (uint32_t i = 0; i < t->rank; i++) {
		Expr *e = t->dim[i];
		if (e->kind == X_NAME && !scope_find(e->s) && !vars_find(e->s, strlen(e->s)))
			fail_at(&e->pos,
				"%.100s is not defined; a size is declared with: where %.100s in "
				"1..64",
				e->s, e->s);
		Value v = eval(e);
		expr_place(e);
		dim[i] = v.kind == V_STR ? NULL : value_size(&v);
		if (!dim[i])
			die(MALFORMED, "a size is %s, expected an integer", value_text(&v));
		if (ix_prove_lt(dim[i], ix_const(0)))
			die(MALFORMED, "a size is negative");
	}
	at_pos(&t->pos);
	return shape_new(t->rank, dim);
}

/* ---- inputs */

void declare_input(const Stmt *s)
{
	const char *name = s->names[0];
	declare_sizes(s);
	const Shape *shape = type_shape(s->type);
	at_pos(&s->name_pos[0]);
	UOp *u = program_input(name, s->type->dt, shape);
	node_note(u, VMAP(val_str("loc"), val_str(pos_line(&s->pos))));
	scope_set(name, v_tensor(u));
}

/* ---- constants */

/* the path, taken relative to the program's folder */
static const char *beside(const char *path, const char *what)
{
	if (!*path)
		die(MALFORMED, "%s takes a file name, got an empty text", what);
	return *path == '/' ? path : arena_printf("%s%s", folder, path);
}

Value load_text(size_t n, const Value *pos)
{
	size_t bytes;
	if (n != 1 || pos->kind != V_STR)
		die(MALFORMED, "text takes a file name: text(\"kernel.c\")");
	const char *path = beside(pos->s, "text"), *s = data_map(path, &bytes);
	if (bytes > MAX_TEXT || memchr(s, 0, bytes) || !utf8_ok(s, bytes))
		die(MALFORMED, "%.200s is no text of UTF-8 of at most %d bytes", path, MAX_TEXT);
	return v_str(val_strn(s, bytes)->s);
}

Value load_value(size_t n, const Value *pos)
{
	if (n < 1 || n > 2 || pos[0].kind != V_STR || (n == 2 && pos[1].kind != V_STR))
		die(MALFORMED,
			"load takes a file name and the name of a member: load(\"w.npz\", "
			"\"name\")");
	const char *path = beside(pos[0].s, "load");
	if (n == 1 && file_is_onnx(path))
		return (Value){.kind = V_MODEL, .model = onnx_open(path)};
	const char *member = n == 2 ? pos[1].s : NULL;
	return v_tensor(load_buffer(path, member, load_dtype, literal_name(), "const"));
}

UOp *declared_value(const Stmt *s, const char *stem)
{
	DType dt = s->type ? s->type->dt : DT_NONE;
	const Shape *shape = s->type && s->type->shaped ? type_shape(s->type) : NULL;
	load_dtype = dt;
	reading.stem = stem;
	Value v = eval(s->value);
	uint32_t start = node_limit();
	expr_place(s->value);
	UOp *u = t_cast(value_as(&v, dt, shape, s->names[0]), dt);
	v = v_tensor(u);
	note_new(&v, start, &s->pos);
	load_dtype = DT_NONE;
	reading.stem = NULL;
	return u;
}

void declare_const(const Stmt *s)
{
	UOp *u = declared_value(s, s->names[0]);
	Value v = v_tensor(u);
	check_constant(u, s->names[0]);
	if (vars_find(s->names[0], strlen(s->names[0])))
		fail_at(&s->name_pos[0], "%s is a size", s->names[0]);
	note_name(&v, s->names[0]);
	scope_set(s->names[0], v);
}
