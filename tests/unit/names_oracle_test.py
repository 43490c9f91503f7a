"""Compares names, lines and inlined functions with those of addr2line (binutils).

At call sites of large programs, as a sample's or a call's address would be, and at the instructions of small programs
in C, C++ and Fortran, with inlining and OpenMP.
"""

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

MOST = 1500  # addresses per program

C_SOURCE = """
#include <stdio.h>
volatile double sink;
static inline __attribute__((always_inline)) double innermost(double x) {
    sink = x;
    return sink * 2;
}
static inline __attribute__((always_inline)) double middle(double x) {
    for (int i = 0; i < 10; ++i)
        x += innermost(x);
    return x;
}
__attribute__((noinline)) double outer(double x) {
    x = middle(x) + 1;
    return x + innermost(x);
}
int main(void) {
    double sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < 100; ++i)
        sum += outer(i) + middle(i);
    printf("%f\\n", sum);
    return 0;
}
"""

CXX_SOURCE = """
#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <vector>
namespace solver {
template <class T> struct Field {
    std::vector<T> values;
    T sum() const { T s{}; for (const T& v : values) s += v; return s; }
};
__attribute__((noinline)) double run(int n) {
    Field<double> field;
    for (int i = 0; i < n; ++i) field.values.push_back((i * 7919) % 1000);
    std::sort(field.values.begin(), field.values.end(), [](double a, double b) { return a > b; });
    std::map<std::string, double> names;
    names[std::to_string(n)] = field.sum();
    return names.begin()->second;
}
}
int main() { std::printf("%f\\n", solver::run(1000)); }
"""

FORTRAN_SOURCE = """
module kernels
contains
  pure real(8) function flux(a, b)
    real(8), intent(in) :: a, b
    flux = 0.5d0 * (a + b) - abs(a - b)
  end function
  subroutine sweep(u, n)
    integer, intent(in) :: n
    real(8), intent(inout) :: u(n)
    integer :: i
    !$omp parallel do
    do i = 1, n - 1
      u(i) = u(i) + flux(u(i), u(i + 1))
    end do
    call shift(u(1))
  contains
    subroutine shift(x)
      real(8), intent(inout) :: x
      x = x + sum(u)
      print *, x
    end subroutine
  end subroutine
end module
subroutine outside(x)
  real(8) :: x
  x = x * 2
  print *, x
end subroutine
program heat
  use kernels
  real(8) :: u(100)
  u = 1
  call sweep(u, 100)
  call outside(u(1))
  print *, sum(u)
end program
"""


