// In which iterations something takes longer than it should: always, from here to there, more and more or less and less, in every n-th one, at
// the start, or now and then.
// Contract: thread-safe (no state); allocates in proportion to the iterations; throws std::bad_alloc only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace libprofile::tools {

enum class PatternKind : std::uint8_t { Steady, Range, Growing, Shrinking, Periodic, WarmUp, Scattered };

/// Stable key: "steady", "range", "growing", "shrinking", "periodic", "warm_up", "scattered".
const char* pattern_name(PatternKind kind);

struct ExcessPattern {
    PatternKind kind = PatternKind::Steady;
    std::vector<float> excess; // ns by iteration; 0 where there is none
    double sum = 0;            // ns
    std::size_t period = 0;    // of Periodic, and of work that goes around the ranks

    bool is_empty() const { return sum <= 0; }
    std::size_t iterations() const; // that have some
};

struct PatternSearch {
    double typical = 0;          // ns: of an iteration, for what is too small to matter
    double least_sum = 0;        // ns: patterns with less are none
    double least_change = 0.005; // of a typical iteration: levels that differ by less are one
    double most_of_run = 1;      // ranges of more than this share of the iterations are none
    double usual_noise = 1e300;  // ns: values that vary more about a level do not have it by jitter alone
    bool may_be_steady = true;   // false where there is nothing that all iterations could be compared with
    bool may_be_periodic = true; // looking for a period takes a few hundred steps an iteration
    std::size_t only_period = 0; // look for this one alone, which is cheap
};

/// The pattern that explains most of the excess; the simplest one where several explain about as much.
/// @param excess ns by iteration, by how much each is above what it is compared with; may be negative
/// @return an empty pattern if none has PatternSearch::least_sum
ExcessPattern find_pattern(std::span<const float> excess, const PatternSearch& search);

/// Of the largest excess: what is less is another matter. A mean of both would tell neither.
inline constexpr double trifle = 0.1;

/// From how much excess on single values are no trifles beside the largest: ns. 0 where trifles have most of the sum.
float beside_the_largest(std::span<const float> excess);

/// The fewest places after which the same ones are set again.
std::size_t smallest_period(const std::vector<bool>& is_set);

/// Iterations up to this one, from 0, are the start of a run.
bool is_at_the_start(std::size_t last, std::size_t iterations);

/// Most iterations have some, and each twentieth of them has about as much.
bool is_spread_evenly(std::span<const float> excess);

/// How much of the shorter list of iterations with excess the two have in common; 0 to 1.
double overlap(const ExcessPattern& a, const ExcessPattern& b);

} // namespace libprofile::tools
