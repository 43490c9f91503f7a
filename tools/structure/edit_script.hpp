// What two sequences have in common, in order: the fewest elements that must go from one and come into the other.
// Contract: thread-safe (no state); memory in proportion to the sequences, time to them times what is different; throws std::bad_alloc only.
//
// Source: E. W. Myers, "An O(ND) difference algorithm and its variations", Algorithmica 1 (1986), section 4b: divide and conquer at the middle of the
// shortest path, in linear memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

namespace libprofile::tools {

inline constexpr std::uint32_t no_partner = std::numeric_limits<std::uint32_t>::max();

/// By element of the first sequence: its partner in the second one, or no_partner. Partners are equal, and their order is the same in both.
/// Of scripts that are equally short, one whose gaps stay together: a gap between equal elements stands where the other sequence has one, too, else
/// as late as it can, and joins others on its way.
/// @return nothing if more than `most_edits` elements have no partner
std::optional<std::vector<std::uint32_t>> partners_of(std::span<const std::uint64_t> a, std::span<const std::uint64_t> b,
                                                      std::size_t most_edits = std::numeric_limits<std::size_t>::max());

/// Also pairs, in order, what stands without a partner in both sequences between the same two pairs.
/// @param m elements of the second sequence
void pair_in_gaps(std::vector<std::uint32_t>& partners, std::size_t m);

/// The same in a time that is in proportion to the sequences, whatever they are. Beyond 8,192 edits both are aligned through a window of 512 elements
/// that moves along with what is found; it grows up to 2,048 if nothing is. Then there may be more edits than need be.
std::vector<std::uint32_t> partners_of_long(std::span<const std::uint64_t> a, std::span<const std::uint64_t> b);

} // namespace libprofile::tools
