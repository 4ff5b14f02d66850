/* mutate SEED < DOCUMENT: the document with a few changes (mutate.c), on standard output. */
#include "mutate.h"
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	enum { MOST = 1 << 20 };
	uint8_t *p = malloc(MOST);
	size_t n = p && argc == 2 ? fread(p, 1, MOST, stdin) : 0;
	n = document_mutate(p, n, MOST, strtoull(argc == 2 ? argv[1] : "", NULL, 10));
	return n && fwrite(p, 1, n, stdout) == n ? 0 : 1;
}
