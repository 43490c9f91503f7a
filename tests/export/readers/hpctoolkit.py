"""HPCToolkit database, version 3: experiment.xml (its DTD is in every such file) and metric-db files.

Understands them the way the reader in Hatchet does (hatchet/readers/hpctoolkit_reader.py, 1.4.0): metrics in the order of their ids
as text, ranks and threads from the file names, call sites skipped, the line of a call site put before the callee's name.
"""

import array
import glob
import os
import re
import struct
import sys
import xml.etree.ElementTree as ET

from . import Reading, expect, nanoseconds

NAME = re.compile(r"\-(\d+)\-(\d+)\-([\w\d]+)\-(\d+)\-\d.metric-db$")
CHILDREN = {"PF": {"PF", "Pr", "L", "C", "S", "M"}, "C": {"PF", "M"}}  # of the DTD
ATTRIBUTES = {"PF": {"i", "s", "n", "lm", "f", "l", "str", "v"}, "C": {"i", "s", "l", "str", "v"}}
SECTIONS = ["MetricTable", "MetricDBTable", "LoadModuleTable", "FileTable", "ProcedureTable", "Info"]


def read_matrix(path):
    with open(path, "rb") as file:
        content = file.read()
    expect(content[:18] == b"HPCPROF-metricdb__", f"{path}: tag")
    expect(content[18:24] == b"00.10b", f"{path}: version and endianness")
    nodes, metrics = struct.unpack(">ii", content[24:32])
    values = array.array("d", content[32:])
    if sys.byteorder == "little":
        values.byteswap()
    expect(len(values) == nodes * metrics, f"{path}: {len(values)} values for {nodes} nodes and {metrics} metrics")
    return nodes, metrics, values


def read_tree(root):
    """By node id: name, file, line and children."""
    table = lambda section, item: {e.get("i"): e.get("n") for e in next(root.iter(section)).iter(item)}
    modules, files, procedures = table("LoadModuleTable", "LoadModule"), table("FileTable", "File"), table("ProcedureTable", "Procedure")
    tree = {}

    def visit(element, line_above, parent):
        expect(set(element.attrib) <= ATTRIBUTES[element.tag], f"attributes of {element.tag}")
        here = parent
        if element.tag == "PF":
            here = int(element.get("i"))
            expect(here not in tree, f"node {here} is there twice")
            expect(element.get("lm") in modules and element.get("f") in files, f"module and file of node {here}")
            name = procedures[element.get("n")]
            tree[here] = [f"{line_above}:{name}" if line_above else name, files[element.get("f")], int(element.get("l")), []]
            if parent is not None:
                tree[parent][3].append(here)
        for child in element:
            expect(child.tag in CHILDREN[element.tag], f"{child.tag} in {element.tag}")
            visit(child, int(element.get("l")), here)

    for element in next(root.iter("SecCallPathProfileData")).findall("PF"):
        visit(element, 0, None)
    return tree


def read(place):
    root = ET.parse(os.path.join(place, "experiment.xml")).getroot()
    expect([e.tag for e in next(root.iter("SecHeader"))] == SECTIONS, "order of the sections")
    tree = read_tree(root)
    names = {e.get("i"): e.get("n") for e in root.iter("MetricDB")}
    columns = [names[key] for key in sorted(names)]
    columns = [{"CPUTIME (sec) (E)": "time", "CPUTIME (sec) (I)": "time (inc)"}.get(name, name) for name in columns]
    files = glob.glob(os.path.join(place, "*.metric-db"))
    ranks = len(glob.glob(os.path.join(place, "*-000-*.metric-db")))
    expect(ranks > 0 and len(files) % ranks == 0, "every rank has the same number of threads")
    threads = len(files) // ranks
    reading, seen = Reading(), set()
    for path in sorted(files):
        rank, thread = (int(NAME.search(path).group(i)) for i in (1, 2))
        expect(rank < ranks and thread < threads, f"{path}: ranks and threads without gaps")
        seen.add((rank, thread))
        nodes, metrics, values = read_matrix(path)
        expect(nodes == len(tree) and set(tree) == set(range(1, nodes + 1)), f"{path}: a row for each node")
        expect(metrics == len(columns), f"{path}: a column for each metric")
        rows = [values[(n - 1) * metrics:n * metrics] for n in range(1, nodes + 1)]
        for m in range(0, metrics, 2):
            unit = nanoseconds if columns[m] == "time" else round
            expect(columns[m + 1] == columns[m] + " (inc)", "an inclusive metric beside each exclusive one")
            for n, (_, _, _, children) in tree.items():
                below = sum(unit(rows[c - 1][m + 1]) for c in children)
                expect(unit(rows[n - 1][m + 1]) == unit(rows[n - 1][m]) + below, f"inclusive {columns[m]} of node {n}")
                reading.add(columns[m], unit(rows[n - 1][m]), rank, tree[n][0] if n != 1 else "(no call path)")
    expect(len(seen) == len(files), "one file for each thread")
    reading.names = {node[0] for node in tree.values()}
    reading.lines = {name: (file, line) for name, file, line, _ in tree.values() if line}
    return reading
