// Incremental on-line clustering of the iterations of one phase on one thread.
//
// Contract: belongs to one thread, used with its in-tool flag set; nothing throws; memory from the thread's arena and pool. Floating-point
// arithmetic masks all exceptions and restores the status flags, since applications may have enabled traps. Work per iteration is linear
// in its cells plus O(K); distances take O(K^2) space.
//
// Source: Szebenyi, Wolf, Wylie (SC 2009), section 4. Every iteration starts as a cluster. Beyond K clusters, the closest pair inside a
// call-tree equivalence class is merged (4.1). The distance is the Manhattan distance of condensed vectors, each component normalised by its
// running average, with equal weights. It is computed once, when one of its clusters is new, and for the first time when K is reached (4.2).
// Baseline emphasis (4.3); equivalence and its dynamic relaxation (4.4). Clusters hold sums, so aggregates stay exact (4.5).
//
// Our additions, as options: distances follow the averages. There are as many clusters as kinds (kind.hpp), K at most. Beyond K, iterations
// that differ by an order of magnitude share a cluster only if nothing else can be merged.
#pragma once

#include "format/option_table.hpp"
#include "libprofile/clustering/class_table.hpp"
#include "libprofile/clustering/condensed_vector.hpp"
#include "libprofile/clustering/iteration_profile.hpp"
#include "libprofile/clustering/kind.hpp"
#include "libprofile/clustering/membership.hpp"
#include "libprofile/clustering/signature.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace libprofile {

struct Cluster {
    IterationProfile sums;
    std::uint64_t* condensed = nullptr; // sums, one per value of the vectors used here
    double weight = 1;                  // factor of its distances, from the number of members
    KindFeatures kind;                  // used like distances: from the first merge on
    std::uint64_t changed = 0;          // number of iterations when its last one came
    std::uint64_t put_off = 0;          // when its distances should have been computed; 0 if they were
    StructureSignatures signatures;
    std::uint32_t members = 0;
    std::uint32_t equivalence_class = 0;
    std::uint32_t root = 0; // of its members
    // The closest cluster that it may be merged with. After that one has changed, nearest_distance is only a lower bound until the exact value
    // is needed: a large cluster is the nearest of many and changes all the time (lazy nearest neighbours, Muellner 2011, "generic" algorithm).
    std::uint32_t nearest = 0;
    float nearest_distance = std::numeric_limits<float>::max();
    bool nearest_is_known = true;
};

class Clusterer {
  public:
    /// `limit` = K; with no_limit every iteration stays a cluster of its own. `adapts`: distances follow the running averages, and clusters of
    /// one kind are merged below K, too; otherwise as published.
    static constexpr std::uint32_t no_limit = 0;
    /// `warm_up`: this many more iterations are kept before the first distances, for better averages (4.2). They are merged step by step
    /// afterwards, at most `most_merges` in each following iteration. `counter_metrics`: as for condense().
    static constexpr std::uint32_t most_merges = 4;
    Clusterer(Arena& arena, Pool& pool, std::uint32_t limit, EquivalenceChoice mode, bool adapts = false, std::uint32_t warm_up = 0,
              std::uint32_t counter_metrics = 0) noexcept;

    /// Normalises by the averages of an earlier run from the first distance on: `iterations` of it, with the sums `sums`. Metrics that are 0
    /// there use the averages of this run. Call it before the first iteration.
    void normalise_by(const CondensedVector& sums, std::uint64_t iterations) noexcept;

    /// Takes one closed iteration and consumes `profile`. Returns false if memory is short: the iteration is then counted as unclustered, and
    /// the caller keeps the values of `profile`, which is untouched.
    bool add(IterationProfile& profile, const CondensedVector& condensed, const StructureSignatures& signatures) noexcept;
    /// Called when memory is short: merges a quarter of the clusters and forms no new ones from now on, so the memory can be used for further
    /// iterations. Returns false if nothing could be merged.
    bool make_room() noexcept;
    /// Counts an iteration for whose profile there was no memory.
    void add_unclustered() noexcept;

    /// Makes room for one more iteration's membership. Returns false if memory is short; it then stays so.
    bool reserve_iteration() noexcept { return pack_members() && members_.reserve(*arena_); }

    /// Whether the next iterations, so many, need no more memory for that, so each will have a membership whatever happens.
    bool has_room_for(std::uint32_t iterations) const noexcept { return members_.has_room_for(iterations); }

    /// Computes all distances that were put off. When that happens makes no difference, except for the order of equal distances.
    void catch_up() noexcept;

    /// An estimate of the bytes that more clusters will need, up to K, if they are like the present ones.
    std::uint64_t bytes_to_come() const noexcept;

    std::uint32_t cluster_count() const { return count_; }
    const Cluster& cluster(std::uint32_t i) const { return *clusters_[i]; }
    std::uint64_t iterations() const { return members_.size(); }
    std::uint64_t unclustered() const { return unclustered_; }
    /// The bytes that say which iteration is in which cluster.
    std::size_t membership_memory() const { return members_.memory(); }
    /// The cluster of an iteration, or cluster_count() for an unclustered one.
    std::uint32_t cluster_of(std::uint32_t iteration) noexcept;
    /// Whether an iteration is a cluster that has no other member.
    bool is_alone(std::uint32_t iteration) noexcept {
        const std::uint32_t own = cluster_of(iteration);
        return own < count_ && cluster(own).members == 1;
    }
    Equivalence equivalence() const { return equivalence_; }
    std::uint32_t relaxations() const { return relaxations_; }
    std::uint32_t class_count() const { return classes_.size(); }
    /// The number of iterations in clusters, and their sum.
    std::uint64_t clustered() const { return clustered_; }
    const CondensedVector& totals() const { return totals_; }

