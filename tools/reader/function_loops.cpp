#include "tools/reader/function_loops.hpp"

#include <algorithm>

namespace libprofile::tools {

std::uint32_t FunctionLoops::block_of(std::uint64_t offset) const {
    const auto at = std::lower_bound(places.begin(), places.end(), offset, [](const Place& place, std::uint64_t value) { return place.offset < value; });
    return at == places.end() || at->offset != offset ? none : at->block;
}

/// Of what lies directly in a loop (or in the function, if it is `none`) that which holds a block; `none` if the block lies outside.
std::uint32_t FunctionLoops::item_in(std::uint32_t loop, std::uint32_t block) const {
    std::uint32_t item = block;
    while (around(item) != loop) {
        if (around(item) == none) return none;
        item = static_cast<std::uint32_t>(loop_of.size()) + around(item);
    }
    return item;
}

bool FunctionLoops::reaches(std::uint32_t from, std::uint32_t to) const {
    std::vector<bool> is_done(next.size());
    std::vector<std::uint32_t> waiting = {from};
    while (!waiting.empty()) {
        const std::uint32_t item = waiting.back();
        waiting.pop_back();
        for (const std::uint32_t other : next[item]) {
            if (other == to) return true;
            if (is_done[other]) continue;
            is_done[other] = true;
            waiting.push_back(other);
        }
    }
    return false;
}

bool FunctionLoops::reaches_forward(std::uint32_t loop, std::uint64_t from, std::uint64_t to) const {
    const std::uint32_t first = block_of(from), last = block_of(to);
    if (!is_understood || first == none || last == none) return false;
    const std::uint32_t one = item_in(loop, first), other = item_in(loop, last);
    if (one == none || other == none) return false;
    const bool is_loop = one >= loop_of.size();
    return (one == other && (is_loop || from < to)) || reaches(one, other);
}

} // namespace libprofile::tools
