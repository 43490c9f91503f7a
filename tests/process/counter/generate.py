#!/usr/bin/python3
"""Writes an independent MPI call counter: assembler stubs that count and jump on.

    generate.py PATTERN LIBRARY OUTPUT.S      e.g.  generate.py '^MPI_[A-Z]\\w+$' libmpi.so.40 c_names.S

It shares nothing with libprofile: names come from `nm -D`, arguments and results pass through untouched. A stub needs no
prototype, so C names (MPI_Send) and Fortran names (mpi_send_) are treated alike. Linked with counter.c.
"""

import platform
import re
import subprocess
import sys

PATTERNS = {"c": r"^MPI_[A-Z][a-z]\w+$", "fortran": r"^mpi_[a-z0-9_]+[a-z0-9]_$"}
# The standard's way on from a C name is the PMPI name; Fortran goes to the next definition of the same name (counter.c).
X86_64 = """
.globl {name}
.type {name}, @function
{name}:
    lock incq counter_calls+{offset}(%rip)
    jmp {next}
"""
AARCH64 = """
.globl {name}
.type {name}, %function
{name}:
    adrp x16, counter_calls+{offset}
    add x16, x16, :lo12:counter_calls+{offset}
1:  ldxr x9, [x16]
    add x9, x9, #1
    stxr w10, x9, [x16]
    cbnz w10, 1b
    {next}
    br x16
"""
MACHINES = {
    "x86_64": (X86_64, {"c": "*P{name}@GOTPCREL(%rip)", "fortran": "*counter_next+{offset}(%rip)"}),
    "aarch64": (AARCH64, {"c": "adrp x16, :got:P{name}; ldr x16, [x16, :got_lo12:P{name}]",
                          "fortran": "adrp x16, counter_next+{offset}; ldr x16, [x16, :lo12:counter_next+{offset}]"}),
}


def functions(library, pattern):
    names = set()
    for line in subprocess.run(["nm", "-D", "--defined-only", library], check=True, text=True,
                               stdout=subprocess.PIPE).stdout.splitlines():
        kind, name = line.split()[-2:]
        name = name.partition("@")[0]
        if kind in "TtWw" and re.search(pattern, name):
            names.add(name)
    return sorted(names)


def main():
    language, library, output = sys.argv[1:]
    names = functions(library, PATTERNS[language])
    stub, ways_on = MACHINES[platform.machine()]
    assert len(names) > 100, f"only {len(names)} functions in {library}"
    with open(output, "w", encoding="ascii") as file:
        file.write(".text\n")
        for number, name in enumerate(names):
            way_on = ways_on[language].format(name=name, offset=8 * number)
            file.write(stub.format(name=name, offset=8 * number, next=way_on))
        file.write("\n.section .rodata\n")
        for number, name in enumerate(names):
            file.write(f'name_{number}: .asciz "{name}"\n')
        file.write("\n.data\n.balign 8\n.globl counter_names\n.hidden counter_names\ncounter_names:\n")
        for number in range(len(names)):
            file.write(f"    .quad name_{number}\n")
        file.write("    .quad 0\n.bss\n.balign 8\n")
        for array in ("counter_calls", "counter_next"):
            file.write(f".globl {array}\n.hidden {array}\n{array}: .zero {8 * len(names)}\n")
        file.write('.section .note.GNU-stack,"",@progbits\n')


if __name__ == "__main__":
    main()
