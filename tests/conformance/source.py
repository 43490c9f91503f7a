"""Fetches the source of MPICH's test suite into a cache folder. None of it is part of this repository.

It comes from Debian's source package, so that it is the suite of the very MPICH that is installed, and through apt, which
checks its signature. The machine's own package lists and sources stay untouched: this uses private ones.
"""

import subprocess
import tarfile
from pathlib import Path

ARCHIVE = "mpich_4.0.2.orig.tar.xz"
INSIDE = "mpich-4.0.2/test/mpi/"
SOURCE = "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian bookworm main\n"

# One file serves all C++ programs and asks for two constants by names that Open MPI does not have; the C names mean the
# same there. Fortran 2008 programs are only configured as a part of MPICH's own build.
PORTED = {
    "configure": [
        ('"$enable_f08" = "yes" -a "$FROM_MPICH" = "yes"', '"$enable_f08" = "yes"'),
        ("f08dir=f08\n", 'f08dir=f08; otherlangs="$otherlangs f08"\n'),
    ],
    "util/mtest_cxx.cxx": [
        ("MPI::Win::NULL_COPY_FN, MPI::Win::NULL_DELETE_FN", "WIN_FUNCTIONS"),
        ('#include "mpitestcxx.h"\n', """#include "mpitestcxx.h"
#ifdef OPEN_MPI
#define WIN_FUNCTIONS MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN
#else
#define WIN_FUNCTIONS MPI::Win::NULL_COPY_FN, MPI::Win::NULL_DELETE_FN
#endif
"""),
    ],
}


def fetch(cache):
    """The archive in the cache folder, downloaded if it is not there."""
    archive = cache / ARCHIVE
    if archive.exists():
        return archive
    lists = cache / "lists"
    (lists / "partial").mkdir(parents=True, exist_ok=True)
    sources = cache / "sources.list"
    sources.write_text(SOURCE)
    options = ["-o", f"Dir::Etc::sourcelist={sources}", "-o", "Dir::Etc::sourceparts=-", "-o", f"Dir::State::lists={lists}"]
    subprocess.run(["apt-get", *options, "update"], check=True)
    subprocess.run(["apt-get", *options, "source", "--download-only", "mpich"], cwd=cache, check=True)
    return archive


def unpack(cache):
    """The folder of the unpacked suite."""
    suite = cache / "suite"
    if (suite / "configure").exists():
        return suite
    with tarfile.open(fetch(cache)) as archive:
        members = [member for member in archive if member.name.startswith(INSIDE)]
        for member in members:
            member.name = member.name[len(INSIDE):]
        archive.extractall(suite, [member for member in members if member.name])
    for name, changes in PORTED.items():
        path = Path(suite, name)
        text = path.read_text()
        for old, new in changes:
            text = text.replace(old, new, 1)
        path.write_text(text)
    return suite
