/* Writes msgpack from a line of JSON-like text, without any check, so that tests can have what no
 * tool would write.
 *
 *     mkdoc '[$x, ["NEG", "f32", [0], nil], !1]'    nodes become a document of level graph
 *     mkdoc '{uop: 2, …}'                           anything else is written as it stands
 *
 * $x $y $i $b $u $n $o $c stand for sources (below), !3 for a SINK of node 3, <c1 dd ff> for those bytes,
 * @N*V for N times V. */
#include <ctype.h>
#include <msgpack.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const macro[128] = {
	['x'] = "[\"BUFFER\",\"f32\",[],{name:\"x\",shape:[3,4],role:\"input\"}]",
	['y'] = "[\"BUFFER\",\"f32\",[],{name:\"y\",shape:[3,4],role:\"input\"}]",
	['i'] = "[\"BUFFER\",\"i32\",[],{name:\"i\",shape:[3,4],role:\"input\"}]",
	['u'] = "[\"BUFFER\",\"u64\",[],{name:\"u\",shape:[3,4],role:\"input\"}]",
	['b'] = "[\"BUFFER\",\"bool\",[],{name:\"b\",shape:[3,4],role:\"input\"}]",
	['s'] = "[\"BUFFER\",\"f32\",[],{name:\"s\",shape:[4],role:\"state\",data:"
		"b\"00000000000000000000000000000000\"}]",
	['n'] = "[\"BUFFER\",\"i64\",[],{name:\"n\",shape:[],role:\"input\"}]",
	['o'] = "[\"BUFFER\",\"bool\",[],{name:\"o\",shape:[],role:\"input\"}]",
	['c'] = "[\"CONST\",\"f32\",[],1.0]",
};

static msgpack_sbuffer out;
static msgpack_packer pk;
static const char *p;

static void fail(const char *why)
{
	fprintf(stderr, "mkdoc: %s at: %.40s\n", why, p);
	exit(1);
}

static int skip(void)
{
	while (isspace((unsigned char)*p))
		p++;
	return *p;
}

static int hex(int c) { return isdigit(c) ? c - '0' : isxdigit(c) ? tolower(c) - 'a' + 10 : -1; }

static size_t string(char *to)
{
	size_t n = 0;
	for (p++; *p != '"'; p++) {
		if (!*p)
			fail("a string does not end");
		if (*p != '\\') {
			to[n++] = *p;
		} else if (*++p == 'x') {
			to[n++] = hex(p[1]) * 16 + hex(p[2]);
			p += 2;
		} else {
			to[n++] = *p == 'n' ? '\n' : *p;
		}
	}
	p++;
	return n;
}

static void raw_bytes(char end, char *to, size_t *n)
{
	for (*n = 0; skip() != end; p += 2) {
		if (hex(p[0]) < 0 || hex(p[1]) < 0)
			fail("two hexadecimal digits are missing");
		to[(*n)++] = hex(p[0]) * 16 + hex(p[1]);
	}
	p++;
}

static void value(void);

/* Elements counted as they are written: into a buffer of their own, then behind their head. */
static void list(int map)
{
	msgpack_sbuffer outer = out;
	size_t n = 0, len;
	char end = map ? '}' : ']', *key = malloc(strlen(p) + 1);
	msgpack_sbuffer_init(&out);
	for (p++; skip() != end; n++) {
		if (*p == ',')
			p++;
		skip();
		if (map && isalpha((unsigned char)*p)) {
			for (len = 0; isalnum((unsigned char)p[len]) || p[len] == '_'; len++)
				;
			msgpack_pack_str(&pk, len);
			msgpack_pack_str_body(&pk, p, len);
			p += len;
		} else if (map) {
			value();
		}
		if (map && skip() == ':')
			p++;
		size_t before = 1;
		skip();
		if (!map && *p == '@') {
			char *star;
			before = strtoull(p + 1, &star, 10);
			const char *from = star + 1;
			for (size_t i = 0; i < before; i++) {
				p = from;
				value();
			}
			n += before - 1;
		} else {
			value();
		}
	}
	p++;
	free(key);
	msgpack_sbuffer inner = out;
	out = outer;
	if (map)
		msgpack_pack_map(&pk, n);
	else
		msgpack_pack_array(&pk, n);
	msgpack_sbuffer_write(&out, inner.data, inner.size);
	msgpack_sbuffer_destroy(&inner);
}

static void number(void)
{
	char *end;
	size_t n = strcspn(p, ",]} \n");
	if (memchr(p, '.', n) || memchr(p, 'e', n) || memchr(p, 'n', n))
		msgpack_pack_double(&pk, strtod(p, &end));
	else if (*p == '-')
		msgpack_pack_int64(&pk, strtoll(p, &end, 10));
	else
		msgpack_pack_uint64(&pk, strtoull(p, &end, 10));
	if (end == p)
		fail("no value");
	p = end;
}

static void macro_value(const char *text)
{
	const char *back = p;
	p = text;
	value();
	p = back;
}

static int keyword(const char *w)
{
	size_t n = strlen(w);
	if (strncmp(p, w, n) || isalnum((unsigned char)p[n]))
		return 0;
	p += n;
	return 1;
}

static void value(void)
{
	size_t n;
	int c = skip();
	char *text = malloc(strlen(p) + 200);
	if (c == '[' || c == '{') {
		list(c == '{');
	} else if (c == '"') {
		n = string(text);
		msgpack_pack_str(&pk, n);
		msgpack_pack_str_body(&pk, text, n);
	} else if (c == 'b' && p[1] == '"') {
		p += 2;
		raw_bytes('"', text, &n);
		msgpack_pack_bin(&pk, n);
		msgpack_pack_bin_body(&pk, text, n);
	} else if (c == '<') {
		p++;
		raw_bytes('>', text, &n);
		msgpack_sbuffer_write(&out, text, n);
	} else if (c == '$') {
		p += 2;
		macro_value(macro[(unsigned char)p[-1] & 127]);
	} else if (c == '!') {
		n = strtoul(p + 1, (char **)&p, 10);
		sprintf(text, "[\"SINK\",nil,[%zu],nil]", n);
		macro_value(text);
	} else if (keyword("nil")) {
		msgpack_pack_nil(&pk);
	} else if (keyword("true")) {
		msgpack_pack_true(&pk);
	} else if (keyword("false")) {
		msgpack_pack_false(&pk);
	} else {
		number();
	}
	free(text);
}

int main(int argc, char **argv)
{
	msgpack_sbuffer_init(&out);
	msgpack_packer_init(&pk, &out, msgpack_sbuffer_write);
	for (int i = 1; i < argc; i++) {
		static char whole[1 << 20];
		snprintf(whole, sizeof whole,
			argv[i][0] == '[' ? "{uop: 1, level: \"graph\", nodes: %s}" : "%s",
			argv[i]);
		for (p = whole; skip();)
			value();
	}
	fwrite(out.data, 1, out.size, stdout);
	return 0;
}
