// The names of a profile's functions and calls, as a diagnosis needs them.
// Contract: plain data; const access is thread-safe; allocates; throws std::bad_alloc only.
#pragma once

#include "tools/analysis/hot_spots.hpp"
#include "tools/analysis/selected_tree.hpp"

#include <vector>

namespace libprofile::tools {

/// Functions that may sleep, by what they wait for.
enum class SleepKind : std::uint8_t { None, Files, Other };

/// The names of a profile, made once for all suspects.
struct NamedSpots {
    explicit NamedSpots(const Profile& profile);
    SpotTable table;
    FunctionTree tree;
    std::vector<bool> is_io;       // by call path: it is an input or output function, or below one
    std::vector<bool> is_system;   // by node of the tree: a function of the C library or the kernel
    std::vector<SleepKind> sleeps; // by node of the tree: it is such a function, or below one
};

} // namespace libprofile::tools
