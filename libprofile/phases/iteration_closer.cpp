#include "libprofile/phases/iteration_closer.hpp"

#include "libprofile/clustering/earlier_run.hpp"

#include <algorithm>
#include <bit>
#include <new>
#include <utility>

namespace libprofile {

bool IterationCloser::begin_clustering(Phase& phase) noexcept {
    phase.clusterer = static_cast<Clusterer*>(arena_->allocate(sizeof(Clusterer)));
    if (phase.clusterer == nullptr) return false;
    new (phase.clusterer)
        Clusterer(*arena_, *pool_, settings_.clusters, settings_.mode, settings_.refreshes_distances, settings_.warm_up, settings_.series.counter_metrics);
    if (const EarlierIterations* earlier = settings_.earlier == nullptr ? nullptr : settings_.earlier(phase.name))
        phase.clusterer->normalise_by(earlier->sums, earlier->iterations);
    if (!settings_.keeps_series) return true;
    phase.series = static_cast<TimeSeries*>(arena_->allocate(sizeof(TimeSeries)));
    if (phase.series != nullptr) new (phase.series) TimeSeries(*arena_, *pool_, settings_.series);
    return true;
}

/// `events`: nullptr when there was no memory for them.
void IterationCloser::add_to_series(Phase& phase, const Cell* events, std::uint32_t event_count, const CondensedVector& condensed,
                                    const PendingIteration& iteration) noexcept {
    if (phase.series == nullptr) return;
    if (phase.series->is_chunk_full()) phase.series->leave(phase.clusterer->bytes_to_come());
    if (iteration.has_leftovers) return phase.series->add_unknown();
    phase.series->add(events, event_count, condensed.values, iteration.wall_ns, iteration.signatures);
}

StructureSignatures IterationCloser::sign(Phase& phase) const noexcept {
    StructureSignatures signatures;
    constexpr Signature::Visits once(1);
    Signature::Visits as_often = once;
    for (std::size_t i = 0; i < phase.rows.size(); ++i) {
        const Row& row = phase.rows[i];
        const std::uint64_t visits = row[Metric::Visits] - row.chance_visits;
        if (!row.is_event || visits == 0) continue;
        const Node& node = (*tree_)[row.node];
        const Signature weak = Signature::of(node, once);
        signatures.weak += weak;
        if (visits == once.number) { // as most of most programs
            signatures.strong += weak;
            continue;
        }
        if (visits != as_often.number) as_often = Signature::Visits(visits);
        signatures.strong.add(node, as_often);
    }
    return signatures;
}

void IterationCloser::close(Phase& phase, std::uint64_t wall_ns, std::uint64_t now, bool may_wait) noexcept {
    if (!may_wait || pending_count_ >= most_now_) do_pending_work();
    waits_.next_iteration();
    if (phase.clusterer == nullptr && !begin_clustering(phase)) {
        ++losses_;
        miss_iterations();
        return;
    }
    // Without memory the values stay in the rows: they go into the cluster of a later iteration or into the phase's rest, so
    // that totals remain exact.
    // In this order: wall times must not go on and take the last pieces of memory, which clusters need.
    if (phase.clusterer->reserve_iteration() && phase.iteration_walls.append(wall_ns, *pool_)) {
        phase.begins.append(now - wall_ns, wall_ns, *pool_);
        PendingIteration iteration{&phase, {}, sign(phase), wall_ns, phase.has_leftovers};
        bool taken = iteration.profile.take(phase.rows, *pool_);
        if (!taken && pending_count_ != 0) { // their profiles go into clusters; or values of theirs come into the rows
            do_pending_work();
            iteration.signatures = sign(phase);
            iteration.has_leftovers = phase.has_leftovers;
            taken = iteration.profile.take(phase.rows, *pool_);
        }
        was_short_ = was_short_ || !taken;
        if (!taken && phase.clusterer->make_room()) taken = iteration.profile.take(phase.rows, *pool_);
        if (listener_ != nullptr) listener_->closing(phase, iteration.profile, iteration.signatures, wall_ns, now);
        if (taken) {
            hold(iteration, may_wait);
            if (listener_ != nullptr) listener_->closed(phase.has_leftovers ? IterationFate::Mixed : IterationFate::Own);
            phase.rows.clear();
            phase.has_leftovers = false;
            return;
        }
        add_to_series(phase, nullptr, 0, condense(phase.rows, *tree_, settings_.series.counter_metrics), iteration);
        phase.clusterer->add_unclustered();
        if (listener_ != nullptr) listener_->closed(IterationFate::Unknown);
    } else {
        miss_iterations();
    }
    phase.has_leftovers = true;
    ++losses_;
}

/// Long iterations and large profiles wait alone, as all do when memory is short: then those that no cluster takes can stay in the rows. So does one
/// after which the phase's next could not be sure of a membership, which each with a wall time must get.
/// Otherwise a power of two may be pending, so that ranks in step, whose iterations take slightly different times, do the work at the same time: else each
/// waits for the work of the others.
void IterationCloser::hold(const PendingIteration& iteration, bool may_wait) noexcept {
    pending_[pending_count_++] = iteration;
    pending_bytes_ += iteration.profile.bytes();
    const bool is_short = was_short_ || memory_quota.used() > memory_quota.limit() - memory_quota.limit() / 16;
    const bool is_full = pending_bytes_ > most_pending_bytes || !iteration.phase->clusterer->has_room_for(pending_count_ + 1);
    const bool is_alone = !may_wait || is_short || is_full;
    const std::uint64_t in_time = most_pending_ns / std::max<std::uint64_t>(iteration.wall_ns, 1);
    most_now_ = is_alone ? 1 : static_cast<std::uint32_t>(std::bit_floor(std::clamp<std::uint64_t>(in_time, 1, most_pending)));
}

void IterationCloser::do_pending_work() noexcept {
    const std::uint32_t count = std::exchange(pending_count_, 0);
    pending_bytes_ = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
        const bool is_last = std::none_of(pending_ + i + 1, pending_ + count, [&](const PendingIteration& later) { return later.phase == pending_[i].phase; });
        finish(pending_[i], is_last);
    }
}

