/* ONNX models, up to level graph. Files of external data are the model itself. */
#include "io/io.h"
#include "onnx/onnx.h"
#include "trace.h"
#include "seam.h"

void fuzz_one(const uint8_t *p, size_t n)
{
	Graph *g = read_onnx("/dev/null");
	verify(g);
	g = read_tensor(g);
	g->level = LV_GRAPH;
	verify(g);
}
