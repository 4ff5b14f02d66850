/* Literals of a program as data, and BUFFERs that carry data: inline, or as a place in a file.
 *
 *     [[1, 2], [3, 4]]   →   BUFFER i32 {name: literal, shape: [2,2], role: const, data: 16 bytes}
 */
#include "library/library.h"
#include <errno.h>
#include <stdlib.h>

/* ---- names */

/* names in use; stem → last number; content → buffer */
static ARENA Map names, suffixes, made;

void buffers_reset(void)
{
	map_free(&names);
	map_free(&suffixes);
	map_free(&made);
}

bool name_take(const char *name)
{
	const Val *v = val_str(name);
	if (map_get(&names, PKEY(v)))
		return false;
	map_put(&names, PKEY(v), (void *)v);
	return true;
}

const char *name_fresh(const char *stem)
{
	if (name_take(stem))
		return val_str(stem)->s;
	const Val *v = val_str(stem);
	for (uintptr_t k = (uintptr_t)map_get(&suffixes, PKEY(v)) + 1;; k++) {
		const char *name = arena_printf("%.200s_%llu", stem, (unsigned long long)k);
		if (name_take(name)) {
			map_put(&suffixes, PKEY(v), (void *)k);
			return val_str(name)->s;
		}
	}
}

UOp *buffer_new(const char *name, const char *role, DType dt, const Shape *s, const Val *data,
	const Val *file)
{
	const Val *kv[8] = {val_str("name"), val_str(name), val_str("shape"), shape_to_val(s),
		val_str("role"), val_str(role)};
	size_t n = 3;
	if (data || file) {
		kv[2 * n] = val_str(data ? "data" : "file");
		kv[2 * n + 1] = data ? data : file;
		n++;
	}
	return LEAF(OP_BUFFER, dt, val_map(n, kv));
}

/* ---- numbers computed while tracing */

UOp *array_tensor(const Array *a)
{
	const Shape *s = shape_ints(a->rank, a->dim);
	size_t bytes = array_count(a) * dtype_size(a->dtype);
	if (array_count(a) == 1)
		return t_reshape(const_bits(a->dtype, a->data), s);
	void *copy = arena_alloc(bytes + 1);
	memcpy(copy, a->data, bytes);
	return buffer_new(name_fresh("known"), "const", a->dtype, s, val_bin(copy, bytes), NULL);
}

static UOp *table(DType dt, size_t n, const void *v)
{
	Array a = {.dtype = dt, .rank = 1, .dim = {n}, .data = (void *)v};
	a.bytes = n * dtype_size(dt);
	return array_tensor(&a);
}

UOp *table_ints(size_t n, const int64_t *v) { return table(DT_I64, n, v); }

UOp *table_numbers(DType dt, size_t n, const double *v)
{
	if (dt != DT_F32)
		return t_cast(table(DT_F64, n, v), dt);
	float *f = arena_alloc((n + 1) * sizeof *f);
	for (size_t i = 0; i < n; i++)
		f[i] = (float)v[i];
	return table(DT_F32, n, f);
}

/* ---- lists of numbers */

const char *literal_name(void) { return name_fresh(reading.stem ? reading.stem : "literal"); }

/* the kinds of the leaves of a list; rank and sizes come from its first elements and are checked
 * for all */
typedef struct {
	bool any, real, integer, boolean, wide, huge;
	int rank;
	int64_t dim[MAX_RANK];
} Leaves;

static void scan_leaf(const Value *v, Leaves *l)
{
	l->any = true;
	if (v->kind == V_BOOL) {
		l->boolean = true;
	} else if (v->kind == V_NUMBER && v->is_int) {
		l->integer = true;
		l->huge |= v->f > (double)INT64_MAX;
		l->wide |= v->i < INT32_MIN || v->i > INT32_MAX;
	} else if (v->kind == V_NUMBER) {
		l->real = true;
	} else {
		die(MALFORMED, "a list of numbers has %s in it%s", value_text(v),
			v->kind == V_TENSOR ? "; use stack or concat" : "");
	}
}

static void scan_list(const Value *v, int depth, Leaves *l)
{
	if (v->kind != V_LIST) {
		if (l->any && depth != l->rank)
			die(MALFORMED, "the list is not rectangular");
		l->rank = depth;
		scan_leaf(v, l);
		return;
	}
	if (depth == MAX_RANK)
		die(UNSUPPORTED, "lists nested more than %d deep", MAX_RANK);
	if (l->dim[depth] >= 0 && l->dim[depth] != (int64_t)v->n)
		die(MALFORMED, "the list is not rectangular: rows of %lld and %zu",
			(long long)l->dim[depth], v->n);
	l->dim[depth] = v->n;
	for (size_t i = 0; i < v->n; i++)
		scan_list(&v->at[i], depth + 1, l);
	if (!v->n && !l->any && l->rank < depth + 1)
		l->rank = depth + 1;
}

