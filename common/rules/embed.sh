#!/bin/sh
# Prints the files given as rows {"name", "text"}, for inclusion in an array of C.
for f; do
	name=$(basename "$f" .rules)
	printf '{"%s",\n' "$name"
	sed 's/\\/\\\\/g; s/"/\\"/g; s/^/\t"/; s/$/\\n"/' "$f"
	printf '},\n'
done
