#!/usr/bin/python3
"""No file imports a function that glibc 2.28 does not have, or needs a library that is not a part of glibc: what is built runs on older systems, too.

Usage: symbols.py FILE... [--elfutils FILE...]    those that follow --elfutils may need the libraries of elfutils"""

import re
import subprocess
import sys

NEWEST = (2, 28)
PARTS_OF_GLIBC = {"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}
IMPORT = re.compile(r"\sUND ([^\s@]+)@(\w+?)_([\d.]+|PRIVATE)(?: \(\d+\))?$")
NEEDED = re.compile(r"\(NEEDED\).*\[(.*)\]")


def complaints(symbols, dynamic, libraries=frozenset(), families=frozenset()):
    """What is wrong with a file, by what readelf prints of it. It may need these libraries and their versions, too."""
    found = []
    for line in symbols.splitlines():
        match = IMPORT.search(line)
        if not match:
            continue
        name, family, version = match.groups()
        if family in families:
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
    symbols = ("     1: 0000000000000000     0 FUNC    GLOBAL DEFAULT  UND dlopen@GLIBC_2.34 (2)\n"
               "     2: 0000000000000000     0 NOTYPE  WEAK   DEFAULT  UND _ITM_registerTMCloneTable\n"
               "     3: 0000000000000000     0 FUNC    GLOBAL DEFAULT  UND free@GLIBC_2.2.5 (3)\n"
               "     4: 0000000000000000     0 FUNC    GLOBAL DEFAULT  UND strange@GLIBCXX_3.4.30 (4)\n"
               "     5: 0000000000001000     8 FUNC    GLOBAL DEFAULT   12 ours@@LIBPROFILE_9.99\n")
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
        symbols = output("readelf", "--dyn-syms", "--wide", file)
        assert any(IMPORT.search(line) for line in symbols.splitlines()), f"{file}: no imports were read"
        found = complaints(symbols, output("readelf", "-d", file), **others)
        failed |= bool(found)
        for complaint in found:
            print(f"{file}: {complaint}")
    print(f"{files} files" + ("" if failed else ": all run with glibc 2.28"))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
