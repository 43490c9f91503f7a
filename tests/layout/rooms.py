#!/usr/bin/python3
"""Every source file lies in a room that docs/contributing.md lists, and includes only its own room and those listed above it; no file
includes itself through others.

Usage: rooms.py SOURCE_FOLDER"""

import re
import sys
from pathlib import Path

SOURCES = {".cpp", ".hpp", ".h", ".c", ".S", ".def"}
ROW = re.compile(r"^\| `([\w/]+)/` \| ")
INCLUDE = re.compile(r'^\s*#\s*include "([^"]+)"', re.MULTILINE)


def rooms_of(page):
    """The rooms in the order of the table, the lowest first."""
    table = page.read_text().split("## Rooms", 1)[1].split("\n## ", 1)[0]
    return [row[1] for row in map(ROW.match, table.splitlines()) if row]


def room_of(file, rooms):
    """The innermost room that holds the file; None: there is none."""
    return max((room for room in rooms if file.startswith(room + "/")), key=len, default=None)


def unit(file):
    """A header and its source file count as one."""
    return file.rsplit(".", 1)[0]


def find_circle(graph):
    """Units that include each other, the first one again at the end; None: there are none."""
    done = set()
    for start in graph:
        path, open_units = [(start, iter(sorted(graph[start])))], {start}
        while path and start not in done:
            node, rest = path[-1]
            following = next((other for other in rest if other not in done), None)
            if following is None:
                path.pop()
                open_units.discard(node)
                done.add(node)
            elif following in open_units:
                names = [name for name, _ in path]
                return [*names[names.index(following):], following]
            else:
                path.append((following, iter(sorted(graph[following]))))
                open_units.add(following)
    return None


def check(root):
    rooms = rooms_of(root / "docs" / "contributing.md")
    complaints = [] if rooms else ["docs/contributing.md: no table of rooms"]
    tops = {room.split("/")[0] for room in rooms}
    files = sorted(str(path.relative_to(root)) for top in tops for path in (root / top).rglob("*") if path.suffix in SOURCES)
    complaints += [f"{room}/ is listed and has no source file" for room in rooms if not any(room_of(file, rooms) == room for file in files)]
    known, graph = set(files), {unit(file): set() for file in files}
    for file in files:
        room = room_of(file, rooms)
        if room is None:
            complaints.append(f"{file} lies in no room")
            continue
        for name in INCLUDE.findall((root / file).read_text()):
            if name not in known:
                continue
            target = room_of(name, rooms)
            if target is not None and rooms.index(target) > rooms.index(room):
                complaints.append(f"{file} includes {name}, which lies above it")
            if unit(name) != unit(file):
                graph[unit(file)].add(unit(name))
    circle = find_circle(graph)
    if circle:
        complaints.append("these include each other: " + " -> ".join(circle))
    return complaints, len(files)


if __name__ == "__main__":
    found, count = check(Path(sys.argv[1]))
    print("\n".join(found) or f"{count} files: no include runs upward, none in a circle")
    sys.exit(1 if found else 0)
