#!/usr/bin/python3
"""Every source file lies in a room that docs/contributing.md lists, and includes only its own room and those listed before it; no file
includes itself through others.

Usage: rooms.py SOURCE_FOLDER"""

import re
import sys
from pathlib import Path

SOURCES = {".cpp", ".hpp", ".h", ".c", ".S", ".def", ".in", ".inc"}
GENERATORS = "wrappers/mpi/generator/*.py" # they write includes, too
ROW = re.compile(r"^\| `([\w/]+)/` \| ")
INCLUDE = re.compile(r'^\s*#\s*include ["<]([^">]+)[">]', re.MULTILINE)
GENERATED = re.compile(r"^libprofile/base/version\.hpp$|^(\{mpi\}|openmpi|mpich)_functions\.hpp$|^tools/manual/|page_template")
RUNTIME = ("libprofile/", "wrappers/")
OF_RUNTIME_FOR_TOOLS = {"libprofile/base", "libprofile/clustering", "libprofile/code", "libprofile/counters"}


def rooms_of(page):
    """The rooms in the order of the table."""
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


def resolve(root, file, name):
    """The file of the project that the include names; None: a library's."""
    for candidate in (root / name, (root / file).parent / name):
        if candidate.is_file() and candidate.resolve().is_relative_to(root.resolve()):
            return str(candidate.resolve().relative_to(root.resolve()))
    return None


def complaint_of(file, name, target, rooms):
    """Why the file must not include `target`, None: it may."""
    room, other = room_of(file, rooms), room_of(target, rooms)
    if other is None:
        return f"{file} includes {name}, which lies in no room"
    if rooms.index(other) > rooms.index(room):
        return f"{file} includes {name}, which the table lists behind it"
    if not file.startswith(RUNTIME) and other.startswith("libprofile/") and other not in OF_RUNTIME_FOR_TOOLS:
        return f"{file} includes {name}, of the runtime; tools use of it {', '.join(sorted(OF_RUNTIME_FOR_TOOLS))} only"
    return None


def check(root):
    """Complaints, and the number of files."""
    rooms = rooms_of(root / "docs" / "contributing.md")
    complaints = [] if rooms else ["docs/contributing.md: no table of rooms"]
    tops = {room.split("/")[0] for room in rooms}
    files = sorted(str(path.relative_to(root)) for top in tops for path in (root / top).rglob("*") if path.suffix in SOURCES and path.is_file())
    files += sorted(str(path.relative_to(root)) for path in root.glob(GENERATORS))
    complaints += [f"{room}/ is listed and has no source file" for room in rooms if not any(room_of(file, rooms) == room for file in files)]
    graph = {unit(file): set() for file in files}
    for file in files:
        if room_of(file, rooms) is None:
            complaints.append(f"{file} lies in no room")
            continue
        for name in INCLUDE.findall((root / file).read_text()):
            target = resolve(root, file, name)
            if target is None:
                if name.split("/")[0] in tops and "/" in name and not GENERATED.search(name):
                    complaints.append(f"{file} includes {name}, which is not there")
                continue
            complaint = complaint_of(file, name, target, rooms)
            if complaint:
                complaints.append(complaint)
            if unit(target) in graph and unit(target) != unit(file):
                graph[unit(file)].add(unit(target))
    circle = find_circle(graph)
    if circle:
        complaints.append("these include each other: " + " -> ".join(circle))
    return complaints, len(files)


if __name__ == "__main__":
    found, count = check(Path(sys.argv[1]))
    print("\n".join(found) or f"{count} files: each includes only what the table lists before it, none is in a circle")
    sys.exit(1 if found else 0)
