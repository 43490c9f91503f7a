#!/usr/bin/python3
"""Measures programs of this system with a libprofile that was built elsewhere: output, results and exit codes are those without it, numbers of
calls those of an independent counter, and no path that a mark shortened differs from a full unwind.

Usage: measure.py PREFIX SOURCE_FOLDER    prints Markdown: what was found, and a row for each program. Ends with 1 if something differs."""

import json
import os
import platform
import re
import subprocess
import sys
import tempfile
from pathlib import Path

PREFIX, SOURCE = Path(sys.argv[1]), Path(sys.argv[2])
sys.path.append(str(SOURCE / "tests/process"))
from report_checks import calls  # noqa: E402

FOLDER = Path(tempfile.mkdtemp(prefix="portability."))
LAUNCHERS = {"openmpi": ["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none"], "mpich": ["mpirun.mpich"]}
# The same for all, whatever the machine has for a network.
ENVIRONMENT = {**os.environ, "HOME": str(FOLDER),
               "OMPI_MCA_btl_vader_single_copy_mechanism": "none", "OMPI_MCA_mpi_yield_when_idle": "1"}
# Times, process ids, and what launchers print of them.
VARYING = re.compile(r"(?i)time|cpu|loop|neighbor build|memory|\d+\.\d+ +\||prterun|mpirun|PMIX|hwloc|^\[|UCX|speed|performance|tau/day|\d+\.\d+%")


def run(command, environment=None, seconds=300):
    result = subprocess.run(list(map(str, command)), cwd=FOLDER, env={**ENVIRONMENT, **(environment or {})}, stdin=subprocess.DEVNULL,
                            capture_output=True, text=True, timeout=seconds)
    return result.returncode, result.stdout, result.stderr


def must(command):
    code, out, err = run(command)
    if code != 0:
        raise RuntimeError(f"{' '.join(map(str, command))}: {err[-400:]}")
    return out


def first_line(command):
    try:
        return (must(command).splitlines() or [""])[0].strip()
    except (OSError, RuntimeError):
        return "none"


def system():
    """What this system is made of."""
    mpich = re.search(r"Version:\s*(\S+)", must(["mpichversion"]))
    return (f"glibc {platform.libc_ver()[1]}, {first_line(['gcc', '--version'])}, Python {platform.python_version()}, "
            f"Open MPI {first_line(['mpirun.openmpi', '--version']).split()[-1]}, MPICH {mpich[1] if mpich else 'of unknown version'}")


def stable(text):
    """The lines that are the same in every run."""
    return [line for line in text.splitlines() if not VARYING.search(line)]


def counter(program, mpi):
    """The libraries that count the calls of a program's C and Fortran names, and what they need."""
    is_python = Path(program).suffix == ".py"
    listing = must(["ldd", must_find_mpi4py() if is_python else program])
    library = {"openmpi": r"libmpi\.so", "mpich": r"libmpich\.so"}
    found, made = {"c": library[mpi], "fortran": "libmpi_mpifh"}, []
    for language, name in found.items():
        match = re.search(rf"{name}\S* => (\S+)", listing)
        if not match:
            continue
        here, output = SOURCE / "tests/process/counter", FOLDER / f"{language}.{mpi}"
        must(["python3", here / "generate.py", language, match[1], f"{output}.S"])
        must(["gcc", "-O1", "-fPIC", "-shared", here / "counter.c", f"{output}.S", "-o", f"{output}.so", "-ldl"])
        made.append(f"{output}.so")
        if is_python: # which opens the library for itself, where the counter would not find it
            made.append(match[1])
    return made


def must_find_mpi4py():
    return must(["python3", "-c", "import mpi4py.MPI; print(mpi4py.MPI.__file__)"]).strip()


def counted(stem, rank):
    counts = {}
    for line in Path(f"{stem}.{rank}").read_text().splitlines():
        name, number = line.split()
        name = name.rstrip("_").capitalize() if name.endswith("_") else name.capitalize()
        counts[name] = counts.get(name, 0) + int(number)
    return counts


PASSED_THROUGH = [re.compile(pattern.replace("*", ".*") + "$", re.IGNORECASE)
                  for pattern in re.findall(r"(?m)^pass\s+(\S+)", (SOURCE / "wrappers/mpi/functions.table").read_text())]


