-- libprofile for Lmod. The folder may be moved: paths are relative to this file, PREFIX/share/modulefiles/libprofile.
help([[Time-series call-path profiles of MPI programs:
  mpirun -n 64 libprofile run -- ./app args
  libprofile report libprofile-app-...
man libprofile tells more.]])
whatis("Name: libprofile")
whatis("Description: time-series call-path profiles of MPI programs")

local prefix = myFileName():match("^(.*)/share/modulefiles/libprofile/[^/]*$")
setenv("LIBPROFILE_ROOT", prefix)
prepend_path("PATH", pathJoin(prefix, "bin"))
append_path("MANPATH", pathJoin(prefix, "share/man") .. ":")
prepend_path("PKG_CONFIG_PATH", pathJoin(prefix, "lib/pkgconfig"))
prepend_path("CMAKE_PREFIX_PATH", prefix)
prepend_path("PYTHONPATH", pathJoin(prefix, "lib/python3"))
