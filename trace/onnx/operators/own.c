/* Functions that the calls of rows (rows.c) use beside the library: ONNX's rules for dtypes, axes
 * and broadcasting. They work like the library's functions, and operators.def has their
 * signatures. */
#include "onnx/operators/space.h"

/* ---- dtypes ---------------------------------------------------------------------------------- */

/* f16 and bf16 become f32, the dtype for sums and roots */
Value onnx_own_wide(Args *a)
{
	UOp *x = arg_tensor(a, 0);

	return v_tensor(t_cast(x, dtype_acc(x->dtype)));
}

/* the same, and integers become f64 */
Value onnx_own_real(Args *a)
{
	UOp *x = arg_tensor(a, 0);

	return v_tensor(t_cast(x, dtype_float(x->dtype) ? dtype_acc(x->dtype) : DT_F64));
}

Value onnx_own_like(Args *a)
{
	return v_tensor(t_cast(arg_tensor(a, 0), arg_tensor(a, 1)->dtype));
}

/* the dtype for a number of TensorProto.DataType, or x's own */
Value onnx_own_type(Args *a)
{
	int64_t number = arg_given(a, 1) ? arg_int(a, 1) : 0;
	int type = number < 0 || number >= ONNX_TYPES ? ONNX_TYPES : (int)number;

	if (!arg_given(a, 1))
		return v_str(dtype_name(arg_tensor(a, 0)->dtype));
	if (onnx_dtype(type) == DT_NONE || onnx_narrow(type))
		die(UNSUPPORTED, "the type %s", onnx_type_name(type));
	return v_str(dtype_name(onnx_dtype(type)));
}

/* x in the float dtype that stash_type names, or a wider one: norms compute their statistics in
 * it */
Value onnx_own_stash(Args *a)
{
	UOp *x = arg_tensor(a, 0);
	DType dt = onnx_dtype((int)arg_int(a, 1));

	if (dt == DT_NONE || !dtype_float(dt))
		die(MALFORMED, "stash_type is no float");
	return v_tensor(t_cast(x, dtype_promote(dtype_acc(dt), dtype_acc(x->dtype))));
}

/* ---- lists ----------------------------------------------------------------------------------- */

Value onnx_own_len(Args *a) { return v_int(a->at[0].n); }

/* f(f(x0, x1), x2), … for a function f of two arguments */
Value onnx_own_fold(Args *a)
{
	const Function *f = function_find(arg_str(a, 0));
	const Value *x = a->at[1].at;

	CHECK(f);
	if (!a->at[1].n)
		die(MALFORMED, "its input 0 is missing");
	Value y = x[0];
	for (size_t i = 1; i < a->at[1].n; i++)
		y = function_call(f, 2, (Value[]){ y, x[i] }, 0, NULL, NULL);
	return y;
}

/* ---- axes ------------------------------------------------------------------------------------ */

/* The axes of a reduction: none, or an empty list, means all axes, or with noop no axis. */
Value onnx_own_over(Args *a)
{
	const Value *axes = &a->at[0];

	if (axes->kind != V_NONE && !(axes->kind == V_LIST && !axes->n))
		return *axes;
	return arg_int(a, 1) ? v_list(0, NULL) : v_none();
}

/* the axes of x from axis on */
Value onnx_own_axes_from(Args *a)
{
	int rank = t_rank(arg_tensor(a, 0)), n = 0;
	Value *at = arena_alloc((rank + 1) * sizeof *at);

	for (int i = arg_axis(a, 1, rank); i < rank; i++)
		at[n++] = v_int(i);
	return v_list(n, at);
}

/* dies unless x[n,c,...] has at least one axis behind n and c */
Value onnx_own_space(Args *a)
{
	UOp *x = arg_tensor(a, 0);
	int rank = t_rank(x), n = 0;
	Value *at = arena_alloc((rank + 1) * sizeof *at);

	if (rank < 2)
		die(MALFORMED, "x%s has no channels", shape_text(x->shape));
	for (int i = 2; i < rank; i++)
		at[n++] = v_int(i);
	return v_list(n, at);
}

/* Negative indices count from the end of n places. */
Value onnx_own_wrapped(Args *a)
{
	return v_tensor(t_wrap_index(t_cast(arg_tensor(a, 0), DT_I64), arg_size(a, 1)));
}

/* ---- shapes ---------------------------------------------------------------------------------- */

/* a limit must be a scalar, or a tensor of one element */
Value onnx_own_scalar(Args *a)
{
	return arg_given(a, 0) ? v_tensor(t_reshape(arg_tensor(a, 0), shape_scalar())) : v_none();
}

