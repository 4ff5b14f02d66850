#!/usr/bin/env bash
# A stage of your own takes part if it is on the stage path. Here are two, each a few lines of
# shell: a `fuse` that first rewrites x * 2 to x + x, and a new tool `twice` that `sluice` finds by
# name.
. "$(dirname "$0")/tools.sh"
mkdir "$work/stages"

cat > "$work/stages/fuse" <<END
#!/bin/sh
# the project's own fuse, with a rule of ours before it
"$bin/rewrite" -e 'x * 2 -> x + x' --count | "$bin/fuse" "\$@"
END
cat > "$work/stages/twice" <<END
#!/bin/sh
# every output twice as large
exec "$bin/rewrite" --once -e 'NEG(x) -> NEG(x) * 2' "\$@"
END
chmod +x "$work"/stages/*
export SLUICE_PATH=$work/stages

cat > "$work/p.t" <<'END'
input x f32[4]
output y = -(x * 2)
END
printf 'stage path: %s\n' "$("$bin/sluice" path | sed "s#$work#(work)#; s#$bin#(tools)#")"
echo "with our fuse, which \`run\` finds by itself:"
"$bin/trace" "$work/p.t" | "$bin/run" --interpret x=rand
"$bin/trace" "$work/p.t" | "$bin/run" x=rand
echo "with the stage 'twice' in the pipe:"
"$bin/trace" "$work/p.t" | "$bin/sluice" twice | "$bin/run" x=rand
