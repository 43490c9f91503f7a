// Small pieces of sentences: numbers of things, lists of ranks.
// Contract: thread-safe (no state); allocates its results; throws std::bad_alloc only.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace libprofile::tools {

/// "1 sample", "1,234 samples".
/// @param one the word for one of them; an s makes the plural
std::string plural(std::uint64_t n, const char* one);

/// "0-3, 7": runs of consecutive numbers, at most `shown` of them, then an ellipsis.
/// @param numbers in ascending order
std::string number_ranges(std::span<const std::uint64_t> numbers, std::size_t shown = 8);
std::string number_ranges(std::span<const std::uint32_t> numbers, std::size_t shown = 8);

/// "rank 7", "ranks 0-3, 7".
std::string rank_words(std::span<const std::uint64_t> ranks, std::size_t shown = 8);
std::string rank_words(std::span<const std::uint32_t> ranks, std::size_t shown = 8);

/// Names for people: "(anonymous namespace)::" tells nothing and takes room.
std::string without_anonymous(std::string text);

/// A label inside a sentence: "Visits" becomes "visits", "MPI time" stays.
std::string within(std::string label);

} // namespace libprofile::tools
