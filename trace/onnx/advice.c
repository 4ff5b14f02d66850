/* What helps when a value or a size has to be known while tracing: the end of a refusal, "; try"
 * and options of trace, or nothing where no option would do.
 *
 *     a size made of size variables          ; try --set n=N
 *     a value made of small inputs           ; try --shapes-from axes=FILE.npy
 *     a value that the model's data decides  nothing */
#include "onnx/proto.h"

enum { FEW = 1024 };            /* elements of an input that somebody may give by hand */

static ARENA bool advising;

void onnx_advise(void)
{
	advising = true;
	shape_advise(onnx_size_advice);
}

/* ---- options without doubles, in order */

typedef struct { Map seen; const char *text; } Options;

static void add_option(Options *o, const char *option)
{
	const Val *key = val_str(option);
	if (map_get(&o->seen, PKEY(key)))
		return;
	map_put(&o->seen, PKEY(key), (void *)key);
	o->text = arena_printf("%.600s%s%s", o->text ? o->text : "; try", " ", option);
}

static const char *end_options(Options *o)
{
	map_free(&o->seen);
	return o->text ? o->text : "";
}

static void add_sizes(Options *o, UOp *size)
{
	Nodes all = walk(size);
	for (size_t i = 0; i < all.n; i++)
		if (all.at[i]->op == OP_VAR)
			add_option(o, arena_printf("--set %.80s=N", size_to_val(all.at[i])->s));
}

const char *onnx_size_advice(UOp *size)
{
	Options o = {0};
	if (advising && !size_is_bound(size))
		add_sizes(&o, size);
	return end_options(&o);
}

/* ---- values */

static bool small_input(const UOp *u)
{
	int64_t n;
	return u->shape->rank <= 1 && shape_static(u->shape, &n) && n <= FEW;
}

/* Whether options could make u known: adds those to o. */
static bool can_help(Options *o, const UOp *u)
{
	if (u->op == OP_BUFFER && buffer_is(u, "input")) {
		if (!onnx_is_assumed(u))
			add_option(o, arena_printf("--shapes-from %.100s=FILE.npy",
				buffer_name(u)));
		return small_input(u);
	}
	if ((u->op == OP_BUFFER && !buffer_is(u, "const")) || u->op == OP_CUSTOM)
		return false;
	for (int i = 0; u->shape && i < u->shape->rank; i++) {
		if (size_is_bound(u->shape->dim[i]))
			return false;
		add_sizes(o, u->shape->dim[i]);
	}
	return true;
}

const char *onnx_value_advice(UOp *u)
{
	Options o = {0};
	Nodes all = walk(u);
	bool help = advising;
	for (size_t i = 0; help && i < all.n; i++)
		help = can_help(&o, all.at[i]);
	const char *text = end_options(&o);
	return help ? text : "";
}
