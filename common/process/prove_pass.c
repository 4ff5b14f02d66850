/* --prove: after each pass the tool `prove` is asked whether the document means what it did. It is
 * a process of its own, given both documents in one stream. What is no document by itself (the
 * result of a pass that the next one needs) is proved together with the next pass. */
#include "io/io.h"
#include "process/process.h"
#include "process/prove_pass.h"

static Buf before;              /* the document before the pass, which may read it anew */

void prove_begin(const Graph *g)
{
	before.n = 0;
	wire_write(&before, g);
}

void prove_pass(const char *pass, const Graph *g)
{
	const char *path = tool_find("prove");
	char *argv[] = {(char *)path, (char *)"--after", (char *)pass, NULL};
	Buf said = {0};
	size_t n = before.n;

	if (!path)
		die(FAILED, "the tool 'prove' is not on the stage path %s", stage_path());
	wire_write(&before, g);
	int status = spawn_filter(argv, before.s, before.n, &said);
	fwrite(buf_str(&said), 1, said.n, stderr);
	buf_free(&said);
	if (status == FAILED)
		die_silent(FAILED);
	if (status == MALFORMED) {
		fprintf(stderr, "%s: left to the pass after it\n", pass);
		before.n = n;
		return;
	}
	prove_begin(g);
}
