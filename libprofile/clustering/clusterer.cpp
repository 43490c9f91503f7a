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

/// The catalogue's part has a fixed length, so the compiler can add several values at once.
void add_values(std::uint64_t* __restrict sums, const std::uint64_t* __restrict more, std::size_t size) {
    for (std::size_t i = 0; i < catalogue_size; ++i) sums[i] += more[i];
    for (std::size_t i = catalogue_size; i < size; ++i) sums[i] += more[i];
}

/// Timer samples are random and not among the metrics of Table 1, so they take no part in the distance.
constexpr bool counts_for_distance(std::size_t row) { return row >= catalogue_size || metric_catalogue[row].id != CatalogueId::Samples; }

} // namespace

Clusterer::Clusterer(Arena& arena, Pool& pool, std::uint32_t limit, EquivalenceChoice mode, bool adapts, std::uint32_t warm_up,
                     std::uint32_t counter_metrics) noexcept
    : arena_(&arena), pool_(&pool), limit_(limit), mode_(mode), adapts_(adapts), warm_up_(warm_up),
      size_(static_cast<std::uint32_t>(catalogue_size) + counter_metrics), compared_(size_ - counter_metrics / 2),
      members_(limit == no_limit ? 0 : Membership::block_for(limit)) {
    switch (mode) {
    case EquivalenceChoice::Weak: equivalence_ = Equivalence::Weak; break;
    case EquivalenceChoice::None: equivalence_ = Equivalence::None; break;
    case EquivalenceChoice::Auto:
    case EquivalenceChoice::Strong: equivalence_ = Equivalence::Strong; break;
    }
}

const Signature& Clusterer::signature_of(const Cluster& cluster) const noexcept {
    return equivalence_ == Equivalence::Strong ? cluster.signatures.strong : cluster.signatures.weak;
}

bool Clusterer::ensure_room() noexcept {
    if (count_ < room_) return true;
    catch_up();
    const std::uint32_t wanted = room_ != 0 ? room_ * 2 : limit_ == no_limit ? 64 : limit_ + warm_up_ + 1;
    auto** clusters = arena_->array<Cluster*>(wanted);
    if (clusters == nullptr) return false;
    std::copy(clusters_, clusters_ + count_, clusters);
    for (std::uint32_t i = room_; i < wanted; ++i) {
        clusters[i] = arena_->make<Cluster>();
        if (clusters[i] == nullptr) return false;
        clusters[i]->condensed = arena_->array<std::uint64_t>(size_);
        if (clusters[i]->condensed == nullptr) return false;
    }
    if (measured_) { // more classes than K: the matrix grows with the clusters
        auto* distances = arena_->array<float>(pairs(wanted));
        auto* means = arena_->array<double>(size_ * mean_stride(wanted));
        if (distances == nullptr || means == nullptr) return false;
        for (std::size_t k = 0; k < size_; ++k) std::copy_n(this->means(k), count_, means + k * mean_stride(wanted));
        means_ = means;
        std::copy_n(distances_, pairs(count_), distances);
        distances_ = distances;
    }
    clusters_ = clusters;
    room_ = wanted;
    return true;
}

/// Makes room in the newest block of members. Returns false if memory is short.
bool Clusterer::pack_members() noexcept {
    if (!members_.is_block_full()) return true;
    return members_.pack(*arena_, count_, [this](std::uint32_t i) -> std::uint32_t& { return clusters_[i]->root; });
}

/// Returns false if the class is new and memory is short.
bool Clusterer::classify(Cluster& cluster) noexcept {
    const Signature all{};
    const Signature& signature = equivalence_ == Equivalence::None ? all : signature_of(cluster);
    cluster.equivalence_class = classes_.find_or_add(signature, *arena_);
    return cluster.equivalence_class != ClassTable::none;
}

/// Numbers the classes again after the equivalence was relaxed, and computes the distances that became possible.
void Clusterer::regroup() noexcept {
    classes_.clear();
    for (std::uint32_t i = 0; i < count_; ++i) classify(*clusters_[i]);
    if (!measured_) return;
    catch_up();
    for (std::uint32_t i = 0; i < count_; ++i) measure(i);
    for (std::uint32_t i = 0; i < count_; ++i) find_nearest(i);
}

