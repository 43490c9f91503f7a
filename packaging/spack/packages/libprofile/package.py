# Spack recipe. In a clone: spack repo add packaging/spack && spack install libprofile mpi=mpich
from spack.package import *


class Libprofile(CMakePackage):
    """Records a call-path profile for every iteration of an MPI program's time loop. The program is not recompiled.
    Similar iterations are clustered while it runs."""

    homepage = "https://github.com/libprofile/libprofile"
    git = "https://github.com/libprofile/libprofile.git"

    license("BSD-3-Clause")

    version("main", branch="main")

    variant("mpi", default="openmpi", values=("openmpi", "mpich"), multi=False, description="MPI library whose programs are measured")
    variant("python", default=True, description="Python module")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("fortran", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("python@3.11:", type=("build", "run"))
    depends_on("openmpi", when="mpi=openmpi")
    depends_on("mpich", when="mpi=mpich")
    depends_on("libunwind")
    depends_on("elfutils")
    depends_on("zstd libs=shared,static")
    depends_on("zlib-api")
    depends_on("expat")
    depends_on("hwloc@2:", type=("build", "run"))
    depends_on("otf2@3:")
    depends_on("cli11")
    depends_on("nlohmann-json")
    depends_on("fmt")
    depends_on("boost@1.74:", type="build")
    depends_on("py-pybind11", type="build", when="+python")
    depends_on("py-numpy", type=("build", "run"), when="+python")

    requires("target=x86_64:", msg="call paths are unwound on x86-64 only")
    requires("platform=linux")
    conflicts("%gcc@:11", msg="the sources need C++20")

    generator("ninja")

    def cmake_args(self):
        mpi = self.spec.variants["mpi"].value
        wrappers = {"MPICC": "mpicc", "MPICXX": "mpicxx", "MPIFORT": "mpif90", "MPIRUN": "mpirun"}
        return [
            self.define("LIBPROFILE_MPI", mpi),
            *(self.define(f"LIBPROFILE_{mpi.upper()}_{name}", join_path(self.spec[mpi].prefix.bin, program))
              for name, program in wrappers.items()),
            self.define("LIBPROFILE_PYTHON", "+python" in self.spec),
            self.define("LIBPROFILE_PORTABLE", False),
            self.define("LIBPROFILE_TESTS", False),
            self.define("LIBPROFILE_BENCHMARKS", False),
        ]

    def setup_run_environment(self, env):
        env.prepend_path("PYTHONPATH", join_path(self.prefix.lib, "python3"))
