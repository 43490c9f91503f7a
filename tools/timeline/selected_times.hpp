// Where threads have the selected part of the timeline.
// Contract: plain data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace libprofile::tools {

/// Of a place between two ns. Times before the clock began are none of events.
inline std::uint64_t whole_ns(double ns) { return ns <= 0 ? 0 : ns >= 9e18 ? std::uint64_t{9'000'000'000'000'000'000u} : static_cast<std::uint64_t>(ns); }

struct SelectedTimes {
    struct Span {
        std::uint64_t begin_ns = 0, end_ns = 0; // of the rank's clock; 0, 0: it does not have it
        bool is_there() const { return begin_ns < end_ns; }
        bool operator==(const Span&) const = default;
    };
    std::vector<Span> spans; // by position in Profile::locations
    bool is_iteration = false;

    /// All of something lies in it.
    bool has(std::size_t location, std::uint64_t begin_ns, std::uint64_t end_ns) const {
        const Span& span = spans[location];
        return span.is_there() && begin_ns >= span.begin_ns && end_ns <= span.end_ns;
    }
    bool operator==(const SelectedTimes&) const = default;
};

} // namespace libprofile::tools
