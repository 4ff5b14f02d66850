"""Arrays of .npz files put beside each other along a new axis 0, and taken apart again, with Python's own means.

    lanes.py turned IN.npz OUT.npz              each array with its elements in reverse
    lanes.py stack OUT.npz NAMES A.npz B.npz…   arrays of A, B, … of one name stacked, if NAMES (a,b,c) has it; else A's
    lanes.py lane K IN.npz LIKE.npz OUT.npz     place K along axis 0 of each array that has one axis more than in LIKE"""
import sys
import zipfile

import npy


def read(path):
    with zipfile.ZipFile(path) as z:
        return {name: npy.parts(z.read(name)) for name in z.namelist()}


def write(path, arrays):
    with zipfile.ZipFile(path, "w") as z:
        for name, (descr, shape, data) in arrays.items():
            z.writestr(name, npy.header(descr, shape) + data)


def size(descr):
    return int(descr[2:])


def turned(array):
    descr, shape, data = array
    n = size(descr)
    return descr, shape, b"".join(data[i:i + n] for i in range(len(data) - n, -1, -n))


def stack(names, files):
    first = files[0]
    return {k: (v[0], (len(files),) + v[1], b"".join(f[k][2] for f in files)) if k[:-4] in names else v
            for k, v in first.items()}


def lane(k, array, like):
    descr, shape, data = array
    if len(shape) == len(like[1]):
        return array
    n = len(data) // shape[0]
    return descr, shape[1:], data[k * n:(k + 1) * n]


def main(how, *args):
    if how == "turned":
        write(args[1], {k: turned(v) for k, v in read(args[0]).items()})
    elif how == "stack":
        write(args[0], stack(args[1].split(","), [read(a) for a in args[2:]]))
    else:
        like = read(args[2])
        write(args[3], {k: lane(int(args[0]), v, like[k]) for k, v in read(args[1]).items()})


main(*sys.argv[1:])
