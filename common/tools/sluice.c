/* sluice NAME …: runs a tool by name, as git does; sluice path: prints where tools are found. */
#include "process/process.h"
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

static const struct { const char *name, *deed; } tools[] = {
	{"trace", "builds a graph: from .mp, .t, .onnx, .c"},
	{"simplify", "applies rules to a fixed point, removes dead nodes"},
	{"grad", "the gradient of an output, in reverse"},
	{"jvp", "the derivative of outputs along a direction"},
	{"vmap", "vectorizes a graph along a new axis of inputs"},
	{"jac", "the derivatives of outputs by inputs, dense or sparse"},
	{"hess", "the second derivatives of an output, dense or sparse"},
	{"schedule", "a graph to a list of kernel calls, one kernel per op"},
	{"fuse", "merges kernels, plans memory"},
	{"layout", "lays out tensors in memory, for targets with vectors"},
	{"tune", "finds the actions with which kernels are fastest, by trying"},
	{"lower", "each kernel to loops for a target"},
	{"render", "loops to a target's source"},
	{"compile", "source to objects, through a cache"},
	{"run", "runs a document of any level"},
	{"pack", "a document as a library for other programs"},
	{"show", "a document as text, picture or page"},
	{"info", "summarizes a model: inputs, operators, work, memory"},
	{"diff", "what differs between two documents"},
	{"match", "finds a pattern in a document"},
	{"prove", "memory of a document; whether two mean the same"},
	{"rewrite", "applies rules to a document"},
	{"bisect", "names what changed a program's results"},
	{"reduce", "the smallest document that still fails"},
	{"keygen", "makes keys for tcp endpoints"},
	{"functions", "the functions of the tensor library, the ONNX operators"},
	{"why", "the lines, layers, merges and actions behind a kernel"},
	{"schema", "the ops and levels of documents, as JSON"},
};
enum { TOOLS = sizeof tools / sizeof *tools };

static bool listed(const char *name)
{
	for (int i = 0; i < TOOLS; i++)
		if (!strcmp(tools[i].name, name))
			return true;
	return !strcmp(name, "sluice");
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Lists the tools on the stage path that are not in the table: targets, and the user's stages. */
static void list_others(void)
{
	VEC(char *) found = {0};
	for (const char *p = stage_path(), *end; *p; p = *end ? end + 1 : end) {
		end = strchrnul(p, ':');
		DIR *folder = opendir(arena_printf("%.*s", (int)(end - p), p));
		for (struct dirent *e; folder && (e = readdir(folder));)
			if (e->d_name[0] != '.' && !listed(e->d_name) && tool_find(e->d_name))
				vec_push(&found, arena_strdup(e->d_name));
		if (folder)
			closedir(folder);
	}
	if (found.n)
		qsort(found.at, found.n, sizeof *found.at, by_name);
	for (size_t i = 0; i < found.n; i++)
		if (!i || strcmp(found.at[i - 1], found.at[i]))
			printf("%s%s", i ? " " : "\nalso on the stage path: ", found.at[i]);
	if (found.n)
		printf("\n");
	vec_free(&found);
}

static void help(void)
{
	printf("usage: sluice NAME [argument]…\n"
		"Runs the tool NAME of the stage path; sluice help NAME lists its options.\n"
		"sluice --prove NAME is NAME --prove: each of its passes is proved.\n\n");
	for (int i = 0; i < TOOLS; i++)
		printf("  %-10s %s\n", tools[i].name, tools[i].deed);
	printf("  %-10s %s\n", "help", "help NAME: the options and passes of a tool");
	printf("  %-10s %s\n", "path", "prints the folders in which tools are looked for");
	list_others();
}

/* sluice --prove NAME …: NAME --prove … */
static char **with_option(int argc, char **argv, const char *option)
{
	char **with = arena_alloc((argc + 2) * sizeof *with);

	memcpy(with, argv, 2 * sizeof *with);
	with[2] = (char *)option;
	memcpy(with + 3, argv + 2, (argc - 1) * sizeof *with);
	return with;
}

/* The path of a tool; dies with the names that are like it. */
static const char *path_of(const char *name)
{
	const char *path = tool_find(name);
	Nearest near = {.word = name};

	if (path && strcmp(name, "sluice"))
		return path;
	for (int i = 0; i < TOOLS; i++)
		nearest_try(&near, tools[i].name);
	die(USAGE, "there is no tool '%.80s' on the stage path %s%s", name, stage_path(),
		nearest_hint(&near));
}

/* What sluice does itself; whether it is that. */
static bool own_word(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "";
	bool alone = argc == 2;
	bool about = alone || (argc == 3 && !strcmp(argv[2], "sluice"));

	if (!strcmp(name, "--help") || !strcmp(name, "-h") || (!strcmp(name, "help") && about))
		help();
	else if (!strcmp(name, "--version") && alone)
		version_print("sluice");
	else if (!strcmp(name, "path") && alone)
		puts(stage_path());
	else
		return false;
	return true;
}

int main(int argc, char **argv)
{
	stage_begin("sluice");
	bool proved = argc > 2 && !strcmp(argv[1], "--prove");
	argc -= proved;
	argv += proved;
	const char *name = argc > 1 ? argv[1] : "";
	if (own_word(argc, argv))
		return stage_end();
	if (!*name)
		die(USAGE, "a tool's name is missing (see sluice --help)");
	/* sluice help NAME: NAME --help */
	char *help_of[] = {argv[0], argc == 3 ? argv[2] : NULL, "--help", NULL};
	if (!strcmp(name, "help") && argc == 3)
		argv = help_of;
	else if (!strcmp(name, "help"))
		die(USAGE, "help takes the name of one tool");
	const char *path = path_of(argv[1]);
	if (proved)
		argv = with_option(argc, argv, "--prove");
	/* signals need no reset before exec: the tool sets its own */
	argv[1] = (char *)path;
	execv(path, argv + 1);
	die_errno("cannot run %s", path);
}
