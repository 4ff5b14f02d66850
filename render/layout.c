/* layout: what lies how in memory, for targets with vectors.  lower runs it when it has not been run.
 *
 *     trace model.onnx | fuse | layout --explain | render -t clang | run */
#include "layout.h"

static const char *target_name = "clang", *march = "native";

static Graph *choose_target(Graph *g)
{
	if (!target)
		target = target_march(target_find(target_name), march);
	return g;
}

static Graph *reductions(Graph *g) { return layout_wanted(g) ? layout_reductions(g) : g; }
static Graph *ends(Graph *g) { return layout_wanted(g) ? layout_ends(g) : g; }
static Graph *winograd(Graph *g) { return layout_wanted(g) && !layout_strict ? layout_winograd(g) : g; }
static Graph *blocks(Graph *g) { return layout_wanted(g) ? layout_blocks(g) : g; }
static Graph *weights(Graph *g) { return layout_wanted(g) ? layout_weights(g) : g; }
static Graph *done(Graph *g) { return layout_wanted(g) ? layout_done(g) : g; }

static const Option options[] = {
	{'t', "target", "TARGET", "the target to lay out for (default clang)", &target_name},
	{0, "march", "CPU", "its processor: native (default), x86-64-v3, armv8-a …", &march},
	{0, "strict", NULL, "no rewrite that changes the arithmetic", &layout_strict},
	{0, "explain", NULL, "tell on standard error what was laid out anew", &layout_explain},
	{0},
};

static const Pass passes[] = {
	{"target", choose_target, "read the target's description"},
	{"reductions", reductions, "long reductions that leave few elements, in parts", .optional = true},
	{"ends", ends, "inputs and outputs of contractions copied where that pays", .optional = true},
	{"winograd", winograd, "3x3 convolutions with fewer products", .optional = true},
	{"blocks", blocks, "channels in blocks of a vector, room around what is padded", .optional = true},
	{"weights", weights, "constants in the order in which they are read", .optional = true},
	{"plan", done, "temporaries packed into one workspace, once more"},
	{0},
};

int main(int argc, char **argv)
{
	static const Stage stage = {
		.name = "layout", .summary = "what lies how in memory, for targets with vectors",
		.usage = "[FILE]", .options = options, .level_in = LV_SCHEDULE, .level_out = LV_SCHEDULE,
		.passes = passes,
	};
	return stage_main(&stage, argc, argv);
}
