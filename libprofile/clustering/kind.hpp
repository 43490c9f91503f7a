// Whether two clusters are one kind of iteration, so that keeping them apart tells nothing: this chooses the number of clusters.
// Contract: pure, no allocation; floating-point exceptions are masked by the caller.
//
// Clusters are two kinds when an iteration of one differs from the other by more than a quarter, or by less but by clearly more than
// iterations of the same cluster do. Two halves of the same noise are at most 1.7 deviations (of a half, on both sides) apart, so twice
// that is a gap. Rare iterations that never came back need to take 1.5 times as long, as those that reports call slow: each run has some that something
// outside has delayed.
#pragma once

#include "format/metrics.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace libprofile {

/// What the iterations of a cluster do, in few numbers, and how far they are from their mean.
struct KindFeatures {
    static constexpr std::size_t computing = 0, waiting = 1, visits = 2, bytes = 3, count = 4; // waiting: the rest of the time
    double mean[count] = {};
    double squares[count] = {}; // sum over the members of the squared deviation
    double members = 0;
    double shortest = 0; // time of an iteration
    double longest = 0;

    /// `condensed`: sums over so many iterations. Leaves the squares as they are, and the extremes of more than one.
    void take(const std::uint64_t* condensed, std::uint32_t iterations) noexcept {
        const auto value = [&](CatalogueId row) { return static_cast<double>(condensed[static_cast<std::size_t>(row)]); };
        members = iterations;
        const double total = value(CatalogueId::Total);
        const double busy = value(CatalogueId::Execution) - value(CatalogueId::Mpi) - value(CatalogueId::OpenMp) - value(CatalogueId::OffCpu);
        const double sums[count] = {busy, total - busy, value(CatalogueId::Visits), value(CatalogueId::Bytes)};
        for (std::size_t f = 0; f < count; ++f) mean[f] = sums[f] / members;
        if (iterations == 1) shortest = longest = total;
    }
    /// What does not follow from the sums. Before the means become those of both.
    void add(const KindFeatures& other) noexcept {
        shortest = std::min(shortest, other.shortest);
        longest = std::max(longest, other.longest);
        const double both = members * other.members / (members + other.members);
        for (std::size_t f = 0; f < count; ++f) {
            const double difference = mean[f] - other.mean[f];
            squares[f] += other.squares[f] + both * difference * difference;
        }
    }
    /// What a difference is a share of: times, of the whole iteration.
    double scale(std::size_t f) const noexcept { return f <= waiting ? mean[computing] + mean[waiting] : mean[f]; }
    double variance(std::size_t f) const noexcept { return squares[f] / members; }
};

/// How far iterations usually are from the mean of their cluster: squares, as a share of the squared scale.
class UsualSpread {
  public:
    void add(const KindFeatures& cluster) noexcept {
        members_ += cluster.members;
        for (std::size_t f = 0; f < KindFeatures::count; ++f)
            if (const double scale = cluster.scale(f); scale > 0) squares_[f] += cluster.squares[f] / (scale * scale);
    }
    double variance(std::size_t f) const noexcept { return members_ > 0 ? squares_[f] / members_ : 0; }

  private:
    double squares_[KindFeatures::count] = {};
    double members_ = 0;
};

/// Whether the iterations of both are of several orders of magnitude: one takes so many times as long as another.
inline bool spans(const KindFeatures& a, const KindFeatures& b, double times) noexcept {
    return std::max(a.longest, b.longest) > times * std::min(a.shortest, b.shortest);
}

inline constexpr double two_kinds = -1;

/// How much two clusters differ, as a share of what their iterations have; two_kinds: so much that they are to be kept apart.
/// `is_rare`: one of them has few iterations, and none of late.
inline double kind_difference(const KindFeatures& a, const KindFeatures& b, const UsualSpread& usual, bool is_rare) noexcept {
    constexpr double negligible = 0.03; // reports do not name less
    constexpr double most = 0.25, most_waiting = 0.5, most_rare = 1.0 / 3;
    constexpr double deviations = 4; // of one cluster: two on either side
    constexpr double most_times = 4;
    if (spans(a, b, most_times)) return two_kinds;
    double largest = 0;
    for (std::size_t f = 0; f < KindFeatures::count; ++f) {
        const double scale = std::max(a.scale(f), b.scale(f));
        const double difference = std::max(a.mean[f] - b.mean[f], b.mean[f] - a.mean[f]);
        if (!(scale > 0)) continue;
        largest = std::max(largest, difference / scale);
        if (difference <= negligible * scale) continue;
        if (difference > scale * (is_rare ? most_rare : f == KindFeatures::waiting ? most_waiting : most)) return two_kinds;
        const double variance = std::max({a.variance(f), b.variance(f), usual.variance(f) * scale * scale});
        if (!is_rare && difference * difference > deviations * deviations * variance) return two_kinds;
    }
    return largest;
}

} // namespace libprofile
