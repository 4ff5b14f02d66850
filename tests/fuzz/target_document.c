/* Documents as bytes: what is read and right is written, read and printed again, to the same. */
#include "io/io.h"
#include "seam.h"

static void same(const Buf *a, const Buf *b)
{
	CHECK(a->n == b->n && !memcmp(a->s, b->s, a->n));
}

void fuzz_one(const uint8_t *p, size_t n)
{
	Buf bytes = {0}, text = {0}, again = {0};
	size_t at = 0;
	Graph *g = wire_read(p, n, NULL, READ_RAW);
	verify(g);
	wire_write(&bytes, g);
	text_print(&text, g);
	g = text_next(text.s, text.n, "text", &at);
	CHECK(g);
	verify(g);
	wire_write(&again, g);
	same(&bytes, &again);
	again.n = 0;
	g = wire_read(bytes.s, bytes.n, NULL, 0);
	verify(g);
	wire_write(&again, g);
	buf_free(&bytes);
	buf_free(&text);
	buf_free(&again);
}
