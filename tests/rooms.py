"""Faults of the rooms: folders with C files, each with a README.md that says which headers are its
doors and which rooms it may use.  Prints a line for each fault; status 1 when there is one.

    - Doors: `graph.h`, `ops.h`            headers and tables that other rooms may include
    - May use: `common/base`               and whatever those rooms may use
    - Used by: `common/index`              the rooms whose line above names this one
"""
import fnmatch
import os
import re
import sys

TOPS = ("common", "trace", "schedule", "fuse", "render", "run", "pack")
MOST_FILES, MOST_LINES, MOST_COLUMNS = 30, 300, 100


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def find_rooms():
    """Files by folder, of folders that have C files."""
    rooms = {}
    for top in TOPS:
        for folder, _, files in os.walk(top):
            if any(f.endswith((".c", ".h")) for f in files):
                rooms[folder] = sorted(files)
    return rooms


def line_of(page, key):
    """The names in backticks on the line `- KEY: …`; None when there is no such line."""
    m = re.search(rf"^- {key}: (.*)$", page, re.M)
    return m and set(re.findall(r"`([^`]+)`", m.group(1)))


def check_table(room, page, files, faults):
    """In tables that begin with `| file |` the first column names files of the room."""
    for table in re.findall(r"^\| file \|.*\n\|-.*\n((?:\|.*\n)+)", page, re.M):
        first = "".join(row.split("|")[1] for row in table.splitlines())
        for name in re.findall(r"`([^`]+)`", first):
            if not fnmatch.filter(files, name):
                faults.append(f"{room}/README.md: there is no file {name} here")


def check_page(room, files, faults):
    """The README's three lines.  It names every file but man pages, which go with their tools."""
    path = room + "/README.md"
    if not os.path.exists(path):
        faults.append(f"{room}: there is no README.md")
        return set(), set(), set()
    page = read(path)
    names = {n for n in re.findall(r"`([^`\s]+)`", page) if "/" not in n}
    for f in files:
        named = f == "README.md" or f.endswith(".man")
        if not named and not any(fnmatch.fnmatch(f, n) for n in names):
            faults.append(f"{path}: does not name {f}")
    check_table(room, page, files, faults)
    lines = [line_of(page, key) for key in ("Doors", "May use", "Used by")]
    for key, found in zip(("Doors", "May use", "Used by"), lines):
        if found is None:
            faults.append(f"{path}: there is no line `- {key}: …`")
    for door in lines[0] or ():
        if door not in files:
            faults.append(f"{path}: the door {door} is not there")
    return tuple(found or set() for found in lines)


def reach(arrows, room):
    """Every room that this one may use, by way of others too."""
    seen, todo = set(), [room]
    while todo:
        for other in arrows.get(todo.pop(), ()):
            if other not in seen:
                seen.add(other)
                todo.append(other)
    return seen


def check_arrows(may_use, used_by, faults):
    for room, others in sorted(may_use.items()):
        for other in sorted(others):
            if other not in may_use:
                faults.append(f"{room}/README.md: there is no room {other}")
            elif room not in used_by[other]:
                faults.append(f"{other}/README.md: is used by {room}, which it does not say")
        for user in sorted(used_by[room]):
            if room not in may_use.get(user, ()):
                faults.append(f"{room}/README.md: {user} does not say that it may use this room")
        if room in reach(may_use, room):
            faults.append(f"{room}: may use itself by way of others: the arrows go in a circle")


def resolve(path, include):
    """The project's file that an include means: beside the file, or in a folder of Makefile's -I."""
    for base in (os.path.dirname(path), path.split("/")[0], "common"):
        at = os.path.normpath(os.path.join(base, include))
        if os.path.exists(at):
            return at
    return None


def check_file(path, doors, may_use, faults):
    room = os.path.dirname(path)
    lines = read(path).splitlines()
    if path.endswith(".h") and len(lines) > MOST_LINES:
        faults.append(f"{path}: {len(lines)} lines, {MOST_LINES} is the most for a header")
    for number, line in enumerate(lines, 1):
        if len(line.expandtabs(8)) > MOST_COLUMNS:
            faults.append(f"{path}:{number}: over {MOST_COLUMNS} columns")
        m = re.match(r'\s*#\s*include "([^"]+)"', line)
        at = m and resolve(path, m.group(1))
        other = at and os.path.dirname(at)
        if not at or other == room:
            continue
        if other not in reach(may_use, room):
            faults.append(f"{path}:{number}: {room} may not use {other}")
        elif os.path.basename(at) not in doors.get(other, ()):
            faults.append(f"{path}:{number}: {at} is no door of {other}")


def main():
    os.chdir(sys.argv[1])
    faults, doors, may_use, used_by = [], {}, {}, {}
    rooms = find_rooms()
    for room, files in sorted(rooms.items()):
        doors[room], may_use[room], used_by[room] = check_page(room, files, faults)
        count = sum(f.endswith((".c", ".h")) for f in files)
        if count > MOST_FILES:
            faults.append(f"{room}: {count} .c and .h files, {MOST_FILES} is the most")
    check_arrows(may_use, used_by, faults)
    for room, files in sorted(rooms.items()):
        for f in files:
            if f.endswith((".c", ".h")):
                check_file(room + "/" + f, doors, may_use, faults)
    print("\n".join(faults))
    sys.exit(bool(faults))


main()
