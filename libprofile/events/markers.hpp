// Phase markers, from whatever interface they come: include/libprofile.h and MPI_Pcontrol.
// Contract: any thread; never fails. In a signal handler that has interrupted libprofile a marker is ignored and counted as a repair;
// mismatches are repaired by the phase stack and reported once per job. Inside an MPI callback a marker is ignored: a phase cannot change
// in the middle of an MPI call. While recording is off markers work as ever; their time then belongs to the pause.
#pragma once

#include <cstdint>

namespace libprofile {

enum class Marker : int {
    IterationBegin = 0, // the first four are the operations of profile_marker_v1
    IterationEnd = 1,
    PhaseBegin = 2,
    PhaseEnd = 3,
    NextIteration = 4, // ends the running one, if any, and begins another
    LastIteration = 5, // ends the running one, if any
    Place = 6,         // as NextIteration, but none of the program's: the place that LIBPROFILE_ITERATION names
};

/// Operations of profile_marker_v1 that are no markers of phases: regions (libprofile/events/named_regions.hpp).
inline constexpr int region_begin_operation = 4;
inline constexpr int region_end_operation = 5;

/// Sets a marker on the calling thread. `frame` is that of the entry point that the application called.
void mark(Marker marker, const char* name, std::uintptr_t frame) noexcept;

} // namespace libprofile
