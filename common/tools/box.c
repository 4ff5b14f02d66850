/* The main of the installed program, which is every tool: the one by whose name it is started, and
 * `sluice` by any other. `make install` links it and makes the names; table.inc has them. */
#include <string.h>

#define TOOL(name, fn) int fn(int argc, char **argv);
#include "table.inc"
#undef TOOL

static const struct { const char *name; int (*fn)(int argc, char **argv); } tools[] = {
#define TOOL(name, fn) {name, fn},
#include "table.inc"
#undef TOOL
};

int main(int argc, char **argv)
{
	const char *slash = argc ? strrchr(argv[0], '/') : NULL;
	const char *name = slash ? slash + 1 : argc ? argv[0] : "";

	for (size_t i = 0; i < sizeof tools / sizeof *tools; i++)
		if (!strcmp(tools[i].name, name))
			return tools[i].fn(argc, argv);
	return main_of_sluice(argc, argv);
}
