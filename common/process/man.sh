#!/bin/sh
# Prints the man page of a tool, from `TOOL --help` and the text beside its source (FOLDER/TOOL.man:
# lines of text, examples indented by four spaces), so that options are documented only once.
#
#     man.sh BIN TOOL
bin=$1 tool=$2
here=$(cd "$(dirname "$0")/../.." && pwd)
text=$(ls "$here"/*/"$tool.man" "$here"/*/*/"$tool.man" 2>/dev/null | head -n 1)
name=sluice-$tool
[ "$tool" = sluice ] && name=sluice
esc() { sed 's/\\/\\e/g; s/^\([.'"'"']\)/\\\&\1/; s/-/\\-/g'; }
help=$("$bin/$tool" --help) || exit 1

printf '.TH %s 1 "" Sluice "Sluice"\n' "$(echo "$name" | tr a-z A-Z)"
printf '.SH NAME\n%s \\- ' "$name" | sed 's/sluice-/sluice\\-/'
echo "$help" | sed -n 2p | esc
printf '.SH SYNOPSIS\n.B sluice %s\n' "$([ "$tool" = sluice ] || echo "$tool")"
echo "$help" | sed -n '1s/^usage: [^ ]* *//p' | esc
if [ -n "$text" ]; then
	printf '.SH DESCRIPTION\n'
	sed '/^EXAMPLES$/,$d' "$text" | esc | sed 's/^$/.PP/'
fi
printf '.SH OPTIONS\n.nf\n'
echo "$help" | sed '1,3d' | esc
printf '.fi\n'
if [ -n "$text" ] && grep -q '^EXAMPLES$' "$text"; then
	printf '.SH EXAMPLES\n'
	sed '1,/^EXAMPLES$/d' "$text" | esc | awk '
		/^    / { if (!in_code) print ".PP\n.nf\n.RS"; in_code = 1; sub(/^    /, ""); print; next }
		{ if (in_code) print ".RE\n.fi"; in_code = 0; if ($0 == "") print ".PP"; else print }
		END { if (in_code) print ".RE\n.fi" }'
fi
cat <<'END'
.SH "EXIT STATUS"
0 done; 1 it failed (cannot open, no memory, a compiler failed); 2 wrong usage; 3 not supported (the message names
what); 4 the input is malformed. A message is one line on standard error.
.SH ENVIRONMENT
.TP
SLUICE_PATH
folders, separated by colons, in which stages and targets of your own are looked for before the project's
.TP
SLUICE_CACHE_SIZE
bytes that the cache may take: 500M, 4G (4 GiB)
.TP
SLUICE_PROFILE
a file, FILE.json, to which every tool adds when it and its passes ran and how much memory it took, on one timeline
with the kernels of run --profile (for Perfetto or chrome://tracing)
.TP
XDG_CACHE_HOME, XDG_CONFIG_HOME, XDG_STATE_HOME
folders that hold the cache, the secret and keys, and what is left of crashes, in sluice
(~/.cache, ~/.config, ~/.local/state, by HOME)
.TP
TMPDIR
where temporary files are made (/tmp)
.TP
PATH
where compilers are looked for
.SH "SEE ALSO"
.BR sluice (1)
END
