"""Names in backticks on the pages (*.md) that the tree does not have: files, functions and other
identifiers of C.  Prints a line for each; status 1 when there is one.

A file with a folder before its name is there, seen from the page, the top, or a folder of the top; a
bare name is any file's, and X in it stands for anything; NAME.c and the like are what `pack` writes.  `name()` and `some_name(…)` are functions
of the sources; `some_name` is a word of theirs, or of the page's own examples.
"""
import fnmatch
import os
import re
import sys

FILE = re.compile(r"[\w./*-]*[\w*]\.(c|h|hpp|def|rules|sh|py|bats|md|man|svg|dot)$")
IDENTIFIER = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)+$")
CALL = re.compile(r"([a-z][a-z0-9]*(?:_[a-z0-9]+)*)\(\)$"
                  r"|([a-z][a-z0-9]*(?:_[a-z0-9]+)+)\([^()…]*\)$")
SOURCES = (".c", ".h", ".hpp", ".def", ".sh", ".py", ".bats", ".rules")
OTHERS = {"math.h"}         # of the system


def find_files():
    found = []
    for folder, folders, files in os.walk("."):
        if folder == ".":
            folders[:] = [f for f in folders if f not in ("build", ".git")]
        found += [os.path.normpath(os.path.join(folder, f)) for f in files]
    return found


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def take_apart(page):
    """The texts in backticks outside of blocks, and the blocks."""
    block = re.compile(r"^```[\s\S]*?^```$|^    .*$", re.M)
    texts = set(re.findall(r"`([^`\n]+)`", block.sub("", page)))
    return sorted(texts), "\n".join(block.findall(page))


def find_file(page, name, files, names):
    name = re.sub(r"\bX\b", "*", name)
    if re.match(r"NAME[._]", name):
        return True
    if "/" not in name:
        return name in OTHERS or fnmatch.filter(names, name)
    tops = [os.path.dirname(page), ""] + sorted({f.split("/")[0] for f in files if "/" in f})
    return any(fnmatch.filter(files, os.path.normpath(os.path.join(top, name))) for top in tops)


def main():
    os.chdir(sys.argv[1])
    files = set(find_files())
    names = {os.path.basename(f) for f in files}
    code = "\n".join(read(f) for f in files if f.endswith(SOURCES))
    words = set(re.findall(r"\w+", code))
    functions = set(re.findall(r"\b([a-z_]\w*)\(", code))
    faults = 0
    for page in sorted(f for f in files if f.endswith(".md")):
        texts, blocks = take_apart(read(page))
        for text in texts:
            call = CALL.match(text)
            if FILE.match(text) and not find_file(page, text, files, names):
                kind = "file"
            elif call and (call.group(1) or call.group(2)) not in functions:
                kind = "function"
            elif IDENTIFIER.match(text) and text not in words and text not in blocks:
                kind = "name in the sources"
            else:
                continue
            print(f"{page}: there is no {kind} {text}")
            faults += 1
    sys.exit(bool(faults))


main()
