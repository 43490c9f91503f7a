// The filter file of instrumented functions, as `libprofile filter` writes it (docs/regions.md): read by the runtime
// (LIBPROFILE_FILTER) and by the compiler wrappers.
// Contract: thread-safe (no state); allocates its results; throws std::bad_alloc only.
#pragma once

#include "tools/analysis/regions.hpp"

#include <cstddef>
#include <string>

namespace libprofile::tools {

struct FilterFile {
    std::string text; // all of it
    /// Functions that are excluded at run time only: GCC looks for a name anywhere in others, and would leave out a function that is to stay.
    std::size_t left_to_run = 0;
};
FilterFile filter_file(const Profile& profile, const TinyFunctions& tiny, double target);

} // namespace libprofile::tools