static Leaves scan(const Value *v)
{
	Leaves l = {0};
	for (int i = 0; i < MAX_RANK; i++)
		l.dim[i] = -1;
	scan_list(v, 0, &l);
	return l;
}

static DType leaves_dtype(const Leaves *l, DType like)
{
	if (l->real || !l->any)
		return dtype_float(like) ? like : float_dtype();
	if (!l->integer)
		return like == DT_NONE ? DT_BOOL : like;
	if (like != DT_NONE && like != DT_BOOL)
		return like;
	return l->huge ? DT_U64 : l->wide ? DT_I64 : DT_I32;
}

DType literal_dtype(const Value *v, DType like)
{
	Leaves l = scan(v);
	return leaves_dtype(&l, like);
}

static void put_number(const Value *v, DType dt, char *out)
{
	if (dtype_float(dt)) {
		double f = v->kind == V_BOOL ? (double)v->i : v->f;
		interp_cast(dt, out, DT_F64, &f, 1);
		return;
	}
	bool huge = v->f > (double)INT64_MAX;
	bool fits = huge ? dt == DT_U64 :
			   v->i >= dtype_min(dt) && (v->i < 0 || (uint64_t)v->i <= dtype_max(dt));
	if (!fits)
		die(MALFORMED, "%lld does not fit %s", (long long)v->i, dtype_name(dt));
	memcpy(out, &v->i, dtype_size(dt));
}

static char *put_list(const Value *v, DType dt, char *out)
{
	if (v->kind != V_LIST) {
		put_number(v, dt, out);
		return out + dtype_size(dt);
	}
	for (size_t i = 0; i < v->n; i++)
		out = put_list(&v->at[i], dt, out);
	return out;
}

UOp *literal_tensor(const Value *v, DType like)
{
	Leaves l = scan(v);
	DType dt = leaves_dtype(&l, like);
	const Shape *s = shape_ints(l.rank, l.dim);
	int64_t n = 0;
	CHECK(shape_static(s, &n));
	char *bytes = arena_alloc(n * dtype_size(dt) + 1);
	put_list(v, dt, bytes);
	const Val *data = val_bin(bytes, n * dtype_size(dt));
	/* equal bytes are one Val, so with dtype and shape they are the key of the buffer */
	const Val *key = VARR(data, shape_to_val(s), val_int(dt));
	UOp *u = map_get(&made, PKEY(key));
	if (!u) {
		u = buffer_new(literal_name(), "const", dt, s, data, NULL);
		map_put(&made, PKEY(key), u);
	}
	return u;
}

/* ---- files */

static bool suffix_is(const char *path, const char *suffix)
{
	size_t n = strlen(path), k = strlen(suffix);
	return n > k && !strcmp(path + n - k, suffix);
}

static const char *absolute(const char *path)
{
	char *full = realpath(path, NULL);
	if (!full)
		die_errno("cannot open %s", path);
	char *copy = arena_strdup(full);
	free(full);
	return copy;
}

UOp *load_buffer(
	const char *path, const char *member, DType want, const char *name, const char *role)
{
	Array head = {0};
	int64_t offset = 0;
	bool npy = suffix_is(path, ".npy"), npz = suffix_is(path, ".npz"),
	     st = suffix_is(path, ".safetensors");
	path = absolute(path);
	if (!npy && !npz && !st)
		die(UNSUPPORTED, "%s: only .npy, .npz and .safetensors files can be loaded", path);
	if (npy && member)
		die(MALFORMED, "%s: an .npy file has no members", path);
	if (st && !member)
		die(MALFORMED, "%s: name the tensor: load(\"FILE\", \"NAME\")", path);
	bool in_place = npy ? npy_locate(path, want, &head, &offset) :
		npz	    ? npz_locate(path, member, want, &head, &offset) :
			      safetensors_locate(path, member, &head, &offset);
	if (!in_place)
		head = npy  ? npy_read(path, want) :
			npz ? npz_read(path, member, want) :
			      safetensors_read(path, member);
	const Shape *s = shape_ints(head.rank, head.dim);
	int64_t bytes = array_count(&head) * dtype_size(head.dtype);
	if (in_place)
		return buffer_new(name, role, head.dtype, s, NULL,
			VARR(val_str(path), val_int(offset), val_int(bytes)));
	return buffer_new(name, role, head.dtype, s, val_bin(head.data, bytes), NULL);
}
