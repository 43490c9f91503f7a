#include "tools/frames/place_values.hpp"

#include "tools/analysis/in_parallel.hpp"

#include <algorithm>

namespace libprofile::tools {

PlaceValues::PlaceValues(const Frame& frame, const FrameColumn& column, bool inclusive, Over over) : frame_(&frame), column_(&column), inclusive_(inclusive) {
    for (std::size_t p = 0; p < frame.places.size(); ++p)
        if (p == 0 || over == Over::Thread || frame.places[p].rank != frame.places[p - 1].rank) begin_.push_back(p);
    begin_.push_back(frame.places.size());
}

void PlaceValues::fill(std::size_t group, std::span<double> values, std::span<std::uint8_t> present, RowBuffer& buffer) const {
    std::fill(values.begin(), values.end(), 0.0);
    std::fill(present.begin(), present.end(), std::uint8_t{0});
    for (std::size_t p = begin_[group]; p < begin_[group + 1]; ++p) {
        const FrameRow row = column_->row(p, buffer);
        for (std::size_t i = 0; i < row.node.size(); ++i) {
            values[row.node[i]] += row.value[i];
            present[row.node[i]] = 1;
        }
    }
    if (!inclusive_) return;
    const std::vector<std::uint32_t>& parent = frame_->nodes.parent;
    for (std::size_t n = parent.size(); n-- > 1;) {
        values[parent[n]] += values[n];
        present[parent[n]] |= present[n];
    }
}

std::vector<double> PlaceValues::sums() const {
    // Shares of the places, whose sums are added in the order of the shares: the result is the same whatever thread is faster.
    constexpr std::size_t most_shares = 4;
    const std::size_t places = frame_->places.size(), shares = column_->source ? std::clamp<std::size_t>(places, 1, most_shares) : 1;
    std::vector<std::vector<double>> parts(shares, std::vector<double>(nodes()));
    in_parallel(shares, [&](std::size_t share) {
        RowBuffer buffer;
        for (std::size_t p = share; p < places; p += shares) {
            const FrameRow row = column_->row(p, buffer);
            for (std::size_t i = 0; i < row.node.size(); ++i) parts[share][row.node[i]] += row.value[i];
        }
    });
    std::vector<double> sums = std::move(parts[0]);
    for (std::size_t share = 1; share < shares; ++share)
        for (std::size_t n = 0; n < sums.size(); ++n) sums[n] += parts[share][n];
    if (inclusive_) add_callees(*frame_, sums);
    return sums;
}

void add_callees(const Frame& frame, std::vector<double>& values) {
    const std::vector<std::uint32_t>& parent = frame.nodes.parent;
    for (std::size_t n = values.size(); n-- > 1;) values[parent[n]] += values[n];
}

std::vector<double> sums_over_places(const Frame& frame, std::string_view metric, bool inclusive) {
    return PlaceValues(frame, frame.column(metric), inclusive, Over::Thread).sums();
}

} // namespace libprofile::tools
