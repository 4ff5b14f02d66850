/* A stage as a whole, in this process: the main of the tool, under another name, reads a document
 * and writes what it makes of it to where nobody looks. It has no walls and no limits, which would
 * hold for libFuzzer too. */
#include "base/base.h"
#include "seam.h"
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int tool_main(int argc, char **argv);

void fuzz_one(const uint8_t *p, size_t n)
{
	static int fd = -1;
	char *argv[] = {"tool", "--no-walls", "--no-limit", "-", NULL, NULL, NULL};
	/* standard input is a file in memory */
	if (fd < 0 && (fd = memfd_create("document", 0)) >= 0)
		dup2(fd, 0);
	CHECK(!ftruncate(0, 0) && pwrite(0, p, n, 0) == (ssize_t)n && !lseek(0, 0, SEEK_SET));
	const char *name = getenv("FUZZ_TARGET");
	if (name) {
		argv[4] = "-t";
		argv[5] = (char *)name;
	}
	tool_main(name ? 6 : 4, argv);
}