/* Before version 7 the second operand's axes are matched from `axis` on, so ones are appended. */
Value onnx_own_aligned(Args *a)
{
	UOp *x = arg_tensor(a, 0), *y = arg_tensor(a, 1);
	int rank = t_rank(x);
	int64_t axis = arg_given(a, 3) ? arg_int(a, 3) : rank - t_rank(y);

	if (!arg_int(a, 2))
		return v_tensor(y);
	axis = axis < 0 ? axis + rank : axis;
	if (axis < 0 || axis + t_rank(y) > rank)
		die(MALFORMED, "axis does not fit shapes %s and %s", shape_text(x->shape),
			shape_text(y->shape));
	while (axis + t_rank(y) < rank)
		y = t_unsqueeze(y, t_rank(y));
	return v_tensor(y);
}

/* p[c] along axis 1 of x[n,c,...] */
Value onnx_own_by_channel(Args *a)
{
	return v_tensor(onnx_channels(arg_tensor(a, 1), t_rank(arg_tensor(a, 0))));
}

/* p[groups] repeated for the channels of each group: [c], for x[n,c,...] */
Value onnx_own_each_channel(Args *a)
{
	UOp *x = arg_tensor(a, 0), *p = arg_tensor(a, 1), *each;
	int64_t groups;

	if (t_rank(x) < 2 || t_rank(p) != 1 || !ix_is_const(t_dim(p, 0), &groups) || groups < 1)
		die(MALFORMED, "x%s and groups%s do not fit", shape_text(x->shape),
			shape_text(p->shape));
	each = ix_div(t_dim(x, 1), ix_const(groups));
	return v_tensor(t_merge_axes(t_expand_axis(t_unsqueeze(p, 1), 1, each), 0, 2));
}

/* x as a matrix: the axes before `axis` make its rows */
Value onnx_own_matrix(Args *a)
{
	UOp *x = arg_tensor(a, 0), *part[2] = { ix_const(1), ix_const(1) };
	int64_t axis = arg_int(a, 1);
	int rank = t_rank(x);

	if (axis < -rank || axis > rank)
		die(MALFORMED, "axis %lld is outside rank %d", (long long)axis, rank);
	axis = axis < 0 ? axis + rank : axis;
	for (int i = 0; i < rank; i++)
		part[i >= axis] = ix_mul(part[i >= axis], t_dim(x, i));
	return v_tensor(t_reshapev(x, 2, part));
}

Value onnx_own_trilu(Args *a)
{
	const Function *band = function_find(arg_int(a, 2) ? "triu" : "tril");

	return function_call(band, 2, a->at, 0, NULL, NULL);
}

/* ---- arithmetic ------------------------------------------------------------------------------ */

/* division as in C: integers round towards 0 */
Value onnx_own_quotient(Args *a)
{
	UOp *x = arg_tensor(a, 0), *y = arg_tensor(a, 1);

	return v_tensor(t_op2(dtype_float(x->dtype) ? OP_FDIV : OP_IDIV, x, y));
}

/* y as a scalar if y has the same value everywhere and broadcasts without changing x's shape; else
 * y */
static UOp *one_number(UOp *x, UOp *y)
{
	UOp *k = y;

	while (k->op == OP_RESHAPE || k->op == OP_EXPAND)
		k = k->src[0];
	return is_const(k) && shape_broadcast(x->shape, y->shape) == x->shape ? k : y;
}

/* The result has the base's dtype. A constant exponent is converted to it if it fits. */
Value onnx_own_power(Args *a)
{
	UOp *x = arg_tensor(a, 0), *y = one_number(x, arg_tensor(a, 1));
	int64_t i;
	double f;

	if (x->dtype == y->dtype)
		return v_tensor(t_pow(x, y));
	if (dtype_float(x->dtype)) {
		if (const_is_int(y, &i) && i > -2048 && i < 2048)
			return v_tensor(t_pow(x, t_num(x->dtype, (double)i)));
		if (const_is_float(y, &f))
			return v_tensor(t_pow(x, t_num(x->dtype, f)));
	}
	return v_tensor(t_cast(t_pow(x, y), x->dtype));
}

/* fmod 0: the sign of the divisor; 1: the sign of the dividend */
Value onnx_own_remainder(Args *a)
{
	UOp *x = arg_tensor(a, 0), *y = arg_tensor(a, 1);

	return v_tensor(t_op2(arg_int(a, 2) ? OP_MOD : OP_FLOORMOD, x, y));
}

Value onnx_own_shift(Args *a)
{
	const char *way = arg_str(a, 2);

	if (strcmp(way, "LEFT") && strcmp(way, "RIGHT"))
		die(MALFORMED, "direction is LEFT or RIGHT, not \"%s\"", way);
	return v_tensor(t_op2(*way == 'L' ? OP_SHL : OP_SHR, arg_tensor(a, 0), arg_tensor(a, 1)));
}