/// The dynamic scheme of 4.4: equivalence goes from strong to weak when one cluster per class takes more than half of the clusters. It is
/// given up when even weak classes outnumber K.
void Clusterer::relax_if_too_many_classes() noexcept {
    if (mode_ != EquivalenceChoice::Auto || limit_ == no_limit) return;
    if (equivalence_ == Equivalence::Strong && classes_.size() > limit_ / 2 && classes_.size() > 1) {
        equivalence_ = Equivalence::Weak;
        ++relaxations_;
        regroup();
    }
    if (equivalence_ == Equivalence::Weak && classes_.size() > limit_) {
        equivalence_ = Equivalence::None;
        ++relaxations_;
        regroup();
    }
}

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

/// Before the first merge: memory is too short for K clusters, those of the warm-up and the distances. The limit becomes the present number.
void Clusterer::settle_for_fewer() noexcept {
    if (measured_ || limit_ == no_limit || count_ < 2 || count_ >= limit_ + warm_up_) return;
    const std::uint64_t profile = clusters_[count_ - 1]->sums.bytes();
    const std::uint64_t soon = bytes_of_distances(count_ + 2) + 8 * profile;
    if (memory_quota.used() + soon + memory_quota.limit() / 16 < memory_quota.limit()) return;
    limit_ = std::min(limit_, count_);
    warm_up_ = 0;
    room_ = count_ + 1; // the distances need no more
}