  private:
    static constexpr std::uint32_t unclustered_label = 0x7ffffffeu;
    static constexpr std::uint32_t few = 4;                           // this many clusters are enough for many programs
    static constexpr float apart = std::numeric_limits<float>::max(); // never merged: another class, or the cluster itself

    bool ensure_room() noexcept;
    bool pack_members() noexcept;
    bool ensure_distances() noexcept;
    void settle_for_fewer() noexcept;
    bool classify(Cluster& cluster) noexcept;
    void regroup() noexcept;
    void relax_if_too_many_classes() noexcept;
    bool reduce() noexcept;
    std::uint32_t merge_with_kind(std::uint32_t i) noexcept;
    bool is_rare(const Cluster& cluster) const noexcept;
    /// The number of clusters kept before the first distances.
    std::uint32_t unmeasured() const noexcept { return adapts_ && warm_up_ == 0 ? std::min(limit_, few) : limit_ + warm_up_; }
    void update_mean(std::uint32_t i) noexcept;
    void update_scale() noexcept;
    template <unsigned fours> void sum_distances(std::uint32_t i, std::uint32_t begin, double* sums) const noexcept;
    float distance_of(const Cluster& own, const Cluster& other, double sum) const noexcept;
    void measure(std::uint32_t i, std::uint32_t others) noexcept;
    void measure(std::uint32_t i) noexcept { measure(i, count_); }
    void find_nearest(std::uint32_t i) noexcept;
    void offer(std::uint32_t i) noexcept;

    // Distances decide nothing as long as there are no more kinds than clusters. Then a cluster notes the sums over all iterations by which its
    // distances would be normalised now, and they are computed when they are needed. The notes take the place of the means.
    static constexpr std::uint32_t most_put_off = 40; // clusters: with more of them, catching up would take long
    static constexpr std::uint32_t calm = 64;         // iterations without a need for distances
    void put_off(std::uint32_t i) noexcept;
    std::uint64_t* sums_then(std::uint32_t i) noexcept { return reinterpret_cast<std::uint64_t*>(means_) + std::size_t{i} * size_; }
    void measure_as_then(std::uint32_t i) noexcept;
    std::uint32_t refresh_next() noexcept;
    bool merge(std::uint32_t a, std::uint32_t b) noexcept;
    const Signature& signature_of(const Cluster& cluster) const noexcept;
    /// The distance of a pair; i != j.
    float& at(std::uint32_t i, std::uint32_t j) noexcept { return i > j ? row(i)[j] : row(j)[i]; }
    /// The distances of cluster i to those before it.
    float* row(std::uint32_t i) noexcept { return distances_ + pairs(i); }
    static constexpr std::size_t pairs(std::size_t clusters) { return clusters == 0 ? 0 : clusters * (clusters - 1) / 2; }
    /// Calls visit(j, distance) for every other cluster j, in order.
    template <class Visit> void for_each_other(std::uint32_t i, Visit visit) noexcept {
        float* distance = row(i);
        for (std::uint32_t j = 0; j < i; ++j) visit(j, distance[j]);
        distance = row(i + 1) + i;
        for (std::uint32_t j = i + 1; j < count_; distance += j++) visit(j, *distance);
    }

    /// The means of so many clusters may be read at once.
    static constexpr std::uint32_t abreast = 8;
    static constexpr std::uint32_t mean_stride(std::uint32_t clusters) { return (clusters + abreast - 1) / abreast * abreast; }
    std::uint64_t bytes_of_distances(std::uint32_t clusters) const { return pairs(clusters) * sizeof(float) + size_ * mean_stride(clusters) * sizeof(double); }
    double* means(std::size_t metric) noexcept { return means_ + metric * mean_stride(room_); }

    Arena* arena_;
    Pool* pool_;
    std::uint32_t limit_;
    EquivalenceChoice mode_;
    bool adapts_;
    std::uint32_t warm_up_;
    std::uint32_t size_;     // of condensed vectors; elements of counters that were not chosen are never read
    std::uint32_t compared_; // only its first elements may be part of the distance: regions' counters would count twice
    Equivalence equivalence_;
    Cluster** clusters_ = nullptr; // room_ pointers; the first count_ are in use
    float* distances_ = nullptr;   // of all pairs, row by row; valid once measured_; `apart` between classes
    double* means_ = nullptr;      // condensed / members: a row per metric, a column per cluster; with the distances
    std::uint32_t room_ = 0;
    std::uint32_t count_ = 0;
    ClassTable classes_;
    bool measured_ = false;
    bool puts_off_ = false;
    std::uint32_t calm_since_ = 0;    // iterations
    std::uint64_t times_put_off_ = 0; // when it was last done: the number of iterations, and a number of its own
    std::uint32_t next_to_refresh_ = 0;
    Membership members_;
    CondensedVector totals_;                   // over all iterations
    double scale_[condensed_size] = {};        // 1 / average: the running one, or an earlier run's
    bool is_fixed_[condensed_size] = {};       // an earlier run's
    std::uint8_t active_[condensed_size] = {}; // metrics in the distance: those that are not all zero
    std::uint32_t active_count_ = 0;
    std::uint64_t clustered_ = 0;
    std::uint64_t unclustered_ = 0;
    std::uint32_t relaxations_ = 0;
};

} // namespace libprofile
