#!/bin/sh
# Prints the files given as rows {"name", "text"}, for inclusion in an array of C. The name is without its ending.
for f; do
	name=$(basename "$f")
	name=${name%.*}
	printf '{"%s",\n' "$name"
	sed 's/\\/\\\\/g; s/"/\\"/g; s/^/\t"/; s/$/\\n"/' "$f"
	printf '},\n'
done
