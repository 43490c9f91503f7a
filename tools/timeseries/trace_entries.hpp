// The samples and waits of a trace in one order of time.
// Contract: thread-safe; allocates in proportion to both; throws std::bad_alloc only.
//
// Decisions:
// - Samples during a wait are part of it: it is one call, whose begin and end are known.
// - A sample or wait whose call path is not known from its outer end on is left out: it does not show that the calls around it have ended.
// - The time of an OpenMP worker between two regions is left out: it lies in no function, and would end all loops of the thread.
#pragma once

#include "tools/timeseries/contexts.hpp"

#include <vector>

namespace libprofile::tools {

inline constexpr std::uint32_t all_activations = 0xffffffff;

struct TraceEntry {
    double begin = 0; // ns; of a sample equal to its end
    double end = 0;
    std::uint32_t path = 0;
    std::uint32_t activations = 0; // so many go on from the entry before to this one. All that look alike if nothing is known of it
    bool is_wait = false;

    /// When it was certainly there.
    double time() const { return begin + (end - begin) / 2; }
};

std::vector<TraceEntry> trace_entries(const Trace& trace, const Contexts& contexts);

} // namespace libprofile::tools
