/* Functions for the calls in microsoft.def, beside those of the standard's operators (own.c of
 * operators). */
#include "onnx/operators/space.h"

/* x + y, or x alone */
Value onnx_own_plus(Args *a)
{
	UOp *x = arg_tensor(a, 0);

	return v_tensor(arg_given(a, 1) ? t_add(x, arg_tensor(a, 1)) : x);
}

/* x[b0,b...,m,k] with its last two axes exchanged if `matrix`, after its first axis went behind the
 * other axes of the batch if `batch` */
Value onnx_own_turned(Args *a)
{
	UOp *x = arg_tensor(a, 0);
	int rank = t_rank(x);

	if (rank > 1 && arg_int(a, 2))
		x = t_move_axis(x, 0, rank - 2);
	return v_tensor(rank > 1 && arg_int(a, 1) ? t_transpose(x, -2, -1) : x);
}

/* ---- embeddings ------------------------------------------------------------------------------ */

/* The rows of a table at places[b,s], or without them at 0, 1, ... for the axis s of ids[b,s];
 * nothing without a table. */
Value onnx_own_looked_up(Args *a)
{
	UOp *ids = arg_tensor(a, 2), *table;

	if (!arg_given(a, 0))
		return v_none();
	table = arg_tensor(a, 0);
	if (t_rank(ids) != 2 || t_rank(table) != 2)
		die(MALFORMED, "ids%s are no rows of a table%s", shape_text(ids->shape),
			shape_text(table->shape));
	return v_tensor(t_take(
		table, arg_given(a, 1) ? arg_tensor(a, 1) : t_arange(DT_I64, t_dim(ids, 1)), 0));
}

/* how many words of each row of ids[b,s] the mask leaves, i32 [b]; 0 without a mask */
Value onnx_own_mask_lengths(Args *a)
{
	UOp *ids = arg_tensor(a, 0), *mask;

	if (!arg_given(a, 1))
		return v_tensor(t_full(
			shape_new(1, (UOp *[]){ t_dim(ids, 0) }), t_num(DT_I32, 0)));
	mask = arg_tensor(a, 1);
	if (t_rank(mask) != 2)
		die(MALFORMED, "a mask%s", shape_text(mask->shape));
	return v_tensor(t_sum(t_cast(t_eq(mask, t_num(mask->dtype, 1)), DT_I32), 1, false));
}

/* ---- quantized numbers ----------------------------------------------------------------------- */

/* x minus its zero point, exactly */
Value onnx_own_whole(Args *a)
{
	UOp *x = t_cast(arg_tensor(a, 0), DT_I32);

	return v_tensor(arg_given(a, 1) ? t_sub(x, t_cast(arg_tensor(a, 1), DT_I32)) : x);
}

/* x as DynamicQuantizeLinear quantizes it, minus the zero point; and its scale */
Value onnx_own_dynamic(Args *a)
{
	UOp *scale;

	return v_tensor(onnx_dynamic(arg_tensor(a, 0), 0, &scale));
}

Value onnx_own_dynamic_scale(Args *a)
{
	UOp *scale;

	onnx_dynamic(arg_tensor(a, 0), 0, &scale);
	return v_tensor(scale);
}

/* a scale or zero point for the whole of a tensor; NULL when it is absent */
static UOp *one(Args *a, int k)
{
	return arg_given(a, k) ? t_reshape(arg_tensor(a, k), shape_scalar()) : NULL;
}

/* nothing of nothing */
Value onnx_own_decoded(Args *a)
{
	if (!arg_given(a, 0))
		return v_none();
	return v_tensor(onnx_dequantized(arg_tensor(a, 0), one(a, 1), one(a, 2)));
}

/* The type is that of the zero point, or of `like`. */
Value onnx_own_encoded(Args *a)
{
	UOp *typed = arg_tensor(a, arg_given(a, 2) ? 2 : 3);

	return v_tensor(onnx_quantized(
		arg_tensor(a, 0), one(a, 1), one(a, 2), onnx_type_of(typed->dtype)));
}

/* ---- axes ------------------------------------------------------------------------------------ */

/* x, or if the channels are last, x with an axis moved */
Value onnx_own_channels_at(Args *a)
{
	UOp *x = arg_tensor(a, 0);
	int rank = t_rank(x);

	if (!arg_int(a, 3))
		return v_tensor(x);
	return v_tensor(t_move_axis(x, arg_axis(a, 1, rank), arg_axis(a, 2, rank)));
}

/* Softmax by the rules of an opset: before 13, over the axes from `axis` on together. */
Value onnx_own_softmax_of(Args *a)
{
	UOp *x = arg_tensor(a, 0), *y;
	int rank = t_rank(x), axis = arg_axis(a, 1, rank);

	if (arg_int(a, 2) >= 13)
		return v_tensor(t_softmax(x, axis));
	y = t_merge_axes(x, axis, rank - axis);
	return v_tensor(t_reshape(t_softmax(y, axis), x->shape));
}
