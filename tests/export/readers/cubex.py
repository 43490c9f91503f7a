"""Cube 4, after docs/cube_file_format.md of pyCubexR and its enumeration of call-tree nodes."""

import array
import tarfile
import xml.etree.ElementTree as ET

from . import Reading, expect, nanoseconds


def walk(cnode):
    """Pre-order: the numbers of rows of exclusive metrics."""
    yield cnode
    for child in cnode.findall("cnode"):
        yield from walk(child)


def read(place):
    with tarfile.open(place) as archive:
        files = {member.name: archive.extractfile(member).read() for member in archive.getmembers()}
    root = ET.fromstring(files["anchor.xml"])
    regions = {r.get("id"): r for r in root.iter("region")}
    tops = root.find("program").findall("cnode")
    expect(len(tops) == 1, "one root of the call tree")
    expect(len(root.find("system").findall("systemtreenode")) == 1, "one root of the system tree")
    cnodes = list(walk(tops[0]))
    name_of = lambda c: regions[c.get("calleeId")].find("name").text
    function_of = {tops[0]: "(no call path)"}  # phases and their instances are parts of the function that they are in
    for c in cnodes:
        for child in c.findall("cnode"):
            is_part = regions[child.get("calleeId")].find("role").text.startswith("dynamic")
            function_of[child] = function_of[c] if is_part else name_of(child)
    expect(len({c.get("id") for c in cnodes}) == len(cnodes), "ids of the call tree")
    groups = list(root.iter("locationgroup"))
    rank_of = [group.find("name").text.rpartition(" ")[2] for group in groups for _ in group.findall("location")]
    locations = list(root.iter("location"))
    expect([int(l.get("Id")) for l in locations] == list(range(len(locations))), "ids of the locations")
    threads = int(locations[-1].find("rank").text) + 1
    expect(len(locations) == threads * len(groups), "every rank has the same number of threads")  # Hatchet's reader relies on it
    reading = Reading()
    for metric in root.iter("metric"):
        expect(metric.get("type") == "EXCLUSIVE", "kind of metric")
        name, kind = metric.find("uniq_name").text, metric.find("dtype").text
        index, data = files[metric.get("id") + ".index"], files[metric.get("id") + ".data"]
        expect(index[:11] == b"CUBEX.INDEX" and index[11:18] == b"\x01\0\0\0\0\0\x01", "header of the index")
        ids = array.array("I", index[22:])
        expect(int.from_bytes(index[18:22], "little") == len(ids), "number of rows")
        expect(list(ids) == sorted(set(ids)) and all(i < len(cnodes) for i in ids), "rows")
        expect(data[:10] == b"CUBEX.DATA", "header of the data")
        values = array.array({"DOUBLE": "d", "UINT64": "Q"}[kind], data[10:])
        expect(len(values) == len(ids) * len(locations), "number of values")
        for row, i in enumerate(ids):
            for location, rank in enumerate(rank_of):
                value = values[row * len(locations) + location]
                value = nanoseconds(value) if kind == "DOUBLE" else value
                reading.add(name, value, int(rank), function_of[cnodes[i]])
    reading.callers = {name_of(child): name_of(c) for c in cnodes for child in c.findall("cnode")}  # one of them
    reading.names = {regions[c.get("calleeId")].find("name").text for c in cnodes}
    reading.lines = {r.find("name").text: (r.get("mod"), int(r.get("begin"))) for r in regions.values() if int(r.get("begin")) > 0}
    return reading
