/* The frames of an endpoint: the first byte says how the others are cut into messages. */
#include "io/io.h"
#include "seam.h"

void fuzz_one(const uint8_t *p, size_t n)
{
	if (n < 1)
		return;
	attempt_file(p + 1, n - 1);
	attempt_pieces(p[0] + 1);
	Stream *in = stream_open("ipc://frames");
	for (Graph *g; (g = stream_next(in, 0));)
		verify(g);
}
