#include "libprofile/phases/iteration_closer.hpp"

#include "libprofile/clustering/earlier_run.hpp"

#include <new>

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

void IterationCloser::close(Phase& phase, std::uint64_t wall_ns, std::uint64_t now) noexcept {
    do_pending_work();
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
        if (!taken && phase.clusterer->make_room()) taken = iteration.profile.take(phase.rows, *pool_);
        if (listener_ != nullptr) listener_->closing(phase, iteration.profile, iteration.signatures, wall_ns, now);
        if (taken) {
            pending_ = iteration;
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

void IterationCloser::do_pending_work() noexcept {
    if (pending_.phase == nullptr) return;
    Phase& phase = *pending_.phase;
    pending_.phase = nullptr;
    const std::size_t bytes = pending_.profile.bytes();
    auto* const events = phase.series == nullptr ? nullptr : static_cast<Cell*>(pool_->allocate(bytes));
    std::uint32_t count = 0;
    const CondensedVector condensed = events != nullptr ? condense(pending_.profile, *tree_, settings_.series.counter_metrics, events, count)
                                                        : condense(pending_.profile, *tree_, settings_.series.counter_metrics);
    add_to_series(phase, events, count, condensed, pending_);
    pool_->release(events, bytes);
    if (phase.clusterer->add(pending_.profile, condensed, pending_.signatures)) return;
    phase.clusterer->add_unclustered();
    put_back(phase, pending_.profile);
    if (listener_ != nullptr) listener_->put_back(phase);
    pending_.profile.release(*pool_);
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