def compare(name, mpi, command):
    """A row of the table, and whether everything is as it must be."""
    start = [*LAUNCHERS[mpi], "-n", "2"]
    plain_code, plain_out, _ = run([*start, *command])
    output = FOLDER / f"profile.{name}.{mpi}"
    stem = FOLDER / f"counts.{name}.{mpi}"
    program = Path(next((part for part in command if Path(part).suffix == ".py"), command[0]))
    before, *after = [*counter(program, mpi), ""]
    preload = ":".join(filter(None, [before, str(PREFIX / "lib/libprofile.so"), *after]))
    variables = [f"LD_PRELOAD={preload}", f"LIBPROFILE_OUTPUT={output}", f"COUNTER_OUTPUT={stem}", "LIBPROFILE_MARKS=check",
                 "LIBPROFILE_SAMPLE=1kHz"]
    code, out, err = run([*start, "env", *variables, *command])
    said = [line for line in err.splitlines() if line.startswith("libprofile: ")]
    remarks = [line.removeprefix("libprofile: ") for line in said if "(next: libprofile report" not in line]
    same = stable(out) == stable(plain_out)
    try:
        report = json.loads(must([PREFIX / "bin/libprofile", "report", output, "--format", "json", "--series"]))
        wrong = []
        total = 0
        # The C++ bindings of Open MPI 4 ask in a constructor whether MPI has begun; libprofile does not count what bindings ask for themselves.
        asked = {"Mpi_initialized"} if "libmpi_cxx" in must(["ldd", command[0]]) else set()
        if program.suffix == ".py":
            asked = {"Mpi_comm_free_keyval"} # mpi4py's last call comes from a callback of MPI_Finalize, when the profile is written
        for rank in range(2):
            found = {key.capitalize(): number for key, number in calls(report, rank).items()}
            expected = {key: number for key, number in counted(stem, rank).items() if not any(p.match(key) for p in PASSED_THROUGH)}
            total += sum(found.values())
            wrong += [f"{key} {expected.get(key, 0)} != {found.get(key, 0)}" for key in sorted({*found, *expected} - asked)
                      if found.get(key, 0) != expected.get(key, 0)]
        paths = report["call_paths_found"]
        numbers = f"{total} calls" + (": " + ", ".join(wrong[:4]) if wrong else ", all equal")
        checked = f"{paths['paths_checked']} checked, {paths['paths_wrong']} wrong"
        loop = next((phase["name"] for phase in report["phases"] if phase.get("iterations", 0) > 1), "none")
        is_checked = 2 * paths["paths_checked"] > total
        right = not wrong and paths["paths_wrong"] == 0 and is_checked
    except (RuntimeError, OSError, KeyError) as error:
        numbers, checked, loop, right = f"no profile: {str(error)[:200]}", "", "", False
    right = right and same and code == plain_code
    exit_codes = str(code) if code == plain_code else f"{plain_code}, then {code}"
    row = [name, mpi, "same" if same else "differs", exit_codes, numbers, checked, loop, "; ".join(remarks) or "nothing"]
    if not right:
        print(f"{name} under {mpi}:\n{plain_out[-1500:]}\n--- measured:\n{out[-1500:]}\n{err[-2500:]}", file=sys.stderr)
    return row, right


def main():
    programs = SOURCE / "tests/programs"
    cases = [("LAMMPS", "openmpi", ["/usr/bin/lmp", "-in", SOURCE / "tests/portability/melt.in", "-log", "none"])]
    if Path("/var/cache/lammps/lmp").exists():
        cases.append(("LAMMPS", "mpich", ["/var/cache/lammps/lmp", "-in", SOURCE / "tests/portability/melt.in", "-log", "none"]))
    for mpi in LAUNCHERS:
        must([f"mpicc.{mpi}", "-O2", SOURCE / "tests/portability/exchange.c", "-o", f"exchange.{mpi}"])
        must([f"mpif90.{mpi}", "-O1", programs / "calls_usempi.f90", "-o", f"fortran.{mpi}"])
        cases += [("C", mpi, [FOLDER / f"exchange.{mpi}"]), ("Fortran", mpi, [FOLDER / f"fortran.{mpi}"])]
    cases.append(("mpi4py", "openmpi", ["/usr/bin/python3", SOURCE / "tests/portability/exchange.py"]))
    print(f"{system()}\n")
    print("| program | MPI | output | exit code | numbers of calls | shortened paths | time loop | what libprofile said |")
    print("|---|---|---|---|---|---|---|---|")
    fine = True
    for case in cases:
        try:
            row, right = compare(*case)
        except (RuntimeError, OSError, subprocess.TimeoutExpired, StopIteration) as error:
            row, right = [case[0], case[1], f"failed: {str(error)[:300]}"], False
        fine &= right
        print("| " + " | ".join(row) + " |", flush=True)
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
