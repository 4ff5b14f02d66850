/* Files of rules, as `rewrite --rules` takes them, applied to a small graph. */
#include "rules/rules.h"
#include "seam.h"

static UOp *small_graph(void)
{
	UOp *x = buffer_of("x", "input", DT_F32, shape_ints(2, (int64_t[]){3, 4}));
	UOp *two = LEAF(OP_CONST, DT_F32, val_float(2)), *y = NODE(OP_MUL, DT_F32, VNIL, x, two);
	y = NODE(OP_ADD, DT_F32, VNIL, y, NODE(OP_EXP2, DT_F32, VNIL, x));
	return NODE(OP_SINK, DT_NONE, VNIL, y);
}

void fuzz_one(const uint8_t *p, size_t n)
{
	size_t count;
	Rules *r = rules_parse((const char *)p, n, "fuzz.rules");
	rewrite_once(small_graph(), r, &count);
}
