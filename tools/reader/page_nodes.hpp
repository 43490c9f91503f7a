// On which NUMA nodes the pages of a process lie that its tasks depend on.
// Contract: plain data; node_of() is thread-safe and takes the logarithm of the number of ranges.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace libprofile::tools {

struct PageNodes {
    struct Range {
        std::uint64_t begin = 0, end = 0; // addresses
        std::uint32_t node = 0;
    };
    std::uint64_t page_size = 0;
    std::uint32_t error = 0;    // errno with which the kernel refused to tell
    std::uint64_t unknown = 0;  // pages that were never in memory when the kernel was asked
    std::uint64_t left_out = 0; // dependences on pages for which there was no room
    std::uint64_t asked = 0;
    std::uint64_t asked_ns = 0;
    std::vector<Range> ranges; // by address

    std::optional<std::uint32_t> node_of(std::uint64_t address) const {
        const auto at = std::partition_point(ranges.begin(), ranges.end(), [&](const Range& range) { return range.end <= address; });
        if (at == ranges.end() || address < at->begin) return std::nullopt;
        return at->node;
    }
};

} // namespace libprofile::tools
