/* An archive of sources, in the format ustar of POSIX, with no owner and no time. */
#include "library/library.h"

enum { BLOCK = 512 };
/* offsets of a header's fields */
enum { MODE = 100, UID = 108, GID = 116, SIZE = 124, TIME = 136, SUM = 148, TYPE = 156,
	MAGIC = 257 };

/* in octal */
static void put_number(char *field, int digits, uint64_t v)
{
	for (int i = digits; i-- > 0; v >>= 3)
		field[i] = (char)('0' + (v & 7));
}

static void put_file(Buf *out, const char *name, const char *p, size_t n)
{
	static const char zeros[BLOCK];
	char head[BLOCK] = {0};
	unsigned sum = 0;

	if (strlen(name) >= MODE || n >> 33)
		die(UNSUPPORTED, "%s: an archive of that format has no room for it", name);
	memcpy(head, name, strlen(name));
	put_number(head + MODE, 7, 0644);
	put_number(head + UID, 7, 0);
	put_number(head + GID, 7, 0);
	put_number(head + SIZE, 11, n);
	put_number(head + TIME, 11, 0);
	head[TYPE] = '0';
	memcpy(head + MAGIC, "ustar\00000", 8);
	/* the sum is over a header with blanks in its place */
	memset(head + SUM, ' ', 8);
	for (int i = 0; i < BLOCK; i++)
		sum += (unsigned char)head[i];
	put_number(head + SUM, 6, sum);
	head[SUM + 6] = 0;
	buf_add(out, head, BLOCK);
	buf_add(out, p, n);
	buf_add(out, zeros, (BLOCK - n % BLOCK) % BLOCK);
}

void tar_write(Buf *out, const Module *m, const Files *files)
{
	static const char end[2 * BLOCK];

	for (size_t i = 0; i < files->n; i++) {
		const File *f = &files->at[i];
		put_file(out, arena_printf("%s/%s", m->name, f->name), f->text.s, f->text.n);
	}
	buf_add(out, end, sizeof end);
}
