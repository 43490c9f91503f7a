#!/usr/bin/env python3
"""Generates the MPI wrappers from functions.table. Run by wrappers/CMakeLists.txt.

    generate.py --table T --out DIR stubs --arch x86_64                      mpi_functions.def, mpi_stubs.S
    generate.py --table T --out DIR bodies --mpi openmpi --include D ...     openmpi_*.cpp, openmpi_*.hpp
    generate.py --table T check --include D ... [--library libmpi.so]        is every function covered?
    generate.py --table T later --include D ... --later-include E ...        what only the mpi.h in E has, on stdout: made by hand, for
                                                                             later_functions/, which `bodies --later FILE` reads
    generate.py --table T prototypes --include D                             all of the mpi.h but removed functions, on stdout: made by hand,
                                                                             for standard_abi/abi.prototypes
    generate.py --table T --out DIR header --abi standard_abi                the mpi.h of the standard ABI
"""

import argparse
import os
import re
import subprocess
import sys

from generator import abi_header, bodies, header, stubs, table


def write_files(directory, files):
    os.makedirs(directory, exist_ok=True)
    for name, text in files.items():
        with open(os.path.join(directory, name), "w", encoding="utf-8") as file:
            file.write(text)


def exported_functions(library):
    run = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True)
    return sorted(set(re.findall(r" [TW] (MPI_[A-Z][a-z]\w*)", run.stdout)))


def check(functions, declared, library):
    """Every function of mpi.h and of the library has a row; raises TableError if not."""
    header.wrapped_prototypes(functions, declared)
    exported = exported_functions(library) if library else []
    missing = [name for name in exported if not functions.is_wrapped(name) and not functions.pass_reason(name)]
    if missing:
        raise table.TableError(f"{library} exports functions that functions.table lacks: " + ", ".join(missing))
    print(f"{len(declared)} functions declared, {len(exported)} exported: all covered by functions.table")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--table", required=True)
    parser.add_argument("--out", default=".")
    parser.add_argument("what", choices=["stubs", "bodies", "check", "later", "prototypes", "header"])
    parser.add_argument("--arch", choices=sorted(stubs.HEADS), help="processor of the stubs")
    parser.add_argument("--mpi", help="name of the MPI library: the namespace and file names of its bodies")
    parser.add_argument("--include", action="append", default=[], help="where its mpi.h is")
    parser.add_argument("--later", help="declarations that this mpi.h may lack, for bodies")
    parser.add_argument("--later-include", action="append", default=[], help="where the mpi.h of a later version is, for later")
    parser.add_argument("--abi", help="folder with abi.table and abi.prototypes, for header")
    parser.add_argument("--compiler", default="cc", help="C compiler that preprocesses mpi.h")
    parser.add_argument("--library", help="the MPI library itself, for check")
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    functions = table.read_table(arguments.table)
    if arguments.what == "stubs":
        files = {"mpi_functions.def": stubs.functions_list(functions), "mpi_stubs.S": stubs.stubs_source(functions, arguments.arch)}
        write_files(arguments.out, files)
        return
    if arguments.what == "header":
        with open(os.path.join(arguments.abi, "abi.prototypes"), encoding="utf-8") as file:
            prototypes = re.sub(r"^//.*\n", "", file.read(), flags=re.MULTILINE)
        rows = abi_header.read_rows(os.path.join(arguments.abi, "abi.table"))
        write_files(arguments.out, {"mpi.h": abi_header.source(rows, prototypes)})
        return
    declared = header.parse(header.preprocess([arguments.compiler], arguments.include))
    if arguments.what == "check":
        check(functions, declared, arguments.library)
    elif arguments.what == "prototypes":
        sys.stdout.write(header.declarations_of_standard(functions, declared))
    elif arguments.what == "later":
        later = header.parse(header.preprocess([arguments.compiler], arguments.later_include))
        sys.stdout.write(header.declarations_of_later(functions, declared, later))
    else:
        if arguments.later:
            declared = {**header.read_declarations(arguments.later), **declared}
        prototypes = header.wrapped_prototypes(functions, declared)
        write_files(arguments.out, bodies.sources(arguments.mpi, functions, prototypes))


if __name__ == "__main__":
    try:
        main()
    except table.TableError as error:
        sys.exit(f"generate.py: {error}")
