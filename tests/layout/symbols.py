#!/usr/bin/python3
"""No file imports a function that glibc 2.28 does not have, or needs a library that is not a part of glibc: what is built runs on older systems, too.

Usage: symbols.py FILE... [--elfutils FILE...]    those that follow --elfutils may need the libraries of elfutils"""

import re
import subprocess
import sys

NEWEST = (2, 28)
PARTS_OF_GLIBC = {"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1", "ld-linux-x86-64.so.2"}
IMPORT = re.compile(r"\*UND\*\s+[0-9a-f]+\s+\(?(?:(\w+?)_([\d.]+|PRIVATE))?\)?\s+(\S+)$")
NEEDED = re.compile(r"\(NEEDED\).*\[(.*)\]")


def complaints(symbols, dynamic, libraries=frozenset(), families=frozenset()):
    """What is wrong with a file, by what objdump -T and readelf -d print of it. It may need these libraries and their versions, too."""
    found = []
    for line in symbols.splitlines():
        match = IMPORT.search(line)
        if not match:
            continue
        family, version, name = match.groups()
        if family is None or family in families:
            continue
        if family != "GLIBC":
            found.append(f"{name} is of {family}_{version}")
        elif version == "PRIVATE" or tuple(map(int, version.split("."))) > NEWEST:
            found.append(f"{name} is of GLIBC_{version}")
    found += [f"it needs {name}" for name in NEEDED.findall(dynamic) if name not in PARTS_OF_GLIBC | libraries]
    return found


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def self_test():
    symbols = ("0000000000000000      DF *UND*\t0000000000000000 (GLIBC_2.34) dlopen\n"
               "0000000000000000  w   D  *UND*\t0000000000000000  Base        _ITM_registerTMCloneTable\n"
               "0000000000000000      DF *UND*\t0000000000000000 (GLIBC_2.2.5) free\n"
               "0000000000000000      DF *UND*\t0000000000000000 (GLIBCXX_3.4.30) strange\n")
    found = complaints(symbols, " 0x1 (NEEDED)  Shared library: [libc.so.6]\n 0x1 (NEEDED)  Shared library: [libfmt.so.9]\n")
    expected = ["dlopen is of GLIBC_2.34", "strange is of GLIBCXX_3.4.30", "it needs libfmt.so.9"]
    assert found == expected, found


def main():
    self_test()
    failed = False
    others = {}
    files = 0
    for file in sys.argv[1:]:
        if file == "--elfutils":
            others = {"libraries": {"libdw.so.1", "libelf.so.1"}, "families": {"ELFUTILS"}}
            continue
        files += 1
        symbols = output("objdump", "-T", file)
        assert "*UND*" in symbols and "GLIBC_2" in symbols, f"{file}: no imports were read"
        found = complaints(symbols, output("readelf", "-d", file), **others)
        failed |= bool(found)
        for complaint in found:
            print(f"{file}: {complaint}")
    print(f"{files} files" + ("" if failed else ": all run with glibc 2.28"))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
