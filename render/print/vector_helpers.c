/* Vector types and functions over them, in the generated code: printed once, at the first use, each
 * in an include guard. Where no operator of C compiles to the single instruction that exists, the
 * compiler's builtin is used under #if, with the meaning in plain C beside it.
 *
 * A template's words: $N name, $n lanes, $V vector type, $E its element, $M mask type, $U unsigned
 * type, $A the vector at any address, $W bits of an element, $x $i lists of x and of 0, 1, …; $c $X
 * $r the same for parts that a register holds, $D a part's mask type; $F a library function, $f its
 * ending for f32; for x86 $K $J float and integer vector, $C the former's element, $p ps or pd, $d
 * d or q, $B a mask of all lanes, $G a cast to what gcc takes for one; in casts $S $Q vector and
 * mask type of the source, $R an intermediate vector type, $4 one of i32, $L $H limits of the
 * source, $l $h the values beyond them (or lists of the lower and the upper half). */
#include "print/vector.h"

/* ---- types */

DType lane_dtype(DType d)
{
	return d == DT_BOOL ? DT_U8 : dtype_half(d) ? DT_U16 : d;
}

const char *vector_type(Printer *p, DType d, int lanes)
{
	/* every function that takes one is inlined, so the calling convention does not matter */
	if (!helper_have(&p->helpers, "vectors"))
		helper_put(&p->helpers, "vectors", "#pragma GCC diagnostic ignored \"-Wpsabi\"\n");
	d = lane_dtype(d);
	const char *name = arena_printf("%sx%d", dtype_name(d), lanes);
	if (!helper_have(&p->helpers, name))
		helper_put(&p->helpers, name,
			arena_printf("typedef %s %s __attribute__((vector_size(%d)));\n"
				     "typedef %s %s_at __attribute__((vector_size(%d), "
				     "aligned(%d), may_alias));\n",
				p->d->type[d], name, lanes * dtype_size(d), p->d->type[d], name,
				lanes * dtype_size(d), dtype_size(d)));
	return name;
}

static const DType signed_of[] = {[1] = DT_I8, [2] = DT_I16, [4] = DT_I32, [8] = DT_I64};
static const DType unsigned_of[] = {[1] = DT_U8, [2] = DT_U16, [4] = DT_U32, [8] = DT_U64};

const char *mask_type(Printer *p, int bytes, int lanes)
{
	return vector_type(p, signed_of[bytes], lanes);
}

/* ---- templates */

const char *number_list(int n, int first, int below)
{
	Buf b = {0};
	for (int i = 0; i < n; i++)
		buf_printf(&b, "%s%d", i ? ", " : "", (first + i) % below);
	return buf_keep(&b);
}

const char *text_list(int n, const char *s)
{
	Buf b = {0};
	for (int i = 0; i < n; i++)
		buf_printf(&b, "%s%s", i ? ", " : "", s);
	return buf_keep(&b);
}

/* the type that an x86 builtin takes: a float or an integer vector */
static const char *x86_type(bool flt, int size, int bytes)
{
	return arena_printf("%s __attribute__((vector_size(%d)))",
		flt ? size == 8 ? "double" : "float" : size == 8 ? "long long" : "int", bytes);
}

