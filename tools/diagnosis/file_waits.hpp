// Whether ranks that are off the processor wait for files. Sleep has no samples, but input and output functions take some processor time around it.
// Contract: thread-safe (no state); allocates; throws std::bad_alloc only.
#pragma once

#include "tools/diagnosis/iteration_sums.hpp"

#include <cstdint>

namespace libprofile::tools {

struct FileWait {
    std::uint32_t function = 0;         // node of the tree: the input or output function; 0: not told
    std::uint32_t caller = 0;           // the function of the program or of a library that calls it
    double here = 0, there = 0;         // ns an iteration: processor time in such functions
    std::uint32_t place = 0;            // the function of the program that is off the processor; 0: not known, or not needed to tell it
    double place_off = 0, place_on = 0; // ns an iteration: there, off the processor and on it
    bool is_told = false;               // else there are too few samples: a hint
};

/// Told if samples are in such functions here, hardly there, and not as much more in others that sleep (locks, timers). Or if most of the time off the
/// processor is known to be in one function, which computes less than half as long itself, as no rank does that shares its processor, and calls such
/// functions and no others that sleep, by all samples in it, however few. A hint, if the few samples are in such functions here, and in no other that sleeps.
/// @param off_cpu ns an iteration, by which the time off the processor differs
FileWait file_wait(const NamedSpots& names, const IterationSums& here, const IterationSums& there, double off_cpu);

} // namespace libprofile::tools
