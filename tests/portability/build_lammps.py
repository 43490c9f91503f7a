#!/usr/bin/python3
"""Builds LAMMPS, without its packages, with MPICH: Debian has one for Open MPI only. The source is that of Debian 12, through apt.

Usage: build_lammps.py FOLDER    leaves FOLDER/lmp; does nothing if it is there."""

import subprocess
import sys
import tarfile
from pathlib import Path

SOURCE = "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian bookworm main\n"
SETTINGS = ["CC=mpicxx.mpich", "LINK=mpicxx.mpich", "CCFLAGS=-O1 -w", "LINKFLAGS=-O1", "MPI_INC=-DMPICH_SKIP_MPICXX -DOMPI_SKIP_MPICXX=1"]


def fetch(folder):
    lists = folder / "lists"
    (lists / "partial").mkdir(parents=True, exist_ok=True)
    (folder / "sources.list").write_text(SOURCE)
    options = ["-o", f"Dir::Etc::sourcelist={folder}/sources.list", "-o", "Dir::Etc::sourceparts=-", "-o", f"Dir::State::lists={lists}",
               "-o", "Dir::State::status=/dev/null"] # not the version of the package that is installed
    subprocess.run(["apt-get", *options, "update"], check=True)
    subprocess.run(["apt-get", *options, "source", "--download-only", "lammps"], cwd=folder, check=True)
    return next(folder.glob("lammps_*.orig.tar.*"))


def main():
    folder = Path(sys.argv[1]).resolve()
    if (folder / "lmp").exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    with tarfile.open(fetch(folder)) as archive:
        members = [member for member in archive if "/src/" in member.name or "/lib/" not in member.name and member.name.count("/") < 2]
        archive.extractall(folder / "source", members)
    source = next((folder / "source").glob("*/src"))
    subprocess.run(["make", "-j2", "mpi", *SETTINGS], cwd=source, check=True, stdout=subprocess.DEVNULL)
    (source / "lmp_mpi").rename(folder / "lmp")


if __name__ == "__main__":
    main()
