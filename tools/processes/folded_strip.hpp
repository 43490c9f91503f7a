// Many ranks as one strip over iterations.
// Contract: thread-safe (no state); allocates in proportion to the iterations; throws std::bad_alloc only.
//
// Source: M. Weber, "Structural Performance Comparison of Parallel Software Applications" (TU Dresden, 2016), chapter 5: folding of timelines.
#pragma once

#include "tools/processes/rank_states.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace libprofile::tools {

enum class FoldBy : std::uint8_t {
    Dominating, // the state of most ranks
    Outliers,   // nothing where all ranks are in the same state, else the most frequent of the other ones
    Use,        // computing if any rank computes, else the state of most ranks: is the machine used?
};

/// "dominating", "outliers", "use".
const char* fold_name(FoldBy by);
std::optional<FoldBy> fold_named(std::string_view name);

/// Iterations in a row that are in one state.
struct FoldedSpan {
    std::uint64_t first = 0; // number of the iteration, from 0
    std::uint64_t length = 0;
    std::uint16_t state = no_state; // of RankStates::names; no_state: empty
    std::uint32_t ranks = 0;        // in that state, in the iteration where they are most
    bool operator==(const FoldedSpan&) const = default;
};

/// Of states that are equally frequent, the first. Iterations that no rank made are in no_state.
/// @param rows of the ranks that are folded
std::vector<FoldedSpan> folded_strip(const RankStates& states, std::span<const std::uint32_t> rows, FoldBy by);
/// Of all ranks.
std::vector<FoldedSpan> folded_strip(const RankStates& states, FoldBy by);

} // namespace libprofile::tools
