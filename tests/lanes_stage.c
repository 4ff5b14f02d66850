/* The passes of lower that make and legalise values with lanes, over documents of level loops that
 * lower did not write, for vectors.bats. */
#include "process/process.h"
#include "lower/lower.h"
#include "target/target.h"

static const Pass passes[] = {
	{"target", target_choose, "the target's row"}, {"lanes", lower_lanes, "lanes are made"},
	{"legalise", lower_legalise, "as the target has them", .optional = true},
	{"registers", lower_registers, "accumulators are vectors", .optional = true}, {0}};
static const Stage stage = {.name = "lanes", .summary = "lanes of vector loops", .usage = "[FILE]",
	.level_in = LV_LOOPS, .level_out = LV_LOOPS, .passes = passes};

int main(int argc, char **argv) { return stage_main(&stage, argc, argv); }
