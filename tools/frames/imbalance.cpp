// Two ways: without details each rank's values are added up and forgotten; with them the matrix of nodes and ranks is made, in blocks of
// nodes, since each node needs all its ranks at once.
#include "tools/frames/imbalance.hpp"

#include "tools/analysis/in_parallel.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <thread>

namespace libprofile::tools {

namespace {

/// By node.
struct Moments {
    std::vector<double> sum, max;
    std::vector<std::uint32_t> present;

    explicit Moments(std::size_t nodes) : sum(nodes), max(nodes, -std::numeric_limits<double>::infinity()), present(nodes) {}

    void add(std::span<const double> values, std::span<const std::uint8_t> there) {
        for (std::size_t n = 0; n < values.size(); ++n) {
            sum[n] += values[n];
            max[n] = std::max(max[n], values[n]);
            present[n] += there[n];
        }
    }
    void add(const Moments& other) {
        for (std::size_t n = 0; n < sum.size(); ++n) {
            sum[n] += other.sum[n];
            max[n] = std::max(max[n], other.max[n]);
            present[n] += other.present[n];
        }
    }
};

/// Shares of the groups, whose sums are added in the order of the shares: the result is the same for the same number of them.
Moments moments_of(const PlaceValues& values) {
    constexpr std::size_t shares = 4;
    std::vector<Moments> parts(std::min(shares, values.groups()), Moments(values.nodes()));
    in_parallel(parts.size(), [&](std::size_t share) {
        std::vector<double> row(values.nodes());
        std::vector<std::uint8_t> present(values.nodes());
        RowBuffer buffer;
        for (std::size_t g = share; g < values.groups(); g += parts.size()) {
            values.fill(g, row, present, buffer);
            parts[share].add(row, present);
        }
    });
    for (std::size_t p = 1; p < parts.size(); ++p) parts[0].add(parts[p]);
    return std::move(parts[0]);
}

std::array<std::uint32_t, Imbalance::top_places> highest(std::span<const double> values) {
    std::array<std::uint32_t, Imbalance::top_places> top;
    top.fill(Imbalance::no_place);
    std::size_t kept = 0;
    for (std::uint32_t g = 0; g < values.size(); ++g) {
        std::size_t at = kept;
        while (at > 0 && values[top[at - 1]] < values[g]) --at;
        if (at == top.size()) continue;
        kept = std::min(kept + 1, top.size());
        std::copy_backward(top.begin() + static_cast<std::ptrdiff_t>(at), top.begin() + static_cast<std::ptrdiff_t>(kept - 1),
                           top.begin() + static_cast<std::ptrdiff_t>(kept));
        top[at] = g;
    }
    return top;
}

std::array<double, Imbalance::percentile_count> percentiles(std::span<const double> sorted) {
    std::array<double, Imbalance::percentile_count> result;
    for (std::size_t i = 0; i < result.size(); ++i) {
        const double at = static_cast<double>(sorted.size() - 1) * static_cast<double>(i) / (result.size() - 1);
        const auto below = static_cast<std::size_t>(at);
        const std::size_t above = std::min(below + 1, sorted.size() - 1);
        result[i] = sorted[below] + (sorted[above] - sorted[below]) * (at - static_cast<double>(below));
    }
    return result;
}

using Bins = std::array<std::uint32_t, Imbalance::bin_count>;

Bins histogram(std::span<const double> sorted) {
    Bins bins{};
    const double lowest = sorted.front(), width = (sorted.back() - lowest) / Imbalance::bin_count;
    std::size_t bin = 0;
    for (const double value : sorted) {
        while (width > 0 && bin + 1 < bins.size() && value >= lowest + width * static_cast<double>(bin + 1)) ++bin;
        ++bins[bin];
    }
    return bins;
}

/// Hatchet's: a rank counts once in each bin that it has threads in, and once more in the first one if it has the lowest value.
/// @param row by group  @param values whose groups have ranks
Bins histogram_of_hatchet(std::span<const double> row, const PlaceValues& values) {
    Bins bins{};
    const auto [least, most] = std::minmax_element(row.begin(), row.end());
    const double lowest = *least, width = (*most - lowest) / Imbalance::bin_count;
    if (width == 0) {
        bins.fill(static_cast<std::uint32_t>(row.size()));
        return bins;
    }
    constexpr std::size_t is_lowest = Imbalance::bin_count;
    constexpr std::uint32_t nobody = std::numeric_limits<std::uint32_t>::max();
    std::array<std::uint32_t, Imbalance::bin_count + 1> counted; // the last rank, since threads of a rank are neighbours
    counted.fill(nobody);
    for (std::size_t g = 0; g < row.size(); ++g) {
        std::size_t bin = row[g] == lowest ? is_lowest : 0;
        while (bin + 1 < bins.size() && row[g] > lowest + width * static_cast<double>(bin + 1)) ++bin;
        if (counted[bin] == values.rank(g)) continue;
        counted[bin] = values.rank(g);
        ++bins[bin == is_lowest ? 0 : bin];
    }
    return bins;
}

void add_details(const PlaceValues& values, const ImbalanceChoice& choice, Imbalance& result) {
    const std::size_t groups = values.groups(), nodes = values.nodes(), kept = result.node.size();
    result.top.resize(kept);
    result.percentile.resize(kept);
    result.bins.resize(kept);
    std::vector<double> matrix(groups * nodes); // by group
    in_parallel(groups, [&](std::size_t g) {
        std::vector<std::uint8_t> present(nodes);
        RowBuffer buffer;
        values.fill(g, std::span(matrix).subspan(g * nodes, nodes), present, buffer);
    });
    // Neighbours in memory together: a line of the cache has the values of several nodes.
    std::vector<std::uint32_t> order(kept);
    std::iota(order.begin(), order.end(), 0u);
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return result.node[a] < result.node[b]; });
    constexpr std::size_t block = 64;
    in_parallel((kept + block - 1) / block, [&](std::size_t b) {
        const std::size_t first = b * block, last = std::min(first + block, kept);
        std::vector<double> rows((last - first) * groups);
        for (std::size_t g = 0; g < groups; ++g)
            for (std::size_t i = first; i < last; ++i) rows[(i - first) * groups + g] = matrix[g * nodes + result.node[order[i]]];
        for (std::size_t i = first; i < last; ++i) {
            const std::span row(rows.data() + (i - first) * groups, groups);
            result.top[order[i]] = highest(row);
            if (choice.hatchet) result.bins[order[i]] = histogram_of_hatchet(row, values);
            std::sort(row.begin(), row.end());
            result.percentile[order[i]] = percentiles(row);
            if (!choice.hatchet) result.bins[order[i]] = histogram(row);
        }
    });
}

} // namespace

