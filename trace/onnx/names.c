/* A model's names in the form that the contract requires: "/model/layer.0/MatMul=out" →
 * "_model_layer.0_MatMul_out". */
#include "io/io.h"
#include "onnx/proto.h"

enum { LONGEST = 200 };        /* leaves space for a number at the end */

const char *onnx_clean(const char *name)
{
	size_t n = strlen(name);
	char *s = arena_alloc(n + 2);
	memcpy(s, name, n);
	if (n > LONGEST)
		for (n = LONGEST; n && (s[n] & 0xc0) == 0x80; n--)
			;
	s[n] = 0;
	if (!n)
		strcpy(s, "_");
	bool text = utf8_ok(s, strlen(s));
	for (char *p = s; *p; p++)
		if ((unsigned char)*p < 32 || *p == 127 || *p == '/' || *p == '=' ||
			(!text && *p & 0x80))
			*p = '_';
	if (*s == '.' || *s == '-')
		*s = '_';
	/* the control characters of Latin-1 take two bytes: c2 80 to c2 9f */
	for (char *p = s; *p; p++)
		if ((unsigned char)p[0] == 0xc2 && (unsigned char)p[1] < 0xa0)
			p[0] = p[1] = '_';
	return s;
}

static bool letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

const char *onnx_identifier(const char *name)
{
	size_t n = strlen(name) < LONGEST ? strlen(name) : LONGEST;
	char *s = arena_alloc(n + 2), *out = s;
	if (!n || !letter(*name))
		*out++ = '_';
	for (size_t i = 0; i < n; i++)
		*out++ = letter(name[i]) || (name[i] >= '0' && name[i] <= '9') ? name[i] : '_';
	return s;
}
