#include "libprofile/clustering/clusterer.hpp"

#include "libprofile/clustering/quiet_floating_point.hpp"

#include <algorithm>

namespace libprofile {

namespace {

/// The catalogue's part has a fixed length, so the compiler can add several values at once.
void add_values(std::uint64_t* __restrict sums, const std::uint64_t* __restrict more, std::size_t size) {
    for (std::size_t i = 0; i < catalogue_size; ++i) sums[i] += more[i];
    for (std::size_t i = catalogue_size; i < size; ++i) sums[i] += more[i];
}

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
