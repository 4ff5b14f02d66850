#!/bin/sh
# Prints what a shell needs to complete `sluice`, from `TOOL --help` of each tool, so that no option
# is written down twice.
#
#     completion.sh bash|zsh BIN TOOL…
shell=$1 bin=$2
shift 2

# The list of words of each kind, a case for each tool; quoted, since help has any characters.
options() { "$bin/$1" --help | grep -oE '^ +(-., )?--[a-z][a-z-]*|^  -[a-zA-Z]' | grep -oE -- '--?[a-zA-Z][a-z-]*' | sort -u; }
passes() { "$bin/$1" --help | sed -n '/^passes/,$ s/^  [* ] \([a-z_]*\) .*/\1/p'; }
with_files() { "$bin/$1" --help | sed -n 's/^.*\(--[a-z-]*\)[ =[]*\(FILE\|DIR\|TO\|ENDPOINT\|NAME=FILE\).*/\1/p'; }
words() { tr '\n' ' ' | sed 's/ *$//'; }
row() { printf '\t%s) echo "%s" ;;\n' "$1" "$2"; }
table() {       # FUNCTION KIND TOOL…: a function of the shell that prints a tool's words
	name=$1 kind=$2
	shift 2
	printf '%s() {\n\tcase $1 in\n' "$name"
	for t; do row "$t" "$($kind "$t" | words)"; done
	printf '\tesac\n}\n'
}
subjects=$(for t; do case $t in render-*|sluice) ;; *) echo "$t" ;; esac; done | words)
functions=$("$bin/functions" | sed 's/(.*//' | words)
levels=$("$bin/schema" | sed -n 's/^"\([a-z]*\)": {"ops".*/\1/p' | words)
targets=$(for t; do case $t in render-*) echo "${t#render-}" ;; esac; done | words)

[ "$shell" = zsh ] && printf '#compdef sluice\n'
cat <<END
# Completion of sluice for $shell; made by completion.sh from the help of each tool.
END
table _sluice_options options "$@"
table _sluice_passes passes "$@"
table _sluice_files with_files "$@"
# the words that can follow: after sluice WORD… PREVIOUS; none: files
cat <<END
_sluice_words() {       # TOOL PREVIOUS CURRENT
	case "\$1 \$2" in
	' '*) echo "$subjects help path --help --version"; return ;;
	'help '*) echo "$subjects"; return ;;
	'functions '*) case \$3 in -*) ;; *) echo "$functions"; return ;; esac ;;
	'schema '*) case \$3 in -*) ;; *) echo "$levels"; return ;; esac ;;
	esac
	case \$2 in
	--dump|-d|--skip|--stop-after)
		set -- "\$1" "\$2" "\$3" "\$(_sluice_passes "\$1")"
		[ -z "\$4" ] || { echo "\$4 all"; return; } ;;
	--target|-t) echo "$targets"; return ;;
	--*) case " \$(_sluice_files "\$1") " in *" \$2 "*) return ;; esac ;;
	esac
	case \$3 in -*) _sluice_options "\$1" ;; esac
}
END
if [ "$shell" = bash ]; then
	cat <<'END'
_sluice() {
	local current=${COMP_WORDS[COMP_CWORD]} tool=
	[ "$COMP_CWORD" -lt 2 ] || tool=${COMP_WORDS[1]}
	COMPREPLY=($(compgen -W "$(_sluice_words "$tool" "${COMP_WORDS[COMP_CWORD-1]}" "$current")" -- "$current"))
}
complete -o default -F _sluice sluice
END
else
	cat <<'END'
_sluice() {
	local tool= list
	(( CURRENT < 3 )) || tool=$words[2]
	list=(${=$(_sluice_words "$tool" "$words[CURRENT-1]" "$words[CURRENT]")})
	if (( $#list )); then compadd -- $list; else _files; fi
}
_sluice "$@"
END
fi
