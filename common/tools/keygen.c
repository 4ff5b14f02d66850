/* keygen: makes a pair of keys for tcp endpoints, and the folder for those of peers. */
#include "io/io.h"
#include "process/process.h"

int main(int argc, char **argv)
{
	static const Option none[] = {{0}};
	static const Stage form = {.name = "keygen", .usage = "[DIR]", .options = none,
		.summary = "Makes a pair of keys for tcp endpoints, and prints the public one."};

	stage_begin(form.name);
	int first = options_parse(&form, argc, argv);
	if (argc - first > 1)
		die(USAGE, "one folder is enough: '%.80s' is too much", argv[first + 1]);
	printf("%s\n", keys_make(first < argc ? argv[first] : process.keys));
	return stage_end();
}