static const char *word(Printer *p, const VWords *w, char c)
{
	int size = dtype_size(w->to), source = dtype_size(w->from), chunk = 64 / size;
	switch (c) {
	case 'N': return w->name;
	case 'F': return w->fn;
	case 'n': return arena_printf("%d", w->lanes);
	case 'V': return vector_type(p, w->to, w->lanes);
	case 'E': return p->d->type[w->to];
	case 'M': return mask_type(p, size, w->lanes);
	case '4': return mask_type(p, 4, w->lanes);
	case 'U': return vector_type(p, unsigned_of[size], w->lanes);
	case 'A': return arena_printf("%s_at", vector_type(p, w->to, w->lanes));
	case 'S': return vector_type(p, w->from, w->lanes);
	case 'Q': return mask_type(p, source, w->lanes);
	case 'R': return w->via == DT_NONE ? "" : vector_type(p, w->via, w->lanes);
	case 'L': return w->low;
	case 'H': return w->high;
	case 'l': return w->least;
	case 'h': return w->greatest;
	case 'p': return size == 8 ? "pd" : "ps";
	case 'd': return size == 8 ? "q" : "d";
	case 'K':
	case 'J': return x86_type(c == 'K', size, size * w->lanes);
	case 'B': return size == 8 ? "0xff" : "0xffff";
	case 'G': return size == 8 ? "(unsigned char)" : "(short)";
	case 'C': return size == 8 ? "double" : "float";
	case 'W': return arena_printf("%d", 8 * size);
	case 'x': return text_list(w->lanes, "x");
	case 'i': return number_list(w->lanes, 0, w->lanes);
	case 'D': return mask_type(p, size, chunk);
	case 'c': return vector_type(p, w->to, chunk);
	case 'X': return text_list(chunk, "x");
	case 'r': return number_list(w->lanes, 0, chunk);
	case 'f': return size == 8 ? "" : "f";
	default: return "$";
	}
}

const char *vector_helper(Printer *p, const VWords *w, const char *text)
{
	Buf b = {0};
	if (helper_have(&p->helpers, w->name))
		return w->name;
	for (; *text; text++) {
		if (*text == '$')
			buf_printf(&b, "%s", word(p, w, *++text));
		else
			buf_add(&b, text, 1);
	}
	helper_put(&p->helpers, w->name, buf_str(&b));
	buf_free(&b);
	return w->name;
}

/* ---- functions of one dtype */

#define EACH(what) "\t$V r;\n\tfor (int i = 0; i < $n; i++)\n\t\tr[i] = " what ";\n\treturn r;\n"
#define ONE VECTOR_INLINE "$V $N($V x)\n{\n"
#define TWO VECTOR_INLINE "$V $N($V a, $V b)\n{\n"
#define THREE VECTOR_INLINE "$V $N($V a, $V b, $V c)\n{\n"
#define BLEND(m, a, b) "($V)((($M)" a " & " m ") | (($M)" b " & ~" m "))"
/* x86: one spelling for clang and one for gcc, or one for both; the plain C that follows ends it */
#define AVX512(clang, gcc) "#if defined __AVX512F__ && defined __clang__\n\treturn " clang \
	";\n#elif defined __AVX512F__\n\treturn " gcc ";\n#else\n"
#define AVX512DQ(clang, gcc) "#if defined __AVX512DQ__ && defined __clang__\n\treturn " clang \
	";\n#elif defined __AVX512DQ__\n\treturn " gcc ";\n#else\n"
#define WITH(macro, both) "#ifdef __" macro "__\n\treturn " both ";\n#else\n"
#define DOES(macro, both) "#ifdef __" macro "__\n\t" both ";\n#else\n"
#define END "#endif\n}\n"

/* The first operand when it is greater or NaN, else the second, as in the interpreter: x86's own
 * maximum and minimum give their second operand when the two are equal or either is NaN. */
