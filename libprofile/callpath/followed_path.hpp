// What PathTracker::at_followed_call() found for an MPI call on a known path: its inner frames. While a time loop is looked for, each call needs
// its mark at the innermost frame. With these frames no walk is needed for that.
// Contract: plain data of one thread. Absolute addresses: a KnownPath holds for one frame address of the wrapper body.
#pragma once

#include "libprofile/callpath/call_tree.hpp"
#include "libprofile/callpath/mark.hpp"

#include <cstdint>

namespace libprofile {

struct FollowedPath {
    static constexpr std::uint32_t most_frames = 12; // inner ones; what lies outside of them must stand
    std::uint32_t epoch = 0;                         // of the load map
    std::uint32_t size = 0;                          // frames of the whole path
    std::uint32_t start_up = 0;                      // of these, start-up code that belongs to no call path
    std::int32_t marked = -1;                        // the innermost one that can have the mark
    std::uint32_t count = 0;                         // frames kept
    TrackedFrame frame[most_frames];                 // innermost first
};

} // namespace libprofile
