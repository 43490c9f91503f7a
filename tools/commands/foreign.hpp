// Profiles of other tools, where a command takes them in place of libprofile's own.
// Contract: one thread; allocates; throws UsageError, FrameError, std::bad_alloc.
#pragma once

#include "tools/frames/frame.hpp"

#include <initializer_list>
#include <optional>
#include <string>

namespace libprofile::tools {

/// An option that is of no meaning for them.
struct UnfitOption {
    bool is_given;
    const char* name;
    const char* why; // "it has no iterations"
};

/// Reads the profile if it is one of another tool. What `place` has is recognised by its content.
/// @throws UsageError when an option was given that does not fit
std::optional<Frame> foreign_profile(const std::string& place, std::initializer_list<UnfitOption> unfit);

} // namespace libprofile::tools