Imbalance load_imbalance(const Frame& frame, std::string_view metric, const ImbalanceChoice& choice) {
    if (frame.places.empty()) throw FrameError("the frame has no ranks");
    const PlaceValues values(frame, frame.column(metric), choice.inclusive, choice.over);
    const Moments moments = moments_of(values);
    Imbalance result;
    double largest = 0;
    for (std::size_t n = 0; n < values.nodes(); ++n)
        if (moments.present[n] != 0) largest = std::max(largest, moments.max[n]);
    for (std::uint32_t n = 0; n < values.nodes(); ++n)
        if (moments.present[n] != 0 &&
            (choice.threshold <= 0 || moments.max[n] > choice.threshold * largest || (!choice.hatchet && moments.max[n] == choice.threshold * largest)))
            result.node.push_back(n);
    std::stable_sort(result.node.begin(), result.node.end(), [&](std::uint32_t a, std::uint32_t b) { return moments.sum[a] > moments.sum[b]; });
    for (const std::uint32_t n : result.node) {
        const double mean = moments.sum[n] / static_cast<double>(values.groups());
        result.mean.push_back(mean);
        result.max.push_back(moments.max[n]);
        result.imbalance.push_back(mean != 0 ? moments.max[n] / mean : std::numeric_limits<double>::quiet_NaN());
        result.present.push_back(moments.present[n]);
    }
    if (choice.details) add_details(values, choice, result);
    return result;
}

} // namespace libprofile::tools