/// `is_last`: no later one of its phase has ended.
void IterationCloser::finish(PendingIteration& iteration, bool is_last) noexcept {
    Phase& phase = *iteration.phase;
    const std::size_t bytes = iteration.profile.bytes();
    auto* const events = phase.series == nullptr ? nullptr : static_cast<Cell*>(pool_->allocate(bytes));
    std::uint32_t count = 0;
    const CondensedVector condensed = events != nullptr ? condense(iteration.profile, *tree_, settings_.series.counter_metrics, events, count)
                                                        : condense(iteration.profile, *tree_, settings_.series.counter_metrics);
    add_to_series(phase, events, count, condensed, iteration);
    pool_->release(events, bytes);
    if (phase.clusterer->add(iteration.profile, condensed, iteration.signatures)) return;
    was_short_ = true;
    phase.clusterer->add_unclustered();
    put_back(phase, iteration.profile);
    if (listener_ != nullptr) is_last ? listener_->put_back(phase) : listener_->missed();
    iteration.profile.release(*pool_);
    phase.has_leftovers = true;
    ++losses_;
}

/// Adds a profile that no cluster has taken to the rows, as if it had stayed there.
void IterationCloser::put_back(Phase& phase, const IterationProfile& profile) noexcept {
    for (std::uint32_t i = 0; i < profile.size; ++i) {
        const Cell& cell = profile.cells[i];
        Row& row = phase.rows.row(cell.node(), *tree_, *arena_);
        row[static_cast<Metric>(cell.metric())] += cell.value;
        if (counts_for_structure((*tree_)[cell.node()].kind)) row.is_event = true;
    }
}

} // namespace libprofile
