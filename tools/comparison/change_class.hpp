// What a function's or call's difference consists of, as far as it is counted.
// Contract: thread-safe (no state); allocates nothing; throws nothing.
#pragma once

#include "tools/comparison/comparison.hpp"

namespace libprofile::tools {

enum class ChangeClass : std::uint8_t {
    OtherCalls, // one of the groups does not call it
    Work,       // more or less calls, or bytes
    Waiting,    // for others
    Speed,      // the same calls and bytes take longer or shorter
    Unknown,    // nothing is counted: a function that was sampled
};

ChangeClass change_class(const ActivityChange& change);

/// "other calls", "work", "waiting", "speed", "unknown".
const char* change_class_name(ChangeClass which);

} // namespace libprofile::tools