#define EXTREME(op, lt) \
	{#op, 1, 0, 64, \
		TWO AVX512("__builtin_ia32_select$p_512(\n\t\t__builtin_ia32_cmp$p512_mask(a, a, " \
			   "7, $B, 4), " \
			   "__builtin_ia32_" #op "$p512(a, b, 4), a)", \
			"__builtin_ia32_" #op "$p512_mask(\n\t\ta, b, a, " \
				  "$G__builtin_ia32_cmp$p512_mask(a, a, 7, $B, 4), 4)") \
			EXTREME_PLAIN(lt) END}, \
		{#op, 1, 0, 32, \
			TWO WITH("AVX", \
				"__builtin_ia32_blendv$p256(__builtin_ia32_" #op \
				"$p256(a, b), a, ($V)(a != a))") EXTREME_PLAIN(lt) END}, \
		{#op, 1, 0, 16, \
			TWO WITH("SSE4_1", \
				"__builtin_ia32_blendv$p(__builtin_ia32_" #op \
				"$p(a, b), a, ($V)(a != a))") EXTREME_PLAIN(lt) END}, \
		{#op, 1, 0, 0, TWO EXTREME_PLAIN(lt) "}\n"}, \
	{ \
#op, 0, 0, 0, \
			TWO "\tconst $M m = ($M)(a " lt \
			    " b);\n\treturn " BLEND("m", "b", "a") ";\n}\n" \
	}
#define EXTREME_PLAIN(lt) \
	"\tconst $M m = ($M)(b " lt " a) | ($M)(a != a);\n\treturn " BLEND("m", "a", "b") ";\n"

/* The same when the second operand is a number other than 0: x86's own instruction with operands
 * exchanged then gives the first when that is NaN. */
#define EXTREME_WITH(op, lt) \
	{#op "_with", 1, 0, 64, TWO AVX512("__builtin_ia32_" #op "$p512(b, a, 4)", \
		"__builtin_ia32_" #op "$p512_mask(b, a, a, $G-1, 4)") EXTREME_WITH_PLAIN(lt) END}, \
	{#op "_with", 1, 0, 32, TWO WITH("AVX", "__builtin_ia32_" #op "$p256(b, a)") \
		EXTREME_WITH_PLAIN(lt) END}, \
	{#op "_with", 1, 0, 16, TWO WITH("SSE2", "__builtin_ia32_" #op "$p(b, a)") \
		EXTREME_WITH_PLAIN(lt) END}, \
	{#op "_with", 1, 0, 0, TWO EXTREME_WITH_PLAIN(lt) "}\n"}
#define EXTREME_WITH_PLAIN(lt) \
	"\tconst $M m = ($M)(a " lt " b);\n\treturn " BLEND("m", "b", "a") ";\n"

#define FUSED EACH("__builtin_fma$f(a[i], b[i], c[i])")
#define FUSED_PLAIN \
	"#if defined __FMA__ || defined __aarch64__\n" FUSED "#else\n\treturn a * b + c;\n#endif\n"

#define HALVES(op) \
	VECTOR_INLINE "$M $N($V a, $V b)\n{\n" \
		      "\tconst $c a0 = __builtin_shufflevector(a, a, $l), a1 = " \
		      "__builtin_shufflevector(a, a, $h);\n" \
		      "\tconst $c b0 = __builtin_shufflevector(b, b, $l), b1 = " \
		      "__builtin_shufflevector(b, b, $h);\n" \
		      "\treturn __builtin_shufflevector(($D)(a0 " op " b0), ($D)(a1 " op \
		      " b1), $i);\n}\n"
#define STREAM(macro, fn, bytes) \
	VECTOR_INLINE "void $N(void *p, $V v)\n{\n" \
		      "#if defined __clang__ || defined " macro \
		      "\n\tif ((unsigned long)p % " bytes " == 0) {\n" \
		      "#ifdef __clang__\n\t\t__builtin_nontemporal_store(v, ($V *)p);\n#else\n" \
		      "\t\t__builtin_ia32_" fn \
		      "((float *)p, (float __attribute__((vector_size(" bytes "))))v);\n" \
		      "#endif\n\t\treturn;\n\t}\n#endif\n\t*($A *)p = v;\n}\n"

/* only lanes whose mask is set touch memory */
#define LOAD_IF VECTOR_INLINE "$V $N(const $E *p, $M m)\n{\n"
#define LOAD_EACH "\t$V r = {0};\n\tfor (int i = 0; i < $n; i++)\n\t\tif (m[i])\n" \
	"\t\t\tr[i] = p[i];\n\treturn r;\n"
#define STORE_IF VECTOR_INLINE "void $N($E *p, $V v, $M m)\n{\n"
#define STORE_EACH "\tfor (int i = 0; i < $n; i++)\n\t\tif (m[i])\n\t\t\tp[i] = v[i];\n"

/* lanes of a whose mask is not set stay as they are */
#define ADD_IF "\treturn " BLEND("m", "(a + b)", "a") ";\n"

#define ADD_ALL VECTOR_INLINE "$V $N($V a, $V b, int set)\n{\n"
#define ADD_ALL_PLAIN "\tconst $M m = ($M){0} - set;\n" ADD_IF

/* flt: 1 for floats, 0 for integers, -1 for all; size: least bytes of an element; bytes: of the
 * vector, 0: any, WIDE: wider than any register */
enum { WIDE = -1, REGISTER = 64 };
typedef struct { const char *what; int flt, size, bytes; const char *text; } HelperRow;
static const HelperRow table[] = {
	{"load", -1, 0, 0, VECTOR_INLINE "$V $N(const void *p)\n{\n\treturn *(const $A *)p;\n}\n"},
	{"store", -1, 0, 0, VECTOR_INLINE "void $N(void *p, $V v)\n{\n\t*($A *)p = v;\n}\n"},
	/* past the caches where the place is aligned; stream_end orders it before later stores */
	{"stream", -1, 0, 64, STREAM("__AVX512F__", "movntps512", "64")},
	{"stream", -1, 0, 32, STREAM("__AVX__", "movntps256", "32")},
	{"stream", -1, 0, 16, STREAM("__SSE__", "movntps", "16")},
	{"stream", -1, 0, 0, VECTOR_INLINE "void $N(void *p, $V v)\n{\n\t*($A *)p = v;\n}\n"},
	{"load_if", -1, 4, 64,
		LOAD_IF WITH("AVX512DQ",
			"($V)__builtin_ia32_loadu$p512_mask(\n"
			"\t\t(const $C *)p, __extension__ ($K){0}, "
			"__builtin_ia32_cvt$d2mask512(($J)m))")
			LOAD_EACH END},
	{"load_if", -1, 4, 32,
		LOAD_IF WITH("AVX", "($V)__builtin_ia32_maskload$p256((const $K *)p, ($J)m)")
			LOAD_EACH END},
	{"load_if", -1, 4, 16,
		LOAD_IF WITH("AVX", "($V)__builtin_ia32_maskload$p((const $K *)p, ($J)m)")
			LOAD_EACH END},
	{"load_if", -1, 0, 0, LOAD_IF LOAD_EACH "}\n"},
	{"store_if", -1, 4, 64,
		STORE_IF DOES("AVX512DQ",
			"__builtin_ia32_storeu$p512_mask(($C *)p, ($K)v, "
			"__builtin_ia32_cvt$d2mask512(($J)m))") STORE_EACH END},
	{"store_if", -1, 4, 32,
		STORE_IF DOES("AVX", "__builtin_ia32_maskstore$p256(($K *)p, ($J)m, ($K)v)")
			STORE_EACH END},
	{"store_if", -1, 4, 16,
		STORE_IF DOES("AVX", "__builtin_ia32_maskstore$p(($K *)p, ($J)m, ($K)v)")
			STORE_EACH END},
	{"store_if", -1, 0, 0, STORE_IF STORE_EACH "}\n"},
	/* wider than any register: gcc would go through memory */
	{"splat", -1, 0, WIDE,
		VECTOR_INLINE "$V $N($E x)\n{\n\tconst $c h = {$X};\n"
			      "\treturn __builtin_shufflevector(h, h, $r);\n}\n"},
	{"splat", -1, 0, 0,
		VECTOR_INLINE "$V $N($E x)\n{\n\tconst $V r = {$x};\n\treturn r;\n}\n"},
	/* all bits or none, from a table: a broadcast from memory takes no unit of arithmetic, one
	 * from a scalar's register does */
	{"mask", -1, 0, WIDE,
		VECTOR_INLINE "$V $N(int set)\n{\n\tstatic const $E of[] = {0, -1};\n"
			      "\tconst $E x = of[set];\n\tconst $c h = {$X};\n"
			      "\treturn __builtin_shufflevector(h, h, $r);\n}\n"},
	{"mask", -1, 0, 0,
		VECTOR_INLINE "$V $N(int set)\n{\n\tstatic const $E of[] = {0, -1};\n"
			      "\tconst $E x = of[set];\n\tconst $V r = {$x};\n"
			      "\treturn r;\n}\n"},
	{"lane", -1, 0, 0,
		VECTOR_INLINE "$V $N(void)\n{\n\tconst $V r = {$i};\n\treturn r;\n}\n"},
	{"where", -1, 0, 0,
		VECTOR_INLINE
		"$V $N($M m, $V a, $V b)\n{\n\treturn " BLEND("m", "a", "b") ";\n}\n"},
	{"add_if", 1, 0, 64,
		VECTOR_INLINE "$V $N($V a, $V b, $M m)\n{\n"
			AVX512DQ("__builtin_ia32_select$p_512(\n"
				 "\t\t__builtin_ia32_cvt$d2mask512(($J)m), a + b, a)",
				"__builtin_ia32_add$p512_mask(\n\t\ta, b, a, "
				"__builtin_ia32_cvt$d2mask512(($J)m), 4)") ADD_IF END},
	{"add_if", 1, 0, 0, VECTOR_INLINE "$V $N($V a, $V b, $M m)\n{\n" ADD_IF "}\n"},
	/* for all lanes: a mask made of a scalar's register takes half of what one of lanes does */
	{"add_all_if", 1, 0, 64,
		ADD_ALL AVX512("__builtin_ia32_select$p_512(-set, a + b, a)",
			"__builtin_ia32_add$p512_mask(a, b, a, $G-set, 4)") ADD_ALL_PLAIN END},
	{"add_all_if", 1, 0, 0, ADD_ALL ADD_ALL_PLAIN "}\n"},
	EXTREME(max, "<"),
	EXTREME(min, ">"),
	EXTREME_WITH(max, "<"),
	EXTREME_WITH(min, ">"),
	{"mulacc", 1, 0, 64,
		THREE AVX512("__builtin_ia32_vfmadd$p512_mask(a, b, c, $B, 4)",
			"__builtin_ia32_vfmadd$p512_mask(a, b, c, $G-1, 4)") FUSED_PLAIN END},
	{"mulacc", 1, 0, 32,
		THREE WITH("FMA", "__builtin_ia32_vfmadd$p256(a, b, c)") FUSED_PLAIN END},
	{"mulacc", 1, 0, 16, THREE WITH("FMA", "__builtin_ia32_vfmadd$p(a, b, c)") FUSED_PLAIN END},
	{"mulacc", 1, 0, 0, THREE FUSED_PLAIN "}\n"},
	{"sqrt", 1, 0, 64,
		ONE AVX512("__builtin_ia32_sqrt$p512(x, 4)",
			"__builtin_ia32_sqrt$p512_mask(x, x, -1, 4)") EACH("__builtin_sqrt$f(x[i])")
			END},
	{"sqrt", 1, 0, 32,
		ONE WITH("AVX", "__builtin_ia32_sqrt$p256(x)") EACH("__builtin_sqrt$f(x[i])") END},
	{"sqrt", 1, 0, 16,
		ONE WITH("SSE2", "__builtin_ia32_sqrt$p(x)") EACH("__builtin_sqrt$f(x[i])") END},
	{"sqrt", 1, 0, 0, ONE EACH("__builtin_sqrt$f(x[i])") "}\n"},
	{"trunc", 1, 0, 64,
		ONE AVX512("__builtin_ia32_rndscale$p_mask(x, 11, x, $B, 4)",
			"__builtin_ia32_rndscale$p_mask(x, 11, x, -1, 4)")
			EACH("__builtin_trunc$f(x[i])") END},
	{"trunc", 1, 0, 32,
		ONE WITH("AVX", "__builtin_ia32_round$p256(x, 11)") EACH("__builtin_trunc$f(x[i])")
			END},
	{"trunc", 1, 0, 16,
		ONE WITH("SSE4_1", "__builtin_ia32_round$p(x, 11)") EACH("__builtin_trunc$f(x[i])")
			END},
	{"trunc", 1, 0, 0, ONE EACH("__builtin_trunc$f(x[i])") "}\n"},
	{"less", -1, 0, 128, HALVES("<")},
	{"less", -1, 0, 0,
		VECTOR_INLINE "$M $N($V a, $V b)\n{\n\t$M r;\n\tfor (int i = 0; i < $n; i++)\n"
			      "\t\tr[i] = -(a[i] < b[i]);\n\treturn r;\n}\n"},
	{"equal", -1, 0, 128, HALVES("==")},
	{"equal", -1, 0, 0,
		VECTOR_INLINE "$M $N($V a, $V b)\n{\n\t$M r;\n\tfor (int i = 0; i < $n; i++)\n"
			      "\t\tr[i] = -(a[i] == b[i]);\n\treturn r;\n}\n"},
	{"differ", -1, 0, 128, HALVES("!=")},
	{"differ", -1, 0, 0,
		VECTOR_INLINE "$M $N($V a, $V b)\n{\n\t$M r;\n\tfor (int i = 0; i < $n; i++)\n"
			      "\t\tr[i] = -(a[i] != b[i]);\n\treturn r;\n}\n"},
	/* counts as unsigned: a negative count is too large */
	{"shl", 0, 0, 0,
		TWO "\tconst $U n = ($U)b;\n"
		    "\treturn ($V)((($U)a << (n & ($W - 1))) & ($U)(n < $W));\n}\n"},
	{"shr", 0, 0, 0,
		TWO "\tconst $U n = ($U)b;\n"
		    "\tconst $V gone = ($V)(a < 0);\n"
		    "\tconst $V kept = ($V)(n < $W);\n"
		    "\treturn ((a >> ($V)(n & ($W - 1))) & kept) | (gone & ~kept);\n}\n"},
};

static bool fits(const HelperRow *r, DType d, int lanes)
{
	int size = dtype_size(d), bytes = lanes * size;
	return (r->flt < 0 || r->flt == dtype_float(d)) && size >= r->size &&
		(!r->bytes || r->bytes == bytes || (r->bytes == WIDE && bytes > REGISTER));
}

bool vector_has(const char *what)
{
	for (size_t i = 0; i < sizeof table / sizeof *table; i++)
		if (!strcmp(table[i].what, what))
			return true;
	return false;
}

const char *vector_fn(Printer *p, const char *what, DType d)
{
	int lanes = p->vectors->lanes;
	const char *name = arena_printf("%s_%sx%d", what, dtype_name(d), lanes);
	for (size_t i = 0; i < p->helpers.names.n; i++)
		if (!strcmp(p->helpers.names.at[i], name))
			return name;
	VWords w = {.name = name,
		.to = d,
		.from = d,
		.lanes = lanes,
		.least = number_list(lanes / 2, 0, lanes),
		.greatest = number_list(lanes / 2, lanes / 2, lanes)};
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		if (strcmp(table[i].what, what) || !fits(&table[i], d, lanes))
			continue;
		return vector_helper(p, &w, table[i].text);
	}
	die_bug(__FILE__, __LINE__, what);
}

const char *lanewise_fn(Printer *p, const char *fn, DType to, DType d, int nsrc)
{
	const char *plain = !strncmp(fn, "__builtin_", 10) ? fn + 10 : fn;
	VWords w = {.name = arena_printf("%s_%sx%d", plain, dtype_name(d), p->vectors->lanes),
		.fn = fn,
		.to = to,
		.from = d,
		.lanes = p->vectors->lanes};
	return vector_helper(p, &w, nsrc == 2 ?
		VECTOR_INLINE "$V $N($S a, $S b)\n{\n" EACH("$F(a[i], b[i])") "}\n" :
		VECTOR_INLINE "$V $N($S a)\n{\n" EACH("$F(a[i])") "}\n");
}

const char *vector_fence(Printer *p)
{
	VWords w = {.name = "stream_end"};
	return vector_helper(p, &w, VECTOR_INLINE "void $N(void)\n{\n#ifdef __SSE__\n"
		"\t__builtin_ia32_sfence();\n#endif\n}\n");
}
