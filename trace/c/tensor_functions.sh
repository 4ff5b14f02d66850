#!/bin/sh
# sluice/functions.h from functions.def and dtypes.def: a macro (in C++ a function) for each function of
# the library, a name for each dtype, and the macros over lists of arguments.
#
#     FN(matmul, "a, b", …)    →    #define matmul(...) SLUICE_CALL("matmul", __VA_ARGS__)
functions=$1 dtypes=$2
echo '/* made from functions.def and dtypes.def */'
sed -n 's/^DTYPE(\([A-Z0-9]*\), *"\([a-z0-9]*\)".*/#define \1 "\2"/p' "$dtypes"
awk '
	function most(n, s, i) { for (i = 1; i <= n; i++) s = s (i > 1 ? ", " : "") "a" i; return s }
	BEGIN {
		MOST = 64
		split("", s)
		for (i = MOST; i >= 1; i--) numbers = numbers i (i > 1 ? ", " : "")
		print "#define SLUICE_CAT(a, b) SLUICE_CAT_(a, b)"
		print "#define SLUICE_CAT_(a, b) a##b"
		print "#define SLUICE_COUNT(...) SLUICE_COUNT_(__VA_ARGS__, " numbers ", 0)"
		print "#define SLUICE_COUNT_(" most(MOST) ", n, ...) n"
		split("EACH COMMA", kinds, " ")
		for (k = 1; k <= 2; k++) {
			kind = "SLUICE_" kinds[k]
			print "#define " kind "(m, ...) SLUICE_CAT(" kind "_, SLUICE_COUNT(__VA_ARGS__))(m, __VA_ARGS__)"
			print "#define " kind "_1(m, a) m(a)"
			for (i = 2; i <= MOST; i++)
				print "#define " kind "_" i "(m, a, ...) m(a)" (k == 2 ? "," : "") " " kind "_" i - 1 \
					"(m, __VA_ARGS__)"
		}
		one = "ceil exp exp2 expm1 floor log log10 log1p log2 sin cos tan asin acos atan sinh cosh tanh " \
			"asinh acosh atanh sqrt erf trunc"
		n = split(one, s, " "); for (i = 1; i <= n; i++) plain[s[i]] = "(" s[i] ")"
		n = split("isnan isinf isfinite signbit", s, " ")
		for (i = 1; i <= n; i++) plain[s[i]] = "sluice_" s[i]
		n = split("atan2 fmod hypot pow", s, " "); for (i = 1; i <= n; i++) plain2[s[i]] = "(" s[i] ")"
		plain["abs"] = "SLUICE_ABS"
	}
	/^FN\(/ { name = $0; sub(/^FN\(/, "", name); sub(/,.*/, "", name); names[++count] = name }
	END {
		print "#ifdef __cplusplus\nnamespace sluice {"
		for (i = 1; i <= count; i++) print "SLUICE_FN(" names[i] ")"
		print "}\n#else"
		for (i = 1; i <= count; i++) {
			name = names[i]
			print "#undef " name
			if (name in plain) print "#define " name "(x) SLUICE_MATH(\"" name "\", " plain[name] ", x)"
			else if (name in plain2)
				print "#define " name "(x, y) SLUICE_MATH2(\"" name "\", " plain2[name] ", x, y)"
			else if (name == "round") {
				print "#define round(...) SLUICE_CAT(SLUICE_ROUND_, SLUICE_COUNT(__VA_ARGS__))(__VA_ARGS__)"
				print "#define SLUICE_ROUND_1(x) SLUICE_MATH(\"round\", (round), x)"
				print "#define SLUICE_ROUND_2(x, n) SLUICE_CALL(\"round\", x, n)"
			} else print "#define " name "(...) SLUICE_CALL(\"" name "\", __VA_ARGS__)"
		}
		print "#endif"
	}' "$functions"
