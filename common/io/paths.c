/* Paths in documents: relative to the folder of the file that a document is in, so that both can be
 * moved together.
 *
 *     /home/a/model/net.onnx in /home/a/model/net.mp        net.onnx
 *                            in /home/a/out/net.mp          ../model/net.onnx
 *                            in /tmp/net.mp                 /home/a/model/net.onnx
 *
 * Within a process they are absolute, or as a pipe gave them: relative to the working folder. */
#include "io/io.h"
#include <stdlib.h>
#include <unistd.h>

char *path_folder(const char *file)
{
	const char *slash = strrchr(file, '/');
	char *name = slash ? xstrdup(file) : NULL;
	if (name)
		name[slash > file ? slash - file : 1] = 0;
	char *real = realpath(name ? name : ".", NULL);
	free(name);
	return real;
}

char *path_other_folder(const char *file)
{
	char *folder = path_folder(file), *here = getcwd(NULL, 0);
	if (folder && here && !strcmp(folder, here)) {
		free(folder);
		folder = NULL;
	}
	free(here);
	return folder;
}

const char *path_whole(const char *path)
{
	if (path[0] == '/')
		return path;
	char *here = getcwd(NULL, 0);
	path = here ? arena_printf("%s/%s", strcmp(here, "/") ? here : "", path) : path;
	free(here);
	return path;
}

/* The number of bytes of the folders that both paths begin with, with the slash behind them. */
static size_t shared_folders(const char *folder, const char *path)
{
	size_t shared = 0, n = strlen(folder);
	for (size_t i = 0; i <= n; i++) {
		bool end = i == n || folder[i] == '/';
		if (end && path[i] == '/')
			shared = i + 1;
		if (i == n || folder[i] != path[i])
			break;
	}
	return shared;
}

const char *path_from_folder(const char *folder, const char *path)
{
	path = path_whole(path);
	size_t shared = shared_folders(folder, path), n = strlen(folder);
	/* "/" alone is no folder that is moved */
	if (shared <= 1 || path[0] != '/')
		return path;
	Buf out = {0};
	for (size_t i = shared; i < n; i++)
		if (i == shared || folder[i - 1] == '/')
			buf_add(&out, "../", 3);
	buf_add(&out, path + shared, strlen(path + shared));
	const char *text = arena_strdup(buf_str(&out));
	buf_free(&out);
	return text;
}
