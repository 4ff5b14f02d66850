"""The bytes of .npy files, row-major, with Python's own means."""
import ast
import struct


def header(descr, shape):
    text = repr({"descr": descr, "fortran_order": False, "shape": tuple(shape)})
    text += " " * (-(len(text) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode()


def save(path, descr, shape, data):
    with open(path, "wb") as f:
        f.write(header(descr, shape) + data)


def parts(b):
    """descr, shape and data of the file's bytes."""
    at = 10 if b[6] == 1 else 12
    end = at + int.from_bytes(b[8:at], "little")
    head = ast.literal_eval(b[at:end].decode("latin1"))
    assert not head["fortran_order"] or len(head["shape"]) < 2
    return head["descr"], head["shape"], b[end:]
