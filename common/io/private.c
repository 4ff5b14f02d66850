/* Folders of this user's from which no document gets anything, whatever it names: the secret and
 * the keys ($XDG_CONFIG_HOME/sluice, --keys) and the cache ($XDG_CACHE_HOME/sluice). */
#include "io/io.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

enum { FOLDERS = 3 };
static struct { char *at[FOLDERS]; int n; } private;

/* Kept as the kernel names it, when it is there. */
static void folder_add(const char *folder, const char *below)
{
	char *path = arena_printf("%s%s", folder, below), *real = realpath(path, NULL);

	if (real)
		private.at[private.n++] = real;
}

static void user_folder_add(const char *variable, const char *otherwise)
{
	const char *xdg = getenv(variable), *home = getenv("HOME");

	if (xdg && *xdg == '/')
		folder_add(xdg, "/sluice");
	else if (home && *home == '/')
		folder_add(arena_printf("%s%s", home, otherwise), "/sluice");
}

static bool is_private(int fd)
{
	char path[PATH_MAX], link[40];

	if (!private.n) {
		user_folder_add("XDG_CONFIG_HOME", "/.config");
		user_folder_add("XDG_CACHE_HOME", "/.cache");
		if (process.keys)
			folder_add(process.keys, "");
	}
	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	ssize_t n = readlink(link, path, sizeof path - 1);
	path[n > 0 ? n : 0] = 0;
	for (int i = 0; i < private.n; i++) {
		size_t k = strlen(private.at[i]);
		if (!strncmp(path, private.at[i], k) && (path[k] == '/' || !path[k]))
			return true;
	}
	return n <= 0;
}

int file_open_public(const char *path, int how)
{
	int flags = O_RDONLY | O_CLOEXEC | O_NOCTTY | (how == OPEN_WAIT ? 0 : O_NONBLOCK);
	int fd = how == OPEN_OWN ? own_open(path) : open(path, flags);

	if (fd < 0 || !is_private(fd))
		return fd;
	close(fd);
	errno = EKEYREJECTED;
	return -1;
}