bool Clusterer::make_room() noexcept {
    const QuietFloatingPoint quiet;
    if (limit_ == no_limit || count_ < 2) return false;
    if (!measured_) {
        room_ = count_ + 1 < room_ ? count_ + 1 : room_;
        if (!ensure_distances()) return false;
        measure(count_ - 1);
        find_nearest(count_ - 1);
        offer(count_ - 1);
    }
    warm_up_ = 0;
    limit_ = count_ - (count_ + 3) / 4;
    const std::uint32_t before = count_;
    while (count_ > limit_ && reduce()) {
    }
    return count_ < before;
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

bool Clusterer::merge(std::uint32_t a, std::uint32_t b) noexcept {
    Cluster& into = *clusters_[a];
    Cluster& from = *clusters_[b];
    const bool is_smaller = into.sums.size < from.sums.size;
    if (is_smaller) std::swap(into.sums, from.sums); // fewer cells need room
    if (!into.sums.add(from.sums, *pool_)) {
        if (is_smaller) std::swap(into.sums, from.sums);
        return false;
    }
    from.sums.release(*pool_);
    into.kind.add(from.kind);
    into.changed = std::max(into.changed, from.changed);
    add_values(into.condensed, from.condensed, size_);
    if (into.members < from.members) std::swap(into.root, from.root);
    into.root = members_.join(into.root, from.root);
    into.members += from.members;
    if (puts_off_)
        into.kind.take(into.condensed, into.members);
    else
        update_mean(a);

    // The last cluster takes the index of the one that is gone.
    const std::uint32_t last = count_ - 1;
    std::swap(clusters_[b], clusters_[last]);
    --count_;
    if (b != last) {
        for (std::uint32_t j = 0; j < count_; ++j)
            if (j != b) at(b, j) = at(last, j);
        if (puts_off_)
            std::copy_n(sums_then(last), size_, sums_then(b));
        else
            for (std::uint32_t k = 0; k < active_count_; ++k) means(active_[k])[b] = means(active_[k])[last];
        members_.relabel(clusters_[b]->root, b);
    }
    members_.relabel(into.root, a);

    if (puts_off_) return put_off(a), true;
    measure(a);
    find_nearest(a);
    for (std::uint32_t j = 0; j < count_; ++j) {
        Cluster& other = *clusters_[j];
        if (j == a || other.nearest_distance == apart) continue;
        if (other.nearest == a || other.nearest == b) other.nearest_is_known = false;
        if (other.nearest == last) other.nearest = b; // its new index
    }
    offer(a);
    return true;
}

/// Merges the closest pair that may be merged. Returns false if there is none or memory is short.
bool Clusterer::reduce() noexcept {
    calm_since_ = 0;
    catch_up();
    for (;;) {
        std::uint32_t best = 0;
        for (std::uint32_t i = 1; i < count_; ++i)
            if (clusters_[i]->nearest_distance < clusters_[best]->nearest_distance) best = i;
        if (clusters_[best]->nearest_distance == apart) return false;
        if (!clusters_[best]->nearest_is_known) {
            find_nearest(best);
            continue;
        }
        const std::uint32_t other = clusters_[best]->nearest;
        return merge(std::min(best, other), std::max(best, other));
    }
}

/// Returns true for a cluster of a few iterations, all long ago.
bool Clusterer::is_rare(const Cluster& cluster) const noexcept {
    constexpr std::uint64_t one_in = 200, long_ago = 128;
    return cluster.members * one_in < clustered_ && cluster.changed + long_ago < clustered_;
}

/// Merges a cluster with the most similar one of its kind. Returns its new index, or count_ if it stays alone.
std::uint32_t Clusterer::merge_with_kind(std::uint32_t i) noexcept {
    const Cluster& own = *clusters_[i];
    UsualSpread spread;
    bool is_known = false;
    const auto usual = [&]() -> const UsualSpread& {
        for (std::uint32_t j = 0; !is_known && j < count_; ++j) spread.add(clusters_[j]->kind);
        is_known = true;
        return spread;
    };
    const bool own_is_rare = is_rare(own);
    std::uint32_t best = count_;
    double least = 1;
    for (std::uint32_t j = 0; j < count_; ++j) {
        const Cluster& other = *clusters_[j];
        if (j == i || other.equivalence_class != own.equivalence_class) continue;
        const double difference = kind_difference(own.kind, other.kind, usual, own_is_rare || is_rare(other), least);
        if (difference == two_kinds) continue;
        least = difference;
        best = j;
    }
    if (best == count_ || !merge(std::min(i, best), std::max(i, best))) return count_;
    return std::min(i, best);
}

bool Clusterer::add(IterationProfile& profile, const CondensedVector& condensed, const StructureSignatures& signatures) noexcept {
    const QuietFloatingPoint quiet;
    settle_for_fewer();
    if (!ensure_room()) return false;
    Cluster& fresh = *clusters_[count_];
    fresh.signatures = signatures;
    if (!classify(fresh)) return false;
    const std::uint32_t element = pack_members() ? members_.add(*arena_, count_) : Membership::none;
    if (element == Membership::none) return false;
    fresh.sums = profile;
    profile = IterationProfile{};
    std::copy_n(condensed.values, size_, fresh.condensed);
    fresh.members = 1;
    fresh.root = element;
    fresh.kind = {};
    fresh.nearest_distance = apart;
    fresh.nearest_is_known = true;
    fresh.put_off = 0;
    add_values(totals_.values, condensed.values, size_);
    fresh.changed = ++clustered_;
    const std::uint32_t own = count_++;
    if (puts_off_) {
        fresh.kind.take(fresh.condensed, 1);
    } else {
        update_scale();
        if (measured_) update_mean(own);
    }

    if (limit_ == no_limit) return true;
    if (count_ <= unmeasured() && !measured_) {
        relax_if_too_many_classes();
        return true;
    }
    if (!ensure_distances()) return true; // over the limit, because memory is short: every further iteration tries again
    if (!puts_off_) {
        measure(own);
        find_nearest(own);
        offer(own);
    }
    relax_if_too_many_classes();
    std::uint32_t merges = 0;
    if (adapts_) {
        // A changed cluster may be of another one's kind now. An unchanged one may be, too, because the others have changed.
        for (std::uint32_t i = own; merges < most_merges && (i = merge_with_kind(i)) < count_;) ++merges;
        if (puts_off_ && merges == 0) put_off(own);
        const std::uint32_t refreshed = refresh_next();
        if (merges < most_merges && merge_with_kind(refreshed) < count_) ++merges;
    }
    for (; merges < most_merges && count_ > limit_ && reduce();) ++merges;
    puts_off_ = puts_off_ || (adapts_ && room_ <= most_put_off && ++calm_since_ > calm);
    return true;
}

std::uint64_t Clusterer::bytes_to_come() const noexcept {
    if (limit_ == no_limit || count_ == 0) return 0;
    std::uint64_t bytes = 0;
    for (std::uint32_t i = 0; i < count_; ++i) bytes += clusters_[i]->sums.bytes();
    const std::uint64_t most = std::uint64_t{limit_} + (measured_ ? 0 : warm_up_) + 1;
    const std::uint64_t more = most > count_ ? most - count_ : 0;
    // A quarter more than the present ones, since the pool rounds up; and a quarter of all, since clusters grow when they are merged.
    const std::uint64_t profiles = bytes / count_ * more * 5 / 4 + bytes / 4;
    return profiles + (measured_ ? 0 : bytes_of_distances(static_cast<std::uint32_t>(most)));
}

void Clusterer::add_unclustered() noexcept {
    if (pack_members() && members_.add_outside(*arena_, unclustered_label)) ++unclustered_;
}

std::uint32_t Clusterer::cluster_of(std::uint32_t iteration) noexcept {
    const std::uint32_t label = members_.label(iteration);
    return label == unclustered_label ? count_ : label;
}

} // namespace libprofile
