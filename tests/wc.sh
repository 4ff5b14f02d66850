#!/usr/bin/env bash
# Lengths of functions, files and lines of the shipped sources, to compare with the project's
# limits: functions median ≤ 16, p90 ≤ 60, none over 120 lines; files ≤ 600; lines ≤ 100 columns.
cd "$(dirname "$0")/.." || exit 1
files=$(git ls-files '*.c' '*.h' '*.def' | grep -v '^tests/')
echo "files: $(echo "$files" | wc -l), lines: $(cat $files | wc -l)"
wc -l $files | awk '$2 != "total" && $1 > 600 { print "over 600 lines: " $2 " " $1 }'
# characters, tabs at 8; the tables in .def files are as wide as their rows
for file in $(echo "$files" | grep -v '\.def$'); do
	python3 -c 'import sys
n = sum(len(l.rstrip("\n").expandtabs(8)) > 100 for l in open(sys.argv[1]))
n and print("over 100 columns:", sys.argv[1], n)' "$file"
done
command -v ctags > /dev/null || { echo "functions: not measured, universal-ctags is not installed"; exit 0; }
ctags --languages=C --c-kinds=f --fields=ne -x --_xformat='%{line} %{end} %F %N' $(echo "$files" | grep '\.c$') 2> /dev/null |
	awk '{ print $2 - $1 + 1, $3, $4 }' | sort -n |
	awk '{ n[NR] = $1; if ($1 > 120) print "over 120 lines: " $2 " " $3 " " $1 }
		END { print "functions: " NR ", median " n[int((NR + 1) / 2)] ", p90 " n[int(NR * .9)] ", longest " n[NR] }'
