/* What an input is, by its first bytes: a document, a program or model that `trace` reads, or
 * something that belongs elsewhere, of which the message says where.
 *
 *     0x80 … 0x8f, 0xde, 0xdf     a msgpack map: a document
 *     0x08 N tag                  an ONNX model: field 1, its version, comes first
 *     "sluice 1 LEVEL"            a document as `show` prints it
 *     printable                   a program
 *
 * Programs in C and C++, and compiled ones, are known by the name's ending alone: to read them is
 * to run them, which what comes over a pipe never is. */
#include "io/io.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LOOKED_AT = 256 };

bool name_ends(const char *name, const char *ending)
{
	size_t n = strlen(name), k = strlen(ending);
	return n > k && !strcmp(name + n - k, ending);
}

static bool ends_as_code(const char *name)
{
	static const char *const endings[] = {".c", ".cc", ".cpp", ".cxx", ".so"};
	for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
		if (name_ends(name, endings[i]))
			return true;
	return false;
}

static bool begins(const uint8_t *p, size_t n, const char *with)
{
	return n >= strlen(with) && !memcmp(p, with, strlen(with));
}

/* A ModelProto: its version, then a field of another number. */
static bool is_model(const uint8_t *p, size_t n)
{
	return n > 2 && p[0] == 0x08 && p[1] && p[1] < 0x80 && p[2] > 0x0f && (p[2] & 7) <= 2;
}

static bool is_printable(const uint8_t *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if ((p[i] < 32 && !memchr("\t\n\r\f", p[i], 4)) || p[i] == 127)
			return false;
	return n > 0 && (*p & 0xc0) != 0x80;
}

InputKind input_kind(const void *bytes, size_t size, const char *name)
{
	size_t n = size < LOOKED_AT ? size : LOOKED_AT;
	const uint8_t *p = bytes;

	if (name && ends_as_code(name))
		return INPUT_CODE;
	if (!n)
		return INPUT_EMPTY;
	if ((*p & 0xf0) == 0x80 || *p == 0xde || *p == 0xdf)
		return INPUT_DOCUMENT;
	if (is_model(p, n) || (name && name_ends(name, ".onnx")))
		return INPUT_MODEL;
	if (is_printable(p, n))
		return begins(p, n, "sluice 1 ") ? INPUT_SHOWN : INPUT_TEXT;
	return INPUT_OTHER;
}

InputKind file_kind(const char *path)
{
	uint8_t p[LOOKED_AT];
	struct stat st;
	ssize_t n = -1;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	/* what is no regular file is looked at when it is read, which happens once */
	if (fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode))
		n = pread(fd, p, sizeof p, 0);
	if (fd >= 0)
		close(fd);
	return n < 0 ? INPUT_EMPTY : input_kind(p, n, path);
}

/* The word after "sluice 1 ", if it is a level. */
static const char *shown_level(const uint8_t *p, size_t n)
{
	for (int i = 0; i <= LV_PROGRAM; i++)
		if (n > 9 && begins(p + 9, n - 9, level_name[i]))
			return level_name[i];
	return "unknown";
}

_Noreturn void input_refuse(const void *bytes, size_t n)
{
	static const struct { const char *begin, *is; } known[] = {
		{"\x93NUMPY",
			"an array (.npy): give it to an input, as in run FILE NAME=ARRAY.npy"},
		{"PK\3\4", "an archive, as .npz: give it to an input, as in run FILE NAME=A.npz"},
		{"\x7f""ELF", "a compiled program: trace reads one whose name ends in .so"},
		{"\x1f\x8b", "compressed by gzip: unpack it first"},
		{"\x89PNG", "a picture"},
		{"%PDF", "a PDF"},
	};

	if (input_kind(bytes, n, NULL) == INPUT_SHOWN)
		die(MALFORMED, "text of level %s: show -p reads it", shown_level(bytes, n));
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (begins(bytes, n, known[i].begin))
			die(MALFORMED, "not a document but %s", known[i].is);
	if (n > 9 && begins((const uint8_t *)bytes + 8, n - 8, "{\""))
		die(MALFORMED, "not a document but tensors (.safetensors): give them to an input, "
			"as in run FILE NAME=T.safetensors");
	die(MALFORMED, "not a document: no map at its first byte");
}
