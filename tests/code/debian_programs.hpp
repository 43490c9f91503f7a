// Programs and libraries of Debian, as many as are installed.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace libprofile::test {

/// Those that every machine with the packages of scripts/packages has come first.
inline std::vector<std::string> debian_programs() {
    constexpr const char* names[] = {"/usr/bin/bash",
                                     "/usr/bin/perl",
                                     "/usr/lib/x86_64-linux-gnu/libc.so.6",
                                     "/usr/lib/x86_64-linux-gnu/libstdc++.so.6",
                                     "/usr/lib/x86_64-linux-gnu/libmpi.so.40",
                                     "/usr/lib/x86_64-linux-gnu/libm.so.6",
                                     "/usr/lib/x86_64-linux-gnu/libgfortran.so.5",
                                     "/usr/lib/x86_64-linux-gnu/libcrypto.so.3",
                                     "/usr/lib/x86_64-linux-gnu/liblammps.so.0",
                                     "/usr/lib/x86_64-linux-gnu/libblas.so.3",
                                     "/usr/lib/x86_64-linux-gnu/liblapack.so.3",
                                     "/usr/lib/x86_64-linux-gnu/libscalapack-openmpi.so.2.2",
                                     "/usr/lib/x86_64-linux-gnu/libgmp.so.10",
                                     "/usr/lib/x86_64-linux-gnu/libpython3.11.so.1.0",
                                     "/usr/lib/x86_64-linux-gnu/libHYPRE-2.26.0.so",
                                     "/usr/lib/x86_64-linux-gnu/libgromacs.so.7",
                                     "/usr/lib/x86_64-linux-gnu/libopenblas.so.0",
                                     "/usr/lib/x86_64-linux-gnu/libhdf5_openmpi.so.103",
                                     "/usr/bin/git",
                                     "/usr/bin/hpcc",
                                     "/usr/bin/pw.x",
                                     "/usr/bin/gdb",
                                     "/usr/bin/python3.11",
                                     "/usr/bin/openssl"};
    std::vector<std::string> found;
    for (const char* name : names)
        if (std::error_code error; std::filesystem::exists(name, error)) found.emplace_back(name);
    return found;
}
inline constexpr std::size_t essential_programs = 5;

} // namespace libprofile::test
