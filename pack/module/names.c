/* Names of documents become identifiers of C: letters, digits and _, no word of C or C++, distinct
 * where they have to be.
 *
 *     "/layer1/conv1.weight"   →   layer1_conv1_weight        "int"   →   int_ */
#include "module/module.h"
#include <ctype.h>

enum { LONGEST = 60 };

/* words of C11 and C++20, and names that the headers of generated sources declare */
static const char words[] =
	" auto break case char const continue default do double else enum extern float for goto if "
	"inline "
	"int long register restrict return short signed sizeof static struct switch typedef union "
	"unsigned void volatile while alignas alignof and and_eq asm bitand bitor bool catch "
	"char8_t "
	"char16_t char32_t class compl concept consteval constexpr constinit const_cast co_await "
	"co_return co_yield decltype delete dynamic_cast explicit export false friend mutable "
	"namespace "
	"new noexcept not not_eq nullptr operator or or_eq private protected public "
	"reinterpret_cast "
	"requires static_assert static_cast template this thread_local throw true try typeid "
	"typename "
	"using virtual wchar_t xor xor_eq main memcpy memset memmove size_t NULL INFINITY NAN "
	"j0 j1 jn y0 y1 yn gamma signgam linux unix i386 ";

bool identifier_ok(const char *s)
{
	const char *at = words;
	size_t n = strlen(s);

	if (!n || isdigit((unsigned char)*s) || strspn(s, "abcdefghijklmnopqrstuvwxyz"
			"ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") != n)
		return false;
	while ((at = strstr(at, s))) {
		if (at[-1] == ' ' && at[n] == ' ')
			return false;
		at++;
	}
	return true;
}

static bool is_taken(const Map *taken, const char *id)
{
	return map_get(taken, hash_bytes(id, strlen(id), 0));
}

const char *identifier_new(Map *taken, const Map *also, const char *name)
{
	char id[LONGEST + 2];
	size_t n = 0;

	if (isdigit((unsigned char)*name))
		id[n++] = '_';
	for (; *name && n < LONGEST; name++)
		if (isalnum((unsigned char)*name) && !(*name & 0x80))
			id[n++] = *name;
		else if (n && id[n - 1] != '_')
			id[n++] = '_';
	while (n && id[n - 1] == '_')
		n--;
	if (!n)
		id[n++] = 'v';
	id[n] = 0;
	const char *r = arena_strdup(id);
	for (int k = 0; !identifier_ok(r) || is_taken(taken, r) || (also && is_taken(also, r)); k++)
		r = k ? arena_printf("%s_%d", id, k) : arena_printf("%s_", id);
	map_put(taken, hash_bytes(r, strlen(r), 0), (void *)r);
	return r;
}

const char *type_name(DType d)
{
	static const char *const type[] = {
		[DT_BOOL] = "uint8_t",
		[DT_I8] = "int8_t",
		[DT_I16] = "int16_t",
		[DT_I32] = "int32_t",
		[DT_I64] = "int64_t",
		[DT_U8] = "uint8_t",
		[DT_U16] = "uint16_t",
		[DT_U32] = "uint32_t",
		[DT_U64] = "uint64_t",
		[DT_F16] = "uint16_t",
		[DT_BF16] = "uint16_t",
		[DT_F32] = "float",
		[DT_F64] = "double",
	};

	return type[d];
}
