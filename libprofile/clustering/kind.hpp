// Decides whether two clusters are one kind of iteration, so that they need not be kept apart. This determines the number of clusters.
// Contract: pure, no allocation; the caller masks floating-point exceptions.
//
// Clusters are two kinds if an iteration of one differs from the other by more than a quarter. A smaller difference is enough if it is clearly
// larger than that between iterations of the same cluster. Two halves of the same noise are at most 1.7 deviations apart (of one half, on both
// sides), so twice that is a gap. Rare iterations that never came back must take 1.5 times as long, like those that reports call slow: each
// run has a few that something outside has delayed.
#pragma once

#include "format/metrics.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace libprofile {

/// A few numbers about the iterations of a cluster, and their distance from the mean.
struct KindFeatures {
    static constexpr std::size_t computing = 0, waiting = 1, visits = 2, bytes = 3, count = 4; // waiting: the rest of the time
    double mean[count] = {};
    double squares[count] = {}; // sum over the members of the squared deviation
    double spread[count] = {};  // the same as a share of the squared scale: divided once, when the cluster changes
    double members = 0;
    double shortest = 0; // time of an iteration
    double longest = 0;

    /// `condensed`: sums over `iterations` iterations. Keeps the squares, and for more than one iteration also the extremes. For one iteration the
    /// squares must be 0.
    void take(const std::uint64_t* condensed, std::uint32_t iterations) noexcept {
        const auto value = [&](CatalogueId row) { return static_cast<double>(condensed[static_cast<std::size_t>(row)]); };
        members = iterations;
        const double total = value(CatalogueId::Total);
        const double busy = value(CatalogueId::Execution) - value(CatalogueId::Mpi) - value(CatalogueId::OpenMp) - value(CatalogueId::OffCpu);
        const double sums[count] = {busy, total - busy, value(CatalogueId::Visits), value(CatalogueId::Bytes)};
        if (iterations == 1) { // it deviates from nothing
            shortest = longest = total;
            std::copy_n(sums, count, mean);
            return;
        }
        for (std::size_t f = 0; f < count; ++f) mean[f] = sums[f] / members;
        for (std::size_t f = 0; f < count; ++f) spread[f] = scale(f) > 0 ? squares[f] / (scale(f) * scale(f)) : 0;
    }
    /// Adds what does not follow from the sums. Call it before the means become those of both.
    void add(const KindFeatures& other) noexcept {
        shortest = std::min(shortest, other.shortest);
        longest = std::max(longest, other.longest);
        const double both = members * other.members / (members + other.members);
        for (std::size_t f = 0; f < count; ++f) {
            const double difference = mean[f] - other.mean[f];
            squares[f] += other.squares[f] + both * difference * difference;
        }
    }
    /// The value of which a difference is a share; for times, that of the whole iteration.
    double scale(std::size_t f) const noexcept { return f <= waiting ? mean[computing] + mean[waiting] : mean[f]; }
    double variance(std::size_t f) const noexcept { return squares[f] / members; }
};

/// The usual distance of iterations from the mean of their cluster: squares, as a share of the squared scale.
class UsualSpread {
  public:
    void add(const KindFeatures& cluster) noexcept {
        members_ += cluster.members;
        for (std::size_t f = 0; f < KindFeatures::count; ++f) squares_[f] += cluster.spread[f];
    }
    double variance(std::size_t f) const noexcept { return members_ > 0 ? squares_[f] / members_ : 0; }

  private:
    double squares_[KindFeatures::count] = {};
    double members_ = 0;
};

/// Returns true if the longest iteration of both takes more than `times` times as long as the shortest.
inline bool spans(const KindFeatures& a, const KindFeatures& b, double times) noexcept {
    return std::max(a.longest, b.longest) > times * std::min(a.shortest, b.shortest);
}

inline constexpr double two_kinds = -1;

/// The difference of two clusters as a share of their values; two_kinds if they must be kept apart, or if it is `limit` or more. usual() returns
/// the UsualSpread, which is not needed for most pairs. `is_rare`: one of them has few iterations, and none lately.
template <class Usual> inline double kind_difference(const KindFeatures& a, const KindFeatures& b, Usual usual, bool is_rare, double limit = 1) noexcept {
    constexpr double negligible = 0.03; // reports do not name less
    constexpr double most = 0.25, most_waiting = 0.5, most_rare = 1.0 / 3;
    constexpr double deviations = 4; // of one cluster: two on each side
    constexpr double most_times = 4;
    if (spans(a, b, most_times)) return two_kinds;
    double largest = 0;
    for (std::size_t f = 0; f < KindFeatures::count; ++f) {
        const double scale = std::max(a.scale(f), b.scale(f));
        const double difference = std::max(a.mean[f] - b.mean[f], b.mean[f] - a.mean[f]);
        if (!(scale > 0)) continue;
        largest = std::max(largest, difference / scale);
        if (largest >= limit) return two_kinds;
        if (difference <= negligible * scale) continue;
        if (difference > scale * (is_rare ? most_rare : f == KindFeatures::waiting ? most_waiting : most)) return two_kinds;
        const auto explains = [&](double variance) { return difference * difference <= deviations * deviations * variance; };
        if (!is_rare && !explains(a.variance(f)) && !explains(b.variance(f)) && !explains(usual().variance(f) * scale * scale)) return two_kinds;
    }
    return largest;
}

} // namespace libprofile
