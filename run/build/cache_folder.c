/* The cache's folder, and folders for temporary files.
 *
 * The cache is $XDG_CACHE_HOME/sluice or ~/.cache/sluice. There is none when that cannot be
 * written, or when the user has no secret (common/base/secret.c) by which entries are known. A
 * temporary folder is one of its subfolders, tmp.XXXXXX, or stands in $TMPDIR, /tmp or /dev/shm
 * when the disk is full. */
#include "build/build.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

enum { PATH_MOST = 512, ENTRY_MOST = 128, ROOM = 16 << 20 };

/* The folders ("" while there is none). */
static struct {
	char cache[PATH_MOST];
	bool looked;            /* the cache folder has been looked for */
	char scratch[PATH_MOST]; /* the temporary folder of this process */
	int made;               /* how many files it has had */
} folders;

static bool folder_make(const char *path)
{
	return mkdir(path, 0700) == 0 || errno == EEXIST;
}

static bool folder_writable(const char *path)
{
	return folder_make(path) && !access(path, W_OK | X_OK);
}

const char *cache_folder(void)
{
	const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	char *path = folders.cache;
	int n;

	if (folders.looked)
		return path[0] ? path : NULL;
	folders.looked = true;
	if (xdg && xdg[0] == '/')
		n = snprintf(path, PATH_MOST, "%s", xdg);
	else
		n = snprintf(path, PATH_MOST, "%s/.cache", home && home[0] == '/' ? home : "");
	if (n <= 0 || n + ENTRY_MOST > PATH_MOST || (!xdg && !home) || secret_missing() ||
		!folder_make(path))
		return path[0] = 0, NULL;
	strcpy(path + n, "/sluice");
	if (!folder_writable(path))
		path[0] = 0;
	return path[0] ? path : NULL;
}

/* SLUICE_CACHE_SIZE is "4G", "500M" or "1000000"; 4 GiB when it is not set. */
int64_t cache_limit(void)
{
	static const char units[] = "KMGT";
	const char *text = getenv("SLUICE_CACHE_SIZE"), *unit;
	char *end;
	int64_t bytes = 4;
	int shift = 30;

	if (!cache_folder())
		return 0;
	if (text && *text) {
		errno = 0;
		bytes = strtoll(text, &end, 10);
		unit = *end ? strchr(units, *end) : NULL;
		shift = unit ? 10 * (int)(unit - units + 1) : 0;
		if (errno || end == text || bytes < 0 || (*end && (!unit || end[1])))
			die(USAGE,
				"SLUICE_CACHE_SIZE takes a number of bytes, 500M or 4G, not "
				"'%.40s'",
				text);
	}
	return mul_ok(bytes, (int64_t)1 << shift, &bytes) ? bytes : INT64_MAX;
}

/* ---- temporary files */

/* Removes what processes left that were killed while compiling. */
static void scratch_sweep(const char *folder)
{
	enum { HOUR = 3600 };
	DIR *d = opendir(folder);
	struct dirent *e;
	struct stat st;

	while (d && (e = readdir(d)))
		if (!strncmp(e->d_name, "tmp.", 4) &&
			!fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) &&
			S_ISDIR(st.st_mode) && time(NULL) - st.st_mtime > HOUR)
			folder_remove(arena_printf("%s/%s", folder, e->d_name));
	if (d)
		closedir(d);
}

/* Whether a compiler's files have room there. */
static bool is_roomy(const char *path)
{
	struct statvfs fs;

	return !statvfs(path, &fs) && fs.f_bavail > ROOM / fs.f_frsize;
}

static bool scratch_make(const char *under)
{
	if (!under || under[0] != '/' || !is_roomy(under) ||
		snprintf(folders.scratch, PATH_MOST, "%s/tmp.XXXXXX", under) >= PATH_MOST ||
		!leftover_folder(folders.scratch)) {
		folders.scratch[0] = 0;
		return false;
	}
	return true;
}

/* The temporary folder, if it can be in the cache; else NULL. */
static const char *scratch_in_cache(void)
{
	const char *folder = cache_folder();

	/* the user may remove the cache at any time */
	if (folders.scratch[0] && !access(folders.scratch, W_OK | X_OK))
		return folders.scratch;
	if (folder && folder_writable(folder))
		scratch_sweep(folder);
	return scratch_make(folder) ? folders.scratch : NULL;
}

const char *cache_scratch(void)
{
	if (!scratch_in_cache() && !scratch_make(getenv("TMPDIR")) && !scratch_make("/tmp") &&
		!scratch_make("/dev/shm"))
		die(FAILED, "there is no folder with %d MB for objects: neither in the cache nor "
			"in TMPDIR, /tmp or /dev/shm", ROOM >> 20);
	return folders.scratch;
}

const char *cache_beside(const char *stem)
{
	const char *folder = scratch_in_cache();
	return !folder ? NULL : arena_printf("%s/%s-%d", folder, stem, folders.made++);
}

const char *cache_new(const char *stem)
{
	const char *folder = cache_scratch();
	return arena_printf("%s/%s-%d", folder, stem, folders.made++);
}
