#include "tools/frames/hot_path.hpp"

#include "tools/frames/place_values.hpp"

#include <fmt/format.h>

namespace libprofile::tools {

std::vector<std::uint32_t> hot_path(const Frame& frame, std::string_view metric, const HotPathChoice& choice) {
    return hot_path_of(frame, sums_over_places(frame, metric, choice.is_inclusive), choice);
}

std::vector<std::uint32_t> hot_path_of(const Frame& frame, std::span<const double> sums, const HotPathChoice& choice) {
    const std::vector<std::uint32_t>& parent = frame.nodes.parent;
    constexpr std::uint32_t none = 0; // the program is nobody's child
    std::vector<std::uint32_t> hottest(sums.size(), none);
    for (std::uint32_t n = 1; n < sums.size(); ++n) {
        std::uint32_t& best = hottest[parent[n]];
        if (best == none || sums[n] > sums[best]) best = n;
    }
    std::uint32_t node = choice.start.value_or(hottest.empty() ? 0 : hottest[0]);
    if (node >= sums.size()) throw FrameError(fmt::format("there is no node {}; the frame has {} nodes", node, sums.size()));
    std::vector<std::uint32_t> path = {node};
    for (std::uint32_t next = hottest[node]; next != none; next = hottest[next]) {
        const double least = choice.threshold * sums[path.back()];
        const bool is_hot = choice.with_next ? sums[next] >= least : sums[next] > least;
        if (is_hot || choice.with_next) path.push_back(next);
        if (!is_hot) break;
    }
    return path;
}

} // namespace libprofile::tools
