#!/usr/bin/env bash
# accuracy.sh COUNT [CC FLAG…]: prints the largest errors of the functions written by `render -t
# clang`, in units in the last place, and whether a loop still calls the C library. COUNT values of
# each exponent; all: every f32. Exits with 1 when an error is above 4 units. ONLY=sin,pow selects
# functions.
count=$1 cc=${2:-cc} flags=("${@:3}")
tests=$(cd "$(dirname "$0")" && pwd)
PATH=${BIN:-$tests/../build/bin}:$PATH
dir=$(mktemp -d) status=0
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
march=
for f in "${flags[@]}"; do case $f in -march=*) march=-$f ;; esac; done

# kernel FN DTYPE: its source in k.c
kernel() {
	local is="$1(x)"
	case $1 in pow) is='x ** z' ;; exp2_below) is='exp2(-abs(x))' ;; esac
	printf 'input x %s[65536]\ninput z %s[65536]\noutput y = %s\n' "$2" "$2" "$is" > k.t
	trace k.t | fuse | lower -t clang $march | render -t clang | show > k.txt || return 1
	sed -n 's/^\t|//p' k.txt > k.c
}

# measure FN DTYPE COUNT
measure() {
	local type=float args=1
	kernel "$1" "$2" || return 1
	[ "$2" = f64 ] && type=double
	[ "$1" = pow ] && args=2
	"$cc" -std=c11 -w -O2 -fwrapv -fno-strict-aliasing -fno-math-errno -fno-trapping-math -ffp-contract=off \
		$([ -n "$march" ] || echo -march=native) "${flags[@]}" -c -o k.o k.c || return 1
	"${CC:-cc}" -std=gnu11 -O2 -fno-builtin -DFN="$1" -DT=$type -DARGS=$args -DN=65536 \
		-DCALL="$(sed -n 's/^void \(.*_call\)(.*/\1/p' k.c)" \
		-DITEMS="$(grep -o 'global_size: \[[0-9]*\]' k.txt | tail -n 1 | grep -o '[0-9]*' || echo 1)" \
		-o measure "$tests/accuracy.c" k.o -lm || return 1
	./measure "$3" || status=1
	# a processor without the instruction has trunc in the library
	if nm -u k.o | grep -vE ' (truncf?|_GLOBAL_OFFSET_TABLE_)$'; then
		echo "$1 $2: a call of the library is left"
		status=1
	fi
}

wanted() { [ -z "$ONLY" ] || case ,$ONLY, in *,"$1",*) true ;; *) false ;; esac; }

some=$count many=$count
[ "$count" = all ] && some=1000 many=0
for fn in exp2 exp2_below log2 sin pow; do
	for dtype in f32 f64; do
		wanted $fn || continue
		n=$([ $dtype$fn = f32$fn ] && echo "$many" || echo "$some")
		[ $fn = pow ] && n=$((some * 2000))
		measure $fn $dtype "$n" || exit 1
	done
done
# of the tensor library, those that the library of C has too
for fn in exp expm1 log log1p tanh sinh cosh erf asin acos atan asinh acosh atanh; do
	wanted $fn && { measure $fn f32 "$many" || exit 1; }
done
exit $status
