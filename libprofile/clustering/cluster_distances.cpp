// How far a clusterer's clusters are from each other, and which is the closest of each.
#include "libprofile/clustering/clusterer.hpp"

#include "libprofile/clustering/quiet_floating_point.hpp"

#include <algorithm>

namespace libprofile {

namespace {

/// Baseline emphasis (4.3 leaves the heuristic open): a distance is multiplied by the product of both clusters' weights, n^(5/8). Merging
/// large clusters becomes expensive. So small differences of the baseline survive, while the few outliers share their clusters. The weight
/// depends on the sizes only, so distances stay valid until a merge.
///
/// The cost of merging a single iteration into a large cluster decides about kinds that appear late. The weight of Ward's criterion (Ward
/// 1963), the harmonic mean, stays below 2 there: once K clusters of earlier kinds have grown, however similar they are, each iteration of a
/// new kind is merged before the second one of its kind comes. Of 69 generated programs (3,000 iterations, K twice the kinds, six seeds,
/// three orders), 26 have a purity below 0.95 with Ward's weight and 10 with this one; the mean purity is 0.952 and 0.991. Exponents between
/// 0.6 and 0.7 are equally good. Below, extremes absorb the clusters; above, noise does.
double weight_of(std::uint32_t members) {
    const double root = __builtin_sqrt(static_cast<double>(members));
    return root * __builtin_sqrt(__builtin_sqrt(root));
}

/// Timer samples are random and not among the metrics of Table 1, so they take no part in the distance.
constexpr bool counts_for_distance(std::size_t row) { return row >= catalogue_size || metric_catalogue[row].id != CatalogueId::Samples; }

} // namespace

/// Called after update_scale(). Metrics that take no part yet are 0 in all clusters.
void Clusterer::update_mean(std::uint32_t i) noexcept {
    Cluster& cluster = *clusters_[i];
    const double share = 1.0 / cluster.members;
    cluster.weight = weight_of(cluster.members);
    cluster.kind.take(cluster.condensed, cluster.members);
    for (std::uint32_t k = 0; k < active_count_; ++k) means(active_[k])[i] = static_cast<double>(cluster.condensed[active_[k]]) * share;
}

void Clusterer::update_scale() noexcept {
    const double n = static_cast<double>(clustered_);
    active_count_ = 0;
    for (std::size_t i = 0; i < compared_; ++i) {
        if (totals_.values[i] == 0 || !counts_for_distance(i)) continue;
        if (!is_fixed_[i]) scale_[i] = n / static_cast<double>(totals_.values[i]);
        active_[active_count_++] = static_cast<std::uint8_t>(i);
    }
}

void Clusterer::normalise_by(const CondensedVector& sums, std::uint64_t iterations) noexcept {
    const QuietFloatingPoint quiet;
    for (std::size_t i = 0; i < compared_; ++i) {
        is_fixed_[i] = sums.values[i] != 0;
        if (is_fixed_[i]) scale_[i] = static_cast<double>(iterations) / static_cast<double>(sums.values[i]);
    }
}

namespace {
typedef double Pair __attribute__((vector_size(2 * sizeof(double))));

Pair pair_at(const double* values) {
    Pair pair;
    __builtin_memcpy(&pair, values, sizeof pair);
    return pair;
}
Pair absolute(Pair pair) {
    typedef std::int64_t Bits __attribute__((vector_size(sizeof(Pair))));
    return reinterpret_cast<Pair>(reinterpret_cast<Bits>(pair) & INT64_MAX);
}
/// Sums of four neighbours. (An array would stay in memory.)
struct Four {
    Pair a{}, b{};
    void add(const double* row, Pair mean, Pair scale) {
        a += absolute(mean - pair_at(row)) * scale;
        b += absolute(mean - pair_at(row + 2)) * scale;
    }
    void store(double* to) const {
        __builtin_memcpy(to, &a, sizeof a);
        __builtin_memcpy(to + 2, &b, sizeof b);
    }
};
} // namespace

/// The sums of cluster i's distances to 4 * fours clusters from `begin` on, metric by metric.
template <unsigned fours> void Clusterer::sum_distances(std::uint32_t i, std::uint32_t begin, double* sums) const noexcept {
    Four p, q, r, s;
    const std::size_t stride = mean_stride(room_);
    for (std::uint32_t k = 0; k < active_count_; ++k) {
        const std::size_t metric = active_[k];
        const double* row = means_ + metric * stride;
        const Pair mean = {row[i], row[i]};
        const Pair scale = {scale_[metric], scale_[metric]};
        row += begin;
        p.add(row, mean, scale);
        if constexpr (fours > 1) q.add(row + 4, mean, scale);
        if constexpr (fours > 2) {
            r.add(row + 8, mean, scale);
            s.add(row + 12, mean, scale);
        }
    }
    p.store(sums);
    if constexpr (fours > 1) q.store(sums + 4);
    if constexpr (fours > 2) {
        r.store(sums + 8);
        s.store(sums + 12);
    }
}

/// `sum`: of the differences, normalised.
inline float Clusterer::distance_of(const Cluster& own, const Cluster& other, double sum) const noexcept {
    if (other.equivalence_class != own.equivalence_class) return apart;
    // Compared with long iterations, all short ones are equal, whether they take a microsecond or a millisecond.
    constexpr double most_times = 8, too_wide = 1e6;
    const double width = adapts_ && spans(own.kind, other.kind, most_times) ? too_wide : 1;
    const double distance = sum * own.weight * other.weight * width;
    return distance < apart / 2 ? static_cast<float>(distance) : apart / 2;
}

/// Computes the distances of cluster i to the first `others` clusters, several at once, each summed metric by metric.
void Clusterer::measure(std::uint32_t i, std::uint32_t others) noexcept {
    const Cluster& own = *clusters_[i];
    if (others == i + 1) others = i;
    for (std::uint32_t begin = 0; begin < others; begin += 2 * abreast) {
        double sums[2 * abreast];
        const std::uint32_t left = others - begin;
        if (left > abreast)
            sum_distances<4>(i, begin, sums);
        else if (left > abreast / 2)
            sum_distances<2>(i, begin, sums);
        else
            sum_distances<1>(i, begin, sums);
        for (std::uint32_t j = begin; j < others && j < begin + 2 * abreast; ++j) {
            if (j != i) at(i, j) = distance_of(own, *clusters_[j], sums[j - begin]);
        }
    }
}

void Clusterer::find_nearest(std::uint32_t i) noexcept {
    float closest = apart;
    std::uint32_t who = 0;
    for_each_other(i, [&](std::uint32_t j, float distance) {
        if (distance >= closest) return;
        closest = distance;
        who = j;
    });
    clusters_[i]->nearest = who;
    clusters_[i]->nearest_distance = closest;
    clusters_[i]->nearest_is_known = true;
}

/// Cluster i is new or has changed: it may be closer to other clusters than their nearest one.
void Clusterer::offer(std::uint32_t i) noexcept {
    for_each_other(i, [&](std::uint32_t j, float distance) {
        if (distance >= clusters_[j]->nearest_distance) return;
        clusters_[j]->nearest = i;
        clusters_[j]->nearest_distance = distance;
        clusters_[j]->nearest_is_known = true;
    });
}

/// Computes the distances of one more cluster with the current averages, round robin. The reference does not: a distance stands until one of
/// its two clusters is merged (4.2, "premature distance calculations"). Then clusters that are rarely merged keep the scale of an earlier
/// time, and after the averages have moved they are merged too late or too early. With one refresh per iteration, each distance is at most
/// K/2 iterations old on average, for O(K) work.
std::uint32_t Clusterer::refresh_next() noexcept {
    if (next_to_refresh_ >= count_) next_to_refresh_ = 0;
    const std::uint32_t i = next_to_refresh_++;
    if (puts_off_) return put_off(i), i;
    measure(i);
    find_nearest(i);
    for (std::uint32_t j = 0; j < count_; ++j)
        if (j != i && clusters_[j]->nearest == i && clusters_[j]->nearest_distance != apart) clusters_[j]->nearest_is_known = false; // it may have moved away
    offer(i);
    return i;
}

/// Instead of measure(), find_nearest() and offer().
void Clusterer::put_off(std::uint32_t i) noexcept {
    std::copy_n(totals_.values, compared_, sums_then(i));
    times_put_off_ = std::max(times_put_off_ + 1, clustered_ << 8);
    clusters_[i]->put_off = times_put_off_;
}

/// Computes the distances of cluster i as they would have been when they were put off. Neither it nor the others have changed since, or their own
/// distances are computed later. The order of operations is that of measure().
void Clusterer::measure_as_then(std::uint32_t i) noexcept {
    const Cluster& own = *clusters_[i];
    const std::uint64_t* const sums = sums_then(i);
    const double n = static_cast<double>(own.put_off >> 8), own_share = 1.0 / own.members;
    for (std::uint32_t j = 0; j < count_; ++j) {
        if (j == i) continue;
        const Cluster& other = *clusters_[j];
        const double other_share = 1.0 / other.members;
        double sum = 0;
        for (std::size_t k = 0; k < compared_; ++k) {
            if (sums[k] == 0 || !counts_for_distance(k)) continue;
            const double difference = static_cast<double>(own.condensed[k]) * own_share - static_cast<double>(other.condensed[k]) * other_share;
            sum += __builtin_fabs(difference) * (is_fixed_[k] ? scale_[k] : n / static_cast<double>(sums[k]));
        }
        at(i, j) = distance_of(own, other, sum);
    }
}

void Clusterer::catch_up() noexcept {
    if (!puts_off_) return;
    const QuietFloatingPoint quiet;
    for (std::uint32_t i = 0; i < count_; ++i) clusters_[i]->weight = weight_of(clusters_[i]->members);
    for (;;) { // in the order in which they were put off: of a pair, the later one counts
        std::uint32_t first = count_;
        for (std::uint32_t i = 0; i < count_; ++i)
            if (clusters_[i]->put_off != 0 && (first == count_ || clusters_[i]->put_off < clusters_[first]->put_off)) first = i;
        if (first == count_) break;
        measure_as_then(first);
        clusters_[first]->put_off = 0;
    }
    puts_off_ = false;
    update_scale();
    for (std::uint32_t i = 0; i < count_; ++i) update_mean(i);
    for (std::uint32_t i = 0; i < count_; ++i) find_nearest(i);
}

/// Computes the first distances, when there are more than K clusters for the first time.
bool Clusterer::ensure_distances() noexcept {
    if (measured_) return true;
    distances_ = arena_->array<float>(pairs(room_));
    means_ = arena_->array<double>(size_ * mean_stride(room_));
    if (distances_ == nullptr || means_ == nullptr) return false;
    measured_ = true;
    for (std::uint32_t i = 0; i < count_; ++i) update_mean(i);
    for (std::uint32_t i = 0; i < count_; ++i) measure(i, i); // each pair once
    for (std::uint32_t i = 0; i < count_; ++i) find_nearest(i);
    return true;
}

} // namespace libprofile
