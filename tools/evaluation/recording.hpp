// A full recording of one iterated phase: the cells of every iteration of every location, as the runtime's types.
// Contract: thread-safe (no state); allocates in proportion to the recording; throws NotRecordedInFull with one sentence
// that says what to do, or std::bad_alloc.
#pragma once

#include "tools/evaluation/memory_count.hpp"
#include "tools/evaluation/method.hpp"
#include "tools/reader/model.hpp"

#include <stdexcept>
#include <string>
#include <vector>

namespace libprofile::tools {

/// The profile cannot be evaluated.
class NotRecordedInFull : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

struct RecordedLocation {
    std::uint32_t rank = 0;
    std::uint32_t thread = 0;
    std::vector<RecordedIteration> iterations;
    std::vector<std::uint32_t> strong_class; // by iteration, from 0
    std::vector<std::uint32_t> weak_class;
};

struct Recording {
    std::string phase;
    std::vector<RecordedLocation> locations; // those that entered the phase, by rank, then thread
    PathKinds paths;
    std::uint32_t counters = 0;            // that were chosen
    std::uint64_t wall_ns = 0;             // of the job: that of the slowest location
    std::vector<std::string> other_phases; // iterated ones
    std::vector<std::string> notes;        // what is missing, one sentence each

    /// Iterations of the location with most of them.
    std::size_t iterations() const;
};

/// @param phase its name; empty: the iterated phase with most time
/// @throws NotRecordedInFull
Recording extract_recording(const Profile& profile, const std::string& phase = {});

} // namespace libprofile::tools
