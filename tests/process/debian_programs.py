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


def water(job, steps):
    """GROMACS: molecular dynamics of a box of water, two threads in each rank. Open MPI only."""
    job.need("gmx", "gmx_mpi")
    job.write("water.top", '#include "oplsaa.ff/forcefield.itp"\n#include "oplsaa.ff/spc.itp"\n[ system ]\nwater\n[ molecules ]\n')
    job.write("water.mdp", f"integrator = md\nnsteps = {steps}\ndt = 0.001\ncutoff-scheme = Verlet\ncoulombtype = PME\nrcoulomb = 0.9\nrvdw = 0.9\n")
    for command in (["solvate", "-cs", "spc216.gro", "-box", "2", "2", "2", "-o", "water.gro", "-p", "water.top"],
                    ["grompp", "-f", "water.mdp", "-c", "water.gro", "-p", "water.top", "-o", "water.tpr", "-maxwarn", "5"]):
        made = job.run(["gmx", *command])
        assert made.code == 0, f"gmx {command[0]}: {made.all_err[-500:]}"
    return ["gmx_mpi", "mdrun", "-s", "water.tpr", "-ntomp", "2"]


def superlu_dist(job, ranks):
    """SuperLU_DIST's third example: factorizes a matrix twice, with tasks of OpenMP. Open MPI only."""
    folder = Path("/usr/lib/x86_64-linux-gnu/superlu-dist/tests/EXAMPLE")
    if not (folder / "pddrive3").exists():
        raise Skip("libsuperlu-dist-dev is not installed")
    return [folder / "pddrive3", "-r", "1", "-c", str(ranks), folder / "g20.rua"]
