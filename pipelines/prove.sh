#!/usr/bin/env bash
# prove.sh [-t 'TARGET …'] [-1] FILE…: every stage with --prove, on each program or model: what `trace` reads, and files of
# cases (tests/*.cases), whose constants become inputs. Prints a row for each pass that is not proved, then how many times each
# pass was; ends with 1 if one was refuted. -1: fuse and lower are proved whole, by `prove` on what they read and wrote.
case ${1:-} in --help|-h) sed -n '2,/^[^#]/ s/^# \{0,1\}//p' "$0"; exit ;; esac
set -uo pipefail
bin=${SLUICE_BIN:-${BIN:-$(dirname "$0")/../build/bin}}
targets='clang opencl llvm' whole=
while getopts t:1 o; do
	case $o in
	t) targets=$OPTARG ;;
	1) whole=1 ;;
	*) exit 2 ;;
	esac
done
shift $((OPTIND - 1))
[ $# -gt 0 ] || { echo 'usage: prove.sh [-t TARGETS] [-1] FILE…' >&2; exit 2; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# cases FILE: a program for each line, NAME.t, and NAME.t.const with the constants themselves; prints their names
cases() {
	awk -v base="$dir/$(basename "$1" .cases)" '
		/^const / { const = const $0 "\n"; sub(/^const/, "input"); sub(/ = .*/, ""); input = input $0 "\n"; next }
		/^\t/ { next }
		{
			f = base (++n) ".t"
			printf "%soutput y = %s\n", input, $0 > f
			printf "%soutput y = %s\n", const, $0 > (f ".const.t")
			close(f)
			close(f ".const.t")
			print f
		}' "$1"
}

# told FILE: without the lines of passes that are proved together with the next one
told() { sed '/^prove: /{N;/\n.*: left to the pass after it$/d}' "$1"; }

# stage NAME IN OUT [OPTION…]: a stage, proved; what it said goes to the log
stage() {
	local name=$1 in=$2 out=$3 status
	shift 3
	if [ "$whole" ]; then
		"$bin/$name" "$@" "$in" > "$out" 2> "$dir/said" || return 1
		timeout 600 "$bin/prove" "$in" "$out" 2>&1 | sed "s|^|$name: |" > "$dir/said"
		status=${PIPESTATUS[0]}
	else
		timeout 600 "$bin/$name" --prove "$@" "$in" > "$out" 2> "$dir/said"
		status=$?
	fi
	told "$dir/said" >> "$dir/log"
	told "$dir/said" | grep -v ': the same: ' | sed "s|^|$program: |"
	return "$status"
}

programs=() n=0
for file; do
	case $file in
	*.cases) mapfile -t -O "${#programs[@]}" programs < <(cases "$file") ;;
	*) programs+=("$file") ;;
	esac
done
: > "$dir/log"
for program in "${programs[@]}"; do
	n=$((n + 1))
	[ -t 2 ] && printf '\r\033[K%d of %d: %s' "$n" "${#programs[@]}" "${program##*/}" >&2
	"$bin/trace" "$program" > "$dir/graph" 2> /dev/null || "$bin/trace" "$program.const.t" > "$dir/graph" 2> /dev/null || continue
	stage simplify "$dir/graph" "$dir/simple" && stage schedule "$dir/graph" "$dir/schedule" &&
		stage fuse "$dir/schedule" "$dir/fused" || continue
	for target in $targets; do
		stage lower "$dir/fused" "$dir/loops" -t "$target"
	done
done
[ -t 2 ] && printf '\r\033[K' >&2
awk -F': ' '
	!seen[$1]++ { row[++rows] = $1 }
	{ all++ }
	/: the same: / { proved[$1]++; good++; next }
	/ differs /  { refuted[$1]++; bad++ }
	END {
		printf "%-22s %8s %8s %8s\n", "pass", "proved", "refuted", "unknown"
		for (i = 1; i <= rows; i++)
			printf "%-22s %8d %8d %8d\n", row[i], proved[row[i]], refuted[row[i]],
				seen[row[i]] - proved[row[i]] - refuted[row[i]]
		printf "%d proved, %d refuted, %d unknown\n", good, bad, all - good - bad
		exit bad > 0
	}' "$dir/log"