def addresses(objdump, program, calls_only):
    """Of calls: the return address - 1, as call paths have it. Else of all instructions."""
    command = [objdump, "-d", "--no-show-raw-insn", "-j", ".text", program]
    if not calls_only:  # without what fills the gaps between functions
        out = subprocess.run(command, text=True, capture_output=True, check=True).stdout
        code = [line.split(maxsplit=2) for line in out.splitlines() if line.startswith(" ")]
        return [int(at.rstrip(":"), 16) for at, mnemonic, *_ in code if not re.match("nop|xchg|data16|cs", mnemonic)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as objdump:  # a million lines and more
        out = subprocess.run(["grep", "-A1", "-P", r"\tcall"], stdin=objdump.stdout, text=True, capture_output=True, check=True).stdout
    code = [line.split(maxsplit=2) for line in out.splitlines() if line.startswith(" ")]
    found = [following[0] for one, following in zip(code, code[1:]) if one[1].startswith("call")]
    return [int(at.rstrip(":"), 16) - 1 for at in found[:: max(1, len(found) // MOST)]]


def theirs(addr2line, program, places):
    command = [addr2line, "-a", "-i", "-f", "-C", "-e", program]
    out = subprocess.run(command, input="".join(f"{a:x}\n" for a in places), text=True, capture_output=True, check=True)
    frames = []
    for line in out.stdout.splitlines():
        if re.fullmatch(r"0x[0-9a-f]+", line):
            frames.append([])
        else:
            frames[-1].append(re.sub(r" \(discriminator \d+\)", "", line))
    return [list(zip(lines[::2], lines[1::2])) for lines in frames]


def ours(oracle, program, places):
    out = subprocess.run([oracle, program], input="".join(f"{a:x}\n" for a in places), text=True, capture_output=True,
                         check=True).stdout.splitlines()
    result, at = [], 0
    for _ in places:
        frames = int(out[at])
        result.append([(out[at + 1 + 2 * i], out[at + 2 + 2 * i]) for i in range(frames)])
        at += 1 + 2 * frames
    return result


def plain(name):
    """What both write: no tags of clones, Fortran modules and regions of OpenMP our way."""
    name = re.sub(r"\[clone ([^]]*)\]", r"\1", name)
    name = re.sub(r"^MAIN__", "heat", name)
    name = re.sub(r"\._omp_fn\.(\d+)", r" [omp region \1]", name)
    name = re.sub(r" ?\.(constprop|isra|part|cold)(\.\d+)?", "", re.sub(r" \[(constprop|isra|part|cold)\]", "", name))
    name = re.sub(r"^__(\w+)_MOD_", r"\1::", name).strip()
    return re.sub(r"^(\w+?)_?(\.\d+)?$", r"\1", name) # of external and of internal procedures


def comparable(frames):
    """Function and line; files by their last part, since paths are joined differently."""
    result = []
    for function, place in frames:
        file, _, line = place.rpartition(":")
        result.append((function, Path(file).name, 0 if line == "?" else int(line)))
    return result


def agree(mine, other):
    """Same functions and lines. The innermost file is left to files_differ."""
    if other[0][2] == 0:
        return True # code without a line: nearest symbol below, however far
    if len(mine) != len(other):
        return False
    for at, (x, y) in enumerate(zip(mine, other)):
        if x[2] != y[2] or (at > 0 and x[1] != y[1]):
            return False
        # Where DWARF has no mangled name we take the symbol's: the whole name where addr2line has the last part. Its
        # innermost function has the name of the symbol, sometimes also where it is an inlined one.
        last = re.escape(y[0].partition("<")[0])
        by_symbol = at == 0 and len(other) > 1 and plain(y[0]) == plain(mine[-1][0])
        if plain(x[0]) != plain(y[0]) and not by_symbol and not re.search(rf"(^|[\s:]){last}(?!\w)", x[0]):
            return False
    return True


def files_differ(mine, other):
    """addr2line takes the innermost file from the symbol table for functions that other files cannot see."""
    return other[0][2] != 0 and mine[0][1] != other[0][1]


def compare(options, program, calls_only, failures, allowed=0.0):
    places = addresses(options.objdump, program, calls_only)
    mine, other = ours(options.oracle, program, places), theirs(options.addr2line, program, places)
    if len(mine) != len(other) or not places:
        failures.append(f"{program}: {len(mine)} answers, {len(other)} expected")
        return
    answers = [(a, comparable(x), comparable(y)) for a, x, y in zip(places, mine, other)]
    different = [(a, x, y) for a, x, y in answers if not agree(x, y)]
    files = sum(files_differ(x, y) for _, x, y in answers)
    inlined = sum(len(frames) > 1 for frames in mine)
    print(f"{program}: {len(places)} places, {inlined} with inlined functions, {len(different)} different, {files} in files")
    for address, x, y in different[:10]:
        print(f"  {address:x}:\n    ours   {x}\n    theirs {y}")
    if len(different) > allowed * len(places) or files > len(places) / 5 or inlined == 0:
        failures.append(f"{program}: {len(different)} of {len(places)} places differ, {inlined} with inlined functions")


def main():
    parser = argparse.ArgumentParser()
    for name in ("oracle", "compiler", "fortran", "objdump", "objcopy", "addr2line"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("programs", nargs="+")
    options = parser.parse_args()
    failures = []
    for program in options.programs:
        # A function in a header may be described by several units, compiled from the same source in other ways; the two
        # readers need not take the same.
        compare(options, program, True, failures, allowed=0.01)
    with tempfile.TemporaryDirectory() as folder:
        for name, source, compiler, flags in (
                ("small.c", C_SOURCE, options.compiler, ["-x", "c", "-fopenmp"]),
                ("small.cpp", CXX_SOURCE, options.compiler, []),
                ("small.f90", FORTRAN_SOURCE, options.fortran, ["-fopenmp"])):
            path = Path(folder) / name
            path.write_text(source)
            program = str(path.with_suffix("." + name.partition(".")[2] + ".out"))
            built = subprocess.run([compiler, "-g", "-O2", *flags, str(path), "-o", program], capture_output=True, text=True)
            if built.returncode != 0:
                print(f"{name} left out: {built.stderr}")
                continue
            compare(options, program, False, failures)
            # As other compilers write it: without the index of addresses.
            plain_program = program + ".without_index"
            subprocess.run([options.objcopy, "--remove-section", ".debug_aranges", program, plain_program], check=True)
            compare(options, plain_program, False, failures)
    for failure in failures:
        print("FAILED", failure)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
