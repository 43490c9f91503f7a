// What becomes of an iteration that has ended: it is signed, told to the listener, added to the phase's series and clusters.
// Contract: belongs to one thread's phase stack, used with the in-tool flag set; nothing throws; memory from the thread's arena and pool.
//
// At the end of an iteration only its profile is taken. The costly part, series and clusters, is done later, for several short iterations at once:
// code and data that one has brought into the caches serve the others, and the program loses its own less often. It is done at the latest when
// most_pending have ended, or as many as take 250 ms, or before anything is read.
#pragma once

#include "libprofile/phases/iteration_listener.hpp"
#include "libprofile/phases/phase.hpp"
#include "libprofile/phases/wait_choice.hpp"

#include <cstdint>

namespace libprofile {

struct EarlierIterations; // clustering/earlier_run.hpp

/// Where the iterations of a phase go and how many clusters they get.
struct ClusteringSettings {
    std::uint32_t clusters = 16;
    EquivalenceChoice mode = EquivalenceChoice::Auto;
    std::uint32_t warm_up = 0; // see Clusterer, as the next
    bool keeps_series = true;
    bool refreshes_distances = true;
    SeriesSettings series;
    /// What iterations of this name were in an earlier run; nullptr if none is known.
    const EarlierIterations* (*earlier)(const char* phase) noexcept = nullptr;
};

/// An iteration that has ended, and is in no cluster and no series yet.
struct PendingIteration {
    Phase* phase = nullptr; // nullptr if there is none
    IterationProfile profile;
    StructureSignatures signatures;
    std::uint64_t wall_ns = 0;
    bool has_leftovers = false; // as in the phase
};

class IterationCloser {
  public:
    IterationCloser(CallTree& tree, Arena& arena, Pool& pool) : tree_(&tree), arena_(&arena), pool_(&pool) {}

    void choose(const ClusteringSettings& settings) noexcept { settings_ = settings; }
    /// An iteration of `phase` is over, and its interval is closed. `may_wait`: else all before it are in their clusters then.
    void close(Phase& phase, std::uint64_t wall_ns, std::uint64_t now, bool may_wait) noexcept;
    void do_pending_work() noexcept;
    /// The thread enters a wait that usually takes `typical_ns`. Returns the number of iterations whose work should be done first, 0 or all.
    std::uint32_t work_before_wait(std::uint32_t typical_ns) noexcept {
        return waits_.is_time_for_work(typical_ns, pending_count_, most_now_) ? pending_count_ : 0;
    }
    /// The work of so many took `ns`.
    void learn_work(std::uint64_t ns, std::uint32_t iterations) noexcept { waits_.learn(ns / iterations); }

    /// Tells `listener`, which must stay, about every iteration from now on; nullptr ends that.
    void tell(const IterationListener* listener) noexcept { listener_ = listener; }
    /// The next iterations lie in a time about which the listener has heard already, or it has heard of iterations which are not what was told.
    void miss_iterations() noexcept {
        if (listener_ != nullptr) listener_->missed();
    }
    /// Iterations for which there was no memory.
    std::uint64_t losses() const { return losses_; }

  private:
    static constexpr std::uint32_t most_pending = 16;
    static constexpr std::uint64_t most_pending_ns = 250000000;
    static constexpr std::size_t most_pending_bytes = 64 << 10; // of profiles: these stay in the second cache

    bool begin_clustering(Phase& phase) noexcept;
    StructureSignatures sign(Phase& phase) const noexcept;
    void hold(const PendingIteration& iteration, bool may_wait) noexcept;
    void finish(PendingIteration& iteration, bool is_last) noexcept;
    void put_back(Phase& phase, const IterationProfile& profile) noexcept;
    void add_to_series(Phase& phase, const Cell* events, std::uint32_t event_count, const CondensedVector& condensed,
                       const PendingIteration& iteration) noexcept;

    CallTree* tree_;
    Arena* arena_;
    Pool* pool_;
    ClusteringSettings settings_;
    const IterationListener* listener_ = nullptr;
    WaitChoice waits_;
    PendingIteration pending_[most_pending];
    std::uint32_t pending_count_ = 0;
    std::uint32_t most_now_ = 1; // so many may be pending
    std::size_t pending_bytes_ = 0;
    bool was_short_ = false; // of memory
    std::uint64_t losses_ = 0;
};

} // namespace libprofile
