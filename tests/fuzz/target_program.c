/* The text language, up to level graph. */
#include "io/io.h"
#include "library/library.h"
#include "text/text.h"
#include "trace.h"
#include "seam.h"

void fuzz_one(const uint8_t *p, size_t n)
{
	Graph *g = read_text((const char *)p, n, "program.t");
	verify(g);
	g = read_tensor(g);
	g->level = LV_GRAPH;
	verify(g);
}
