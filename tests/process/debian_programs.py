"""Programs from Debian packages that nobody here wrote, set up in a test's folder; Skip where not installed."""

import re
import shutil
from pathlib import Path

from harness import Skip

LAMMPS_EXAMPLES = Path("/usr/share/lammps/examples")
PSEUDO = Path("/usr/share/espresso/pseudo")
SCALAPACK = Path("/usr/lib/x86_64-linux-gnu/scalapack")


def lammps(job, steps):
    """`lmp` on the crack example. Command; what of stdout must not change: all but times and their shares."""
    job.need("lmp")
    folder = LAMMPS_EXAMPLES / "crack"
    if not folder.is_dir():
        raise Skip("lammps-examples is not installed")
    script = (folder / "in.crack").read_text()
    job.write("in.crack", re.sub(r"(?m)^run\s+\d+", f"run {steps}", script))
    return ["lmp", "-in", "in.crack", "-log", "none"]


def lammps_results(out):
    """The thermodynamic output, and the lines on atoms and neighbours; not those with times."""
    table = re.search(r"(?ms)^ *Step .*?^Loop time", out)
    assert table, "no thermodynamic output"
    return table[0].splitlines()[:-1] + re.findall(r"(?m)^(?:Nlocal|Nghost|Neighs|Total # of neighbors).*", out)


def pw(job, steps, change=None):
    """Quantum ESPRESSO's pw.x: molecular dynamics of eight silicon atoms."""
    job.need("pw.x")
    if not (PSEUDO / "Si.pz-vbc.UPF").exists():
        raise Skip("quantum-espresso-data is not installed")
    shutil.copy(PSEUDO / "Si.pz-vbc.UPF", job.folder)
    text = (job.source / "tests/programs/pw_silicon.in").read_text().replace("STEPS", str(steps))
    job.write("si.in", text.replace(*change) if change else text)
    return ["pw.x", "-in", "si.in"]


def pw_results(out):
    """All energies, forces and iteration counts; not times, memory and what depends on the start."""
    kept = re.findall(r"(?m)^.*(?:energy|Ekin|temperature|force =|convergence has been achieved|k\( ?0|Error|error).*$", out)
    return [line for line in kept if "CPU" not in line and "WALL" not in line]


def xdlu(job, ranks):
    """ScaLAPACK's LU test for this MPI, on one grid of all ranks."""
    program = SCALAPACK / f"{job.mpi}-tests/xdlu"
    data = Path("/usr/share/scalapack/LU.dat")
    if not program.exists() or not data.exists():
        raise Skip("scalapack-mpi-test and scalapack-test-common are not installed")
    text = data.read_text()
    for entry, value in {"number of process grids": "1", "values of P": "1", "values of Q": str(ranks)}.items():
        text = re.sub(rf"(?m)^[\d ]+(\t+{entry})", rf"{value}\1", text)
    job.write("LU.dat", text)
    return [program]


def xdlu_results(out):
    """What was solved and whether it passed; columns 9 to 11 are times, rates and their like."""
    kept = []
    for line in out.splitlines():
        words = line.split()
        if len(words) > 8 and words[0] == "WALL":
            kept.append(words[:8] + words[-1:])
        elif "tests" in line or "residual" in line.lower():
            kept.append(words)
    return kept
