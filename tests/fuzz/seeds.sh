#!/usr/bin/env bash
# seeds.sh BIN FOLDER: what each target begins with, FOLDER/TARGET/…: the programs of golden/ and text/, and the graphs with
# loops, branches and sizes that data gives (corpus/documents/steps_*.mp), at each level; the models of onnx_models.py, the lines of the built-in rules, arrays, sizes; and the corpus, TARGET's own and documents
set -eu
bin=$1 to=$2 tests=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$to"
to=$(cd "$to" && pwd)
cd "$to"
mkdir -p document text stream program onnx arrays rules sizes simplify schedule fuse lower render-c render-clang render-llvm render-opencl all

# a document of at most 4 KB becomes a seed of the targets named
seed() {
	local from=$1 name=$2 target
	[ -s "$from" ] && [ "$(wc -c < "$from")" -le 4096 ] || return 0
	for target in "${@:3}" document; do cp "$from" "$target/$name"; done
	"$bin/show" "$from" > "text/$name" 2> /dev/null || rm -f "text/$name"
	{ printf '\100'; cat "$from"; } > "stream/$name"
}

for t in "$tests"/golden/*.t "$tests"/text/*.t "$tests"/fuzz/corpus/documents/steps_*.mp; do
	name=$(basename "$t" .t)
	[ "$name.t" != "$(basename "$t")" ] || cp "$t" program/
	"$bin/trace" "$t" > all/graph 2> /dev/null || continue
	"$bin/schedule" all/graph > all/schedule 2> /dev/null || continue
	"$bin/fuse" all/schedule > all/fused
	"$bin/lower" -t clang all/fused > all/loops
	"$bin/lower" -t c all/fused > all/plain
	"$bin/lower" -t llvm all/fused > all/lanes
	"$bin/lower" -t opencl all/fused > all/groups
	seed all/graph "$name.graph" simplify schedule
	seed all/schedule "$name.schedule" fuse lower
	seed all/fused "$name.fused" lower
	seed all/loops "$name.loops" render-clang
	seed all/plain "$name.plain" render-c
	seed all/lanes "$name.lanes" render-llvm
	seed all/groups "$name.groups" render-opencl
done
for d in "$tests"/fuzz/corpus/documents/*; do
	seed "$d" "$(basename "$d")" simplify schedule fuse lower render-c render-clang render-llvm render-opencl
done
(cd all && python3 "$tests/onnx_models.py" && find . -name '*.onnx' -size -4k -exec cp {} ../onnx/ \;)
find "$tests/.." -name '*.rules' -not -path '*/build/*' -exec cat {} + | awk '!/^#/ && NF { print > ("rules/" NR) }'
while read -r size; do printf '%s' "$size" > "sizes/$(printf '%s' "$size" | cksum | cut -d' ' -f1)"; done <<'SIZES'
n
n*2 + m
(n + 7)//8*8
n%4 - m%3
(n*m - 1)//(m + 1)*3 - 2
n*n*n//m
SIZES
# the first byte says which of the formats
python3 - <<'ARRAYS'
import struct, json
def npy(descr, order, shape, data):
    head = "{'descr': '%s', 'fortran_order': %s, 'shape': %s, }" % (descr, order, shape)
    head += " " * (63 - (len(head) + 10) % 64) + "\n"
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head.encode() + data
ones = npy("<f4", False, "(2, 3)", bytes(24))
for i, b in enumerate((ones, npy(">i2", False, "(4,)", bytes(8)), npy("<f8", True, "(2, 2)", bytes(32)), npy("|b1", False, "()", b"\1"))):
    open(f"arrays/npy{i}", "wb").write(b"\0" + b)
import io, zipfile
for how in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
    f = io.BytesIO()
    with zipfile.ZipFile(f, "w", how) as z:
        for name in ("x.npy", "y.npy"):
            z.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), ones, how)
    open(f"arrays/npz{how}", "wb").write(b"\1" + f.getvalue())
head = json.dumps({"__metadata__": {"note": "hi"}, "x": {"dtype": "F32", "shape": [2, 2], "data_offsets": [0, 16]},
                   "y": {"dtype": "BF16", "shape": [2], "data_offsets": [16, 20]}}).encode()
open("arrays/safetensors", "wb").write(b"\2" + struct.pack("<Q", len(head)) + head + bytes(20))
ARRAYS
rm -r all
for d in "$tests"/fuzz/corpus/*/; do
	d=$(basename "$d")
	[ "$d" = documents ] || [ ! -d "$d" ] || cp "$tests/fuzz/corpus/$d"/* "$d/"
done
