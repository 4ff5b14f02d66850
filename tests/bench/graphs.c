/* Writes a graph of about N nodes of one kind, to see how the cost of a stage grows.
 *
 *     graphs chain 100000 | simplify | …
 *
 * A document is written as it is made, so the size is limited by the disk alone. */
#include <msgpack.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static msgpack_packer pk;
static msgpack_sbuffer nodes;
static uint32_t made;

static int to_stdout(void *unused, const char *bytes, size_t n)
{
	return fwrite(bytes, 1, n, stdout) == n ? 0 : -1;
}

static void text(const char *s)
{
	msgpack_pack_str(&pk, strlen(s));
	msgpack_pack_str_body(&pk, s, strlen(s));
}

static void ints(int n, const int64_t *v)
{
	msgpack_pack_array(&pk, n);
	for (int i = 0; i < n; i++)
		msgpack_pack_int64(&pk, v[i]);
}

/* A node's start: what is left to write is its arg. Gives its number. */
static int64_t node(const char *op, int nsrc, int64_t a, int64_t b)
{
	msgpack_pack_array(&pk, 4);
	text(op);
	text("f32");
	ints(nsrc, (int64_t[]){a, b});
	return made++;
}

static int64_t unary(const char *op, int64_t a)
{
	int64_t at = node(op, 1, a, 0);
	msgpack_pack_nil(&pk);
	return at;
}

static int64_t binary(const char *op, int64_t a, int64_t b)
{
	int64_t at = node(op, 2, a, b);
	msgpack_pack_nil(&pk);
	return at;
}

static int64_t moved(const char *op, int64_t a, int64_t x, int64_t y)
{
	int64_t at = node(op, 1, a, 0);
	ints(2, (int64_t[]){x, y});
	return at;
}

static int64_t constant(double v)
{
	int64_t at = node("CONST", 0, 0, 0);
	msgpack_pack_double(&pk, v);
	return at;
}

static int64_t sum(int64_t a, int64_t axis)
{
	int64_t at = node("REDUCE", 1, a, 0);
	msgpack_pack_array(&pk, 2);
	text("ADD");
	ints(1, &axis);
	return at;
}

static int64_t input(const char *name)
{
	int64_t at = node("BUFFER", 0, 0, 0);
	msgpack_pack_map(&pk, 3);
	text("name");
	text(name);
	text("shape");
	ints(2, (int64_t[]){4, 5});
	text("role");
	text("input");
	return at;
}

/* ---- the kinds: each makes about n nodes from input x and gives its outputs in out */

static size_t chain(size_t n, int64_t x, int64_t *out)
{
	static const char *const op[] = {"NEG", "SQRT", "EXP2", "SIN"};
	for (size_t i = 0; i < n; i++)
		x = unary(op[i % 4], x);
	out[0] = x;
	return 1;
}

static size_t wide(size_t n, int64_t x, int64_t *out)
{
	for (size_t i = 0; i < n / 2; i++)
		out[i] = binary("MUL", x, constant(i));
	return n / 2;
}

static size_t tree(size_t n, int64_t x, int64_t *out)
{
	size_t m = wide(2 * n / 3, x, out);
	while (m > 1) {
		size_t half = 0;
		for (size_t i = 0; i + 1 < m; i += 2)
			out[half++] = binary("ADD", out[i], out[i + 1]);
		if (m % 2)
			out[half++] = out[m - 1];
		m = half;
	}
	return 1;
}

static size_t diamond(size_t n, int64_t x, int64_t *out)
{
	for (size_t i = 0; i < n / 2; i++)
		x = binary("ADD", unary("SIN", x), x);
	out[0] = x;
	return 1;
}

static size_t perm(size_t n, int64_t x, int64_t *out)
{
	for (size_t i = 0; i < n / 2; i++)
		x = unary("SIN", moved("PERMUTE", x, 1, 0));
	out[0] = x;
	return 1;
}

static size_t views(size_t n, int64_t x, int64_t *out)
{
	for (size_t i = 0; i < n / 2; i++)
		x = moved("RESHAPE", moved("PERMUTE", x, 1, 0), 4, 5);
	out[0] = x;
	return 1;
}

/* rows centred again and again */
static size_t reduce(size_t n, int64_t x, int64_t *out)
{
	for (size_t i = 0; i < n / 3; i++)
		x = binary("SUB", x, moved("EXPAND", sum(x, 1), 4, 5));
	out[0] = x;
	return 1;
}

static const struct {
	const char *name;
	size_t (*make)(size_t n, int64_t x, int64_t *out);
} kind[] = {
	{"chain", chain},
	{"wide", wide},
	{"tree", tree},
	{"diamond", diamond},
	{"perm", perm},
	{"views", views},
	{"reduce", reduce},
};

static int write_document(size_t k, size_t n)
{
	int64_t *out = malloc((n + 1) * sizeof *out);
	if (!out)
		return 1;
	msgpack_sbuffer_init(&nodes);
	msgpack_packer_init(&pk, &nodes, msgpack_sbuffer_write);
	size_t nout = kind[k].make(n, input("x"), out);
	msgpack_pack_array(&pk, 4);
	text("SINK");
	msgpack_pack_nil(&pk);
	ints(nout, out);
	msgpack_pack_nil(&pk);
	msgpack_packer_init(&pk, NULL, to_stdout);
	msgpack_pack_map(&pk, 3);
	text("uop");
	msgpack_pack_int(&pk, 1);
	text("level");
	text("graph");
	text("nodes");
	msgpack_pack_array(&pk, made + 1);
	free(out);
	return fwrite(nodes.data, 1, nodes.size, stdout) != nodes.size || fflush(stdout);
}

int main(int argc, char **argv)
{
	for (size_t k = 0; argc == 3 && k < sizeof kind / sizeof *kind; k++)
		if (!strcmp(kind[k].name, argv[1]) && atoll(argv[2]) > 0)
			return write_document(k, atoll(argv[2]));
	fputs("usage: graphs KIND N\nkinds:", stderr);
	for (size_t k = 0; k < sizeof kind / sizeof *kind; k++)
		fprintf(stderr, " %s", kind[k].name);
	fputc('\n', stderr);
	return 2;
}
