/* This machine's figures: $XDG_CACHE_HOME/sluice/machine, or ~/.cache/sluice/machine. */
#include "machine/machine.h"
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *cache_home(void)
{
	const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	if (xdg && *xdg == '/')
		return xdg;
	return home && *home == '/' ? arena_printf("%s/.cache", home) : NULL;
}

static const char *file_in(const char *home)
{
	return home ? arena_printf("%s/sluice/machine", home) : NULL;
}

/* Nobody else may write it, or it is not read again. */
void machine_keep(const Machine *m)
{
	const char *home = cache_home(), *file = file_in(home);
	char *draft = file ? arena_printf("%s.XXXXXX", file) : NULL;
	Buf b = {0};
	if (!file)
		die(FAILED, "there is no cache: neither XDG_CACHE_HOME nor HOME is set");
	machine_print(&b, m);
	mkdir(home, 0700);
	mkdir(arena_printf("%s/sluice", home), 0700);
	int fd = leftover_make(draft);
	if (fd < 0 || write(fd, b.s, b.n) != (ssize_t)b.n || close(fd) || rename(draft, file))
		die_errno("%s: cannot write", file);
	leftover_drop(draft);
	buf_free(&b);
}

char *machine_kept(void)
{
	const char *file = file_in(cache_home());
	char text[1 << 12];
	int fd = file ? own_open(file) : -1;
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text);
	if (fd >= 0)
		close(fd);
	if (n < 0 || n == sizeof text)
		die(FAILED, "--measured: nothing was measured yet, or %s is not your own file: run "
			"lower --measure", file ? file : "the cache");
	return xstrndup(text, n);
}
