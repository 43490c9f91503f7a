// Which iterations of two runs are the same.
// Contract: thread-safe (no state); memory in proportion to the iterations, and to the band where work decides; throws std::bad_alloc only.
//
// Iterations with the same calls are the same, in the order in which both runs come by them: the shortest edit script of both sequences. Where the order
// of the calls in an iteration is known, the same order comes first. Where two
// iterations stand at the same place between such, and differ in calls, they are a pair, too: a step that writes output now. If that says little, the
// pairing with the least difference in work decides, the number of the iteration, or its place in the run. What costs least is taken: 2 times
// the difference of a pair, 1 for an iteration without a partner. Times align nothing, they are what is compared.
// Source of the alignment by structure: M. Weber, "Structural Performance Comparison of Parallel Software Applications" (TU Dresden, 2016), the
// hierarchical alignment; here the levels are what iterations have in common, from bytes to call paths.
#pragma once

#include "tools/structure/edit_script.hpp"
#include "tools/structure/run_iterations.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace libprofile::tools {

enum class AlignBy : std::uint8_t {
    Structure, // which calls, how often, with how many bytes
    Work,      // the amount of calls, bytes, instructions, each compared with a typical iteration of its run
    Step,      // the number of the iteration
    Progress,  // its place between the first and the last one
};
inline constexpr std::size_t align_by_count = static_cast<std::size_t>(AlignBy::Progress) + 1;

/// "structure", "work", "step", "progress".
const char* align_by_name(AlignBy by);
/// Empty: there is no such name.
std::optional<AlignBy> align_by_named(std::string_view name);

struct IterationAlignment {
    AlignBy by = AlignBy::Structure;
    std::vector<std::uint32_t> partner; // by iteration of the first run: that of the second one, or no_partner; ascending
    std::size_t pairs = 0;
    std::size_t different = 0; // of these: with other calls; of other numbers of ranks: at other call paths
    std::size_t reordered = 0; // of these: with the same calls, but some rank made them in another order
    bool is_known = true;      // the calls of all iterations; if not, `different` says little
    double cost = 0;           // of 0 to 1: what is different, as a share of all iterations
};

/// @param forced nothing else is tried; if that cannot be done, the result is by step
IterationAlignment align_iterations(const RunIterations& a, const RunIterations& b, std::optional<AlignBy> forced = {});

} // namespace libprofile::tools
