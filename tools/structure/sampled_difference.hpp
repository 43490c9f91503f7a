// How much of one trace of samples has no partner in another one, and how much of that chance does.
// Contract: thread-safe (no state); at most `most_samples` samples of a trace are used, evenly thinned, so time and memory are bounded; recursion is that of
// TreeAligner; throws std::bad_alloc only.
//
// Both traces become call trees (sampled_tree.hpp), which are aligned as orders of calls are (tree_alignment.hpp); a sample costs as much as an event. A
// sample has a partner if its function, at its place in the tree, has one. How many samples a function has is no difference: that is time.
//
// What chance does is seen where nothing differs: a trace is divided into two, one half of its samples in each, and these are compared in the same way.
// Neighbours go to different halves: alternately once, by lot `splits` - 1 times. A function that n samples of two equal processes hit on average is missed
// by one of them by a chance of about exp(-n), and by one of two halves by exp(-n / 2): so the estimate is rather too high. The largest share of all halves
// of both traces counts.
//
// Unmatched samples come in pieces: the topmost nodes without a partner. If pieces come by chance and independently, the sum of their sizes w is a compound
// Poisson variable, whose variance is estimated without bias by the sum of w^2 (Campbell's theorem; J. F. C. Kingman, "Poisson Processes", 1993, section
// 3.2), here of halves. The estimate of what chance does has an error, too, but is too high. A difference is told if it is four standard deviations beyond
// that, and at least 1 % of the samples and 10 of them: if a function takes the same time in both, one has 10 samples and the other none by a chance of 2^-10.
// Where much is chance, as in programs of many short functions, one function may still be beyond it. So the function with most unmatched samples is told by
// the same rule, too, against the one that has most in any of the halves.
#pragma once

#include "tools/structure/sampled_tree.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace libprofile::tools {

inline constexpr std::size_t most_samples = std::size_t{1} << 17;
inline constexpr std::size_t fewest_samples = 50; // nothing is told of fewer
inline constexpr std::size_t splits = 4;

/// Which functions samples hit, in the order of time, and what halves of them differ in.
struct SampledProcess {
    SampledTree tree;
    std::uint64_t samples = 0;                            // before thinning
    double chance = 0;                                    // share that has no partner in the other half
    double chance_variance = 0;                           // of it
    double chance_of_one = 0, chance_of_one_variance = 0; // of the function with the largest share
};

/// @param sightings, parent_of_path as for sampled_tree()
/// @param key_of_path what is called
SampledProcess sampled_process(std::span<const std::uint32_t> sightings, std::span<const std::uint32_t> parent_of_path,
                               std::span<const std::uint64_t> key_of_path);

/// Samples of one process without a partner in another one.
struct UnmatchedSamples {
    double share = 0;
    double chance = 0;    // of the share, so much may be
    bool is_told = false; // it is clearly beyond, or that of `path` is
    bool is_told_in_all = false;
    std::uint32_t path = 0;
    double of_path = 0;        // share in the topmost functions without a partner that have the key of `path`; those that have most
    double chance_of_path = 0; // of any function, so much may be
    bool is_elsewhere = false; // the other process has this function at another place
};

struct SampledDifference {
    UnmatchedSamples of_a, of_b;
};

/// @param key_of_path that of both
SampledDifference sampled_difference(const SampledProcess& a, const SampledProcess& b, std::span<const std::uint64_t> key_of_path);

} // namespace libprofile::tools
