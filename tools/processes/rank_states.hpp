// What ranks did in each iteration of a phase, as one state and one time: what strips and maps over all ranks are made of.
// Contract: plain data; const access is thread-safe; rank_states() works on all processors, allocates 6 bytes per rank and iteration, and throws
// std::bad_alloc only.
#pragma once

#include "tools/analysis/selection.hpp"
#include "tools/reader/model.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace libprofile::tools {

/// What a state is one of.
enum class StateBy : std::uint8_t {
    Class,    // computing, waiting for a processor, a class of MPI, OpenMP: the one with most of the iteration's time
    Function, // at a depth of the call tree: the one with most time of the iteration's cluster
    Kind,     // kinds of iterations, as analysis/kinds.hpp finds them
};

/// "class", "function", "kind"; empty: there is no such name.
std::optional<StateBy> state_named(std::string_view name);

inline constexpr std::uint16_t no_state = 0xffff; // there was no such iteration, or nothing is known of it

struct RankStates {
    std::vector<const Location*> locations; // by row; none is null
    std::uint32_t phase = 0;
    std::uint64_t first = 0;        // the number of the first iteration, from 0
    std::size_t iterations = 0;     // those that a rank lacks have no_state
    std::vector<std::string> names; // of states
    std::uint16_t computing_state = no_state;
    std::vector<std::uint16_t> states; // by row, then iteration
    std::vector<float>
        computing; // ns by row, then iteration: on a processor outside MPI and OpenMP's runtime, phases inside included; NaN if missing or not known
    bool is_estimated = false; // some iterations have the mean of their cluster
    std::uint64_t untold = 0;  // iterations of ranks with phases inside of which nothing but their time is known: they have no_state

    std::uint16_t state(std::size_t row, std::size_t iteration) const { return states[row * iterations + iteration]; }
    float computing_ns(std::size_t row, std::size_t iteration) const { return computing[row * iterations + iteration]; }
};

/// @param locations null for a rank without data; those that made no iteration are left out
/// @param depth of functions, from 1 for main()
RankStates rank_states(const Profile& profile, const std::vector<const Location*>& locations, std::uint32_t phase, IterationRange range = {},
                       StateBy by = StateBy::Class, std::uint32_t depth = 2);

} // namespace libprofile::tools
