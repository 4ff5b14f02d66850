/* Documents as text, as `show -p` reads them: what is right is written as bytes and read again. */
#include "io/io.h"
#include "seam.h"

void fuzz_one(const uint8_t *p, size_t n)
{
	size_t at = 0;
	for (Graph *g; (g = text_next((const char *)p, n, "text", &at));) {
		Buf bytes = {0}, again = {0};
		verify(g);
		wire_write(&bytes, g);
		g = wire_read(bytes.s, bytes.n, NULL, READ_RAW);
		verify(g);
		wire_write(&again, g);
		CHECK(bytes.n == again.n && !memcmp(bytes.s, again.s, again.n));
		buf_free(&bytes);
		buf_free(&again);
	}
}
