#!/usr/bin/python3
"""The tables of where CPython keeps its frames say what the headers of that version say. Versions without headers here are skipped.

Usage: python.py SOURCE_FOLDER"""

import re
import subprocess
import sys
from pathlib import Path

SKIPPED = 77
ROW = re.compile(r"^(OFFSET|SIZE|BACKWARD|EXTENDED|CACHES)\((.*)\)$", re.MULTILINE)
PROGRAM = """
#define Py_BUILD_CORE 1
#include <Python.h>
#include <internal/pycore_runtime.h>
#include <internal/pycore_frame.h>
#include <stddef.h>
#include <opcode.h>
#define NEED_OPCODE_TABLES
#include <internal/pycore_opcode.h>
#define BACKWARD(name, opcode) _Static_assert(name == opcode, #name);
#define EXTENDED(name, opcode) _Static_assert(name == opcode, #name);
#define CACHES(count, ...)
#define OFFSET(what, type, member, bytes) _Static_assert(offsetof(type, member) == bytes, #what);
#define SIZE(what, type, bytes) _Static_assert(sizeof(type) == bytes, #what);
"""


def compiles(include, table):
    result = subprocess.run(["gcc", "-w", "-fsyntax-only", "-x", "c", f"-I{include}", "-"], input=PROGRAM + table, text=True, capture_output=True, timeout=60)
    return result.returncode == 0, result.stderr


def caches_of_headers(include):
    """The rows with the caches of instructions, as the header has them."""
    text = (include / "internal/pycore_opcode.h").read_text()
    number = {name: int(value) for name, value in re.findall(r"^#define (\w+)\s+(\d+)$", (include / "opcode.h").read_text(), re.MULTILINE)}
    table = lambda name: re.search(name + r"\[256\] = \{(.*?)\};", text, re.DOTALL)[1]
    units = {name: int(value) for name, value in re.findall(r"\[(\w+)\] = (\d+)", table("_PyOpcode_Caches"))}
    base = re.findall(r"\[(\w+)\] = (\w+)", table("_PyOpcode_Deopt"))
    return sorted((units[of], sorted(number[name] for name, its in base if units.get(its) == units[of])) for of in {units[o]: o for o in units}.values())


def main():
    tables = sorted(Path(sys.argv[1]).glob("libprofile/callpath/python_*.def"))
    assert tables, "no tables"
    compared = 0
    for path in tables:
        major, minor = re.fullmatch(r"python_(\d+)_(\d+)", path.stem).groups()
        include = Path(f"/usr/include/python{major}.{minor}")
        if not (include / "internal/pycore_frame.h").exists():
            continue
        rows = ["".join(row.group(0)) for row in ROW.finditer(path.read_text())]
        right, complaint = compiles(include, "\n".join(rows))
        assert right, f"{path.name} is not what the headers say:\n{complaint}"
        wrong, _ = compiles(include, "\n".join(rows).replace("f_code, ", "f_code, 1"))
        assert not wrong, "a wrong offset is not noticed"
        in_table = [[int(number) for number in row[2].split(",")] for row in ROW.finditer(path.read_text()) if row[1] == "CACHES"]
        assert sorted((units, sorted(opcodes)) for units, *opcodes in in_table) == caches_of_headers(include), f"caches in {path.name}: {caches_of_headers(include)}"
        compared += 1
    print(f"{compared} of {len(tables)} tables compared")
    return 0 if compared else SKIPPED


sys.exit(main())
