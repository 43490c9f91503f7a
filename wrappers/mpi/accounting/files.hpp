// File reads and writes: one operation per call. Contract: see accounting/all.hpp.
#pragma once

#include "wrappers/mpi/mpi_h.hpp"

namespace libprofile::LIBPROFILE_MPI_NAMESPACE {
namespace {

inline void file_read(MpiEvent& event) {
    event.add(Metric::FileReads, 1);
}
inline void file_write(MpiEvent& event) {
    event.add(Metric::FileWrites, 1);
}
inline void file_collective_read(MpiEvent& event) {
    event.add(Metric::FileCollReads, 1);
}
inline void file_collective_write(MpiEvent& event) {
    event.add(Metric::FileCollWrites, 1);
}

} // namespace
} // namespace libprofile::LIBPROFILE_MPI_NAMESPACE
