/* Names in generated code. Names from a document are reduced to letters, digits and _, and never
 * equal keywords, functions or the printer's own names: a b! → a_b_, int → int_, v3 → v3_, 2x →
 * x2x */
#include "print/print.h"
#include <ctype.h>

static const char reserved[] =
	" alignas alignof and and_eq as_type asm atomic_int atomic_uint auto barrier bfloat"
	" bitand bitor blockDim blockIdx bool break case catch char class clang compl complex"
	" concept const constant constexpr continue decltype default delete device do double"
	" else enum event_t explicit export extern false float for friend global goto gridDim"
	" half if image inline int int16_t int32_t int64_t int8_t kernel linux local long"
	" main max metal min mutable namespace new noexcept not not_eq nullptr operator or"
	" or_eq packed private program protected ptrdiff_t public quad ray read_only"
	" read_write register reinterpret_cast restrict return sampler sampler_t short signed"
	" size_t sizeof static static_assert static_cast struct switch template texture this"
	" thread threadIdx threadgroup throw true try typedef typeid typename typeof uchar"
	" uint uint16_t uint32_t uint64_t uint8_t uintptr_t ulong uniform union unix unsigned"
	" ushort using vec vec_step vertex fragment virtual void volatile warpSize wchar_t"
	" while write_only xor xor_eq ";

/* functions of <math.h>, there also with f and l at the end, and <string.h> */
static const char library[] =
	" acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp2"
	" expm1 fabs fdim floor fma fmax fmin fmod frexp hypot ilogb ldexp lgamma llrint llround"
	" log log10 log1p log2 logb lrint lround modf nan nearbyint nextafter nexttoward pow"
	" remainder remquo rint round scalbln scalbn sin sinh sqrt tan tanh tgamma trunc"
	" memchr memcmp memcpy memmove memset strcat strchr strcmp strcoll strcpy strcspn strerror"
	" strlen strncat strncmp strncpy strpbrk strrchr strspn strstr strtok strxfrm ";

static bool in_library(const char *s)
{
	size_t n = strlen(s);
	bool variant = n && strchr("fl", s[n - 1]);
	return strstr(library, arena_printf(" %s ", s)) ||
		(variant && strstr(library, arena_printf(" %.*s ", (int)n - 1, s)));
}

/* max_f32, load_f32x16, f32_to_i8_x16: functions of the printer's prelude have a dtype in their
 * names */
static bool has_dtype(const char *s)
{
	for (const char *at = s; at; at = strchr(at, '_')) {
		at += *at == '_';
		size_t n = strcspn(at, "_"), name = n;
		while (name && isdigit((unsigned char)at[name - 1]))
			name--;
		name = name > 2 && at[name - 1] == 'x' ? name - 1 : n;
		for (int d = 0; d < DT_COUNT; d++)
			if (strlen(dtype_name(d)) == name && !strncmp(at, dtype_name(d), name))
				return true;
	}
	return false;
}

/* r3, v12, acc0, … are the printer's; so are types like float4 and all names with two underscores
 * in a row or in capitals only. */
static bool taken(const char *s)
{
	if (has_dtype(s) || !strcmp(s, "stream_end") || in_library(s))
		return true;
	size_t n = strlen(s), letters = strcspn(s, "0123456789");
	bool number = letters && !memchr(s, '_', letters) &&
		strspn(s + letters, "0123456789x") == n - letters && letters < n;
	if (strstr(reserved, arena_printf(" %s ", s)) || strstr(s, "__") || s[0] == '_' || number)
		return true;
	if (!strncmp(s, "r", 1) && strchr(s, '_') && isdigit((unsigned char)s[1]))
		return true;
	return strncmp(s, "E_", 2) && strcspn(s, "abcdefghijklmnopqrstuvwxyz") == n;
}

const char *name_safe(const char *s, size_t n)
{
	enum { LONGEST = 48 };
	char out[LONGEST + 4];
	size_t k = 0;
	if (n && isdigit((unsigned char)s[0]))
		out[k++] = 'x';
	for (size_t i = 0; i < n && k < LONGEST; i++) {
		bool plain = (unsigned char)s[i] < 128 && isalnum((unsigned char)s[i]);
		if (plain || (k && out[k - 1] != '_'))
			out[k++] = plain ? s[i] : '_';
	}
	if (!k)
		out[k++] = 'x';
	out[k] = 0;
	return taken(out) ? arena_printf(out[k - 1] == '_' ? "%s0" : "%s_", out) :
			    arena_strdup(out);
}

const char *name_unique(Map *used, const char *name)
{
	const char *s = name;
	for (int i = 2; map_get(used, PKEY(val_str(s))); i++)
		s = arena_printf("%s_%d", name, i);
	map_put(used, PKEY(val_str(s)), (void *)s);
	return s;
}

const char *comment_safe(const char *s, size_t n)
{
	enum { LONGEST = 200 };
	char *out = arena_alloc(LONGEST + 1);
	size_t k = 0;
	for (size_t i = 0; i < n && k < LONGEST; i++) {
		unsigned char c = s[i];
		bool ends = (c == '/' && k && out[k - 1] == '*') ||
			(c == '*' && k && out[k - 1] == '/');
		out[k++] = c < 32 || c > 126 || c == '\\' || c == '?' || ends ? '_' : c;
	}
	return out;
}
