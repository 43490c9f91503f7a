#include "libprofile/phases/phase_stack.hpp"

#include "libprofile/clustering/earlier_run.hpp"

#include <cstdio>
#include <cstring>
#include <new>

namespace libprofile {

bool PhaseStack::start(std::uint64_t now, std::uint64_t cpu_now, ClusteringSettings settings) noexcept {
    settings_ = settings;
    Phase* outside = phases_.append(*arena_);
    if (outside == nullptr) return false;
    new (outside) Phase();
    if (!outside->rows.reserve(*tree_, *arena_)) return false;
    outside->open = true;
    outside->opened_at = now;
    outside->instances = 1;
    stack_[0] = outside;
    depth_ = 1;
    segment_start_ = now;
    segment_cpu_start_ = cpu_now;
    return true;
}

void PhaseStack::begin_again(std::uint64_t now) noexcept {
    Phase& outside = phases_[0];
    outside.rows.clear();
    outside.wall_ns = outside.wall_inclusive_ns = outside.outside_events_ns = outside.compute_cpu_ns = 0;
    for (std::uint64_t& counted : outside.counted) counted = 0;
    outside.opened_at = segment_start_ = now;
    segment_cpu_start_ = segment_events_ns_ = segment_events_asleep_ns_ = segment_overhead_ns_ = 0;
    ++row_generation_;
    is_paused_ = false;
    polls_.site = nullptr;
}

/// FNV-1a over kind and the first max_name characters of the name.
static std::uint64_t hash_name(PhaseKind kind, const char* name) {
    std::uint64_t h = 0xcbf29ce484222325u + static_cast<std::uint64_t>(kind);
    for (std::size_t i = 0; i < PhaseStack::max_name && name[i] != 0; ++i) h = (h ^ static_cast<unsigned char>(name[i])) * 0x100000001b3u;
    return h;
}

Phase* PhaseStack::find(PhaseKind kind, const char* name) noexcept {
    const std::uint64_t hash = hash_name(kind, name);
    for (std::size_t i = 1; i < phases_.size(); ++i)
        if (phases_[i].hash == hash && phases_[i].kind == kind && std::strncmp(phases_[i].name, name, max_name) == 0) return &phases_[i];
    return nullptr;
}

/// nullptr: no memory, or the limit is reached. Then the phase does not exist, and its time stays with the one around it.
Phase* PhaseStack::create(PhaseKind kind, const char* name) noexcept {
    if (phases_.size() >= max_phases) return nullptr;
    char shortened[max_name + 1] = {};
    std::strncpy(shortened, name, max_name);
    Phase trial;
    trial.name = arena_->copy_text(shortened);
    trial.kind = kind;
    trial.hash = hash_name(kind, name);
    if (!trial.rows.reserve(*tree_, *arena_)) return nullptr;
    trial.number = static_cast<std::uint32_t>(phases_.size());
    Phase* phase = phases_.append(*arena_);
    return phase == nullptr ? nullptr : new (phase) Phase(trial);
}

void PhaseStack::repair(const char* what, const char* name) noexcept {
    if (repairs_++ == 0) std::snprintf(first_repair_, sizeof first_repair_, "%s \"%.64s\"", what, name);
}

/// Books the running pause until `now`, from where it goes on. Its CPU time is not held to its wall time: it is of the clock
/// that the segment's is of, so what is taken from that is what is in it.
void PhaseStack::book_pause(std::uint64_t now, std::uint64_t cpu_now) noexcept {
    const std::uint64_t wall = now - pause_start_;
    const std::uint64_t cpu = cpu_now > pause_cpu_start_ ? cpu_now - pause_cpu_start_ : 0;
    if (wall != 0) row(tree_->not_recorded())[Metric::Time] += wall;
    book_event(wall, cpu);
    pause_start_ = now;
    pause_cpu_start_ = cpu_now;
}

void PhaseStack::end_polls(std::uint64_t now) noexcept {
    if (polls_.site == nullptr) return;
    polls_.site = nullptr;
    const std::uint64_t calls = polls_.untimed + polls_.found_untimed;
    if (calls == 0) return;
    const std::uint64_t elapsed = now > polls_.began_at ? now - polls_.began_at : 0;
    const std::uint64_t booked = segment_events_ns_ + segment_overhead_ns_ - polls_.booked; // timed calls, samples
    const std::uint64_t left = elapsed > booked ? elapsed - booked : 0;
    const std::uint64_t wanted = polls_.estimate();
    const std::uint64_t wall = wanted < left ? wanted : left;
    const std::uint64_t own = calls * polls_.own_ns;
    (*polls_.row)[Metric::Time] += wall;
    (*polls_.row)[Metric::TimedTogether] += calls;
    book_event(wall, wall);
    book_overhead(own < left - wall ? own : left - wall);
}

void PhaseStack::pause(std::uint64_t now, std::uint64_t cpu_now) noexcept {
    end_polls(now);
    is_paused_ = true;
    pause_start_ = now;
    pause_cpu_start_ = cpu_now;
}

void PhaseStack::resume(std::uint64_t now, std::uint64_t cpu_now) noexcept {
    is_paused_ = false;
    book_pause(now, cpu_now);
}

/// Adds the time since the last phase switch to the innermost phase.
void PhaseStack::close_segment(std::uint64_t now, std::uint64_t cpu_now) noexcept {
    end_polls(now);
    if (is_paused_) book_pause(now, cpu_now);
    if (source_ != nullptr) source_->book(*source_, *this, now);
    Phase& phase = top();
    const std::uint64_t wall = now - segment_start_;
    // The events are parts of the segment; our own time around them may be an estimate, which must not exceed the rest.
    if (segment_overhead_ns_ > wall - segment_events_ns_) segment_overhead_ns_ = wall - segment_events_ns_;
    const std::uint64_t inside = segment_events_ns_ + segment_overhead_ns_;
    const std::uint64_t outside = wall - inside;
    const std::uint64_t cpu = cpu_now > segment_cpu_start_ ? cpu_now - segment_cpu_start_ : 0;
    const std::uint64_t cpu_inside = inside - segment_events_asleep_ns_;
    phase.wall_ns += wall;
    phase.outside_events_ns += outside;
    phase.compute_cpu_ns += cpu > cpu_inside ? cpu - cpu_inside : 0;
    if (segment_overhead_ns_ != 0) row(tree_->overhead())[Metric::Time] += segment_overhead_ns_;
    closed_ns_ += inside;
    segment_start_ = now;
    segment_cpu_start_ = cpu_now;
    segment_events_ns_ = segment_events_asleep_ns_ = segment_overhead_ns_ = 0;
    ++row_generation_; // another phase comes, or another interval of this one
}

/// Like computing time: what no sample and no long call has been given belongs to the sampled paths by their weights.
void PhaseStack::share_out_counted(Phase& phase) noexcept {
    std::uint64_t any = 0;
    for (const std::uint64_t counted : phase.counted) any |= counted;
    if (any == 0) return;
    if (!share_out_counters(phase.rows, phase.counted)) {
        Row& row = phase.rows.row(tree_->not_sampled(), *tree_, *arena_);
        for (std::size_t i = 0; i < most_counters; ++i)
            if (phase.counted[i] != 0) row.counter(i) += phase.counted[i];
    }
    for (std::uint64_t& counted : phase.counted) counted = 0;
}

/// Turns the interval's CPU and wall time outside events into times of call paths.
void PhaseStack::close_interval(Phase& phase) noexcept {
    share_out_counted(phase);
    const std::uint64_t outside = phase.outside_events_ns;
    const std::uint64_t compute = phase.compute_cpu_ns < outside ? phase.compute_cpu_ns : outside;
    if (compute != 0 && !share_out_compute_time(phase.rows, compute, *pool_)) phase.rows.row(tree_->not_sampled(), *tree_, *arena_)[Metric::Time] += compute;
    if (outside != compute) phase.rows.row(tree_->off_cpu(), *tree_, *arena_)[Metric::Time] += outside - compute;
    phase.outside_events_ns = phase.compute_cpu_ns = 0;
    if (compute != 0) return; // what was shared out has no weight any more, and else there was none
    for (std::size_t i = 0; i < phase.rows.size(); ++i) phase.rows[i].weight = 0;
}

bool PhaseStack::begin_clustering(Phase& phase) noexcept {
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
void PhaseStack::add_to_series(Phase& phase, const Cell* events, std::uint32_t event_count, const CondensedVector& condensed,
                               const PendingIteration& iteration) noexcept {
    if (phase.series == nullptr) return;
    if (phase.series->is_chunk_full()) phase.series->leave(phase.clusterer->bytes_to_come());
    if (iteration.has_leftovers) return phase.series->add_unknown();
    phase.series->add(events, event_count, condensed.values, iteration.wall_ns, iteration.signatures);
}

StructureSignatures PhaseStack::sign(Phase& phase) const noexcept {
    StructureSignatures signatures;
    constexpr Signature::Visits once(1);
    Signature::Visits as_often = once;
    for (std::size_t i = 0; i < phase.rows.size(); ++i) {
        const Row& row = phase.rows[i];
        const std::uint64_t visits = row[Metric::Visits] - row.chance_visits;
        if (!row.is_event || visits == 0) continue;
        const Node& node = (*tree_)[row.node];
        if (visits != as_often.number) as_often = Signature::Visits(visits);
        signatures.strong.add(node, as_often);
        signatures.weak.add(node, once);
    }
    return signatures;
}

void PhaseStack::close_iteration(Phase& phase, std::uint64_t wall_ns, std::uint64_t now) noexcept {
    do_pending_work();
    waits_.next_iteration();
    if (phase.clusterer == nullptr && !begin_clustering(phase)) {
        ++quota_losses_;
        if (listener_ != nullptr) listener_->missed();
        return;
    }
    // Without memory the values stay in the rows: they go into the cluster of a later iteration or into the phase's rest, so
    // that totals remain exact.
    // In this order: wall times must not go on and take the last pieces of memory, which clusters need.
    if (phase.clusterer->reserve_iteration() && phase.iteration_walls.append(wall_ns, *pool_)) {
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
    } else if (listener_ != nullptr) {
        listener_->missed();
    }
    phase.has_leftovers = true;
    ++quota_losses_;
}

void PhaseStack::do_pending_work() noexcept {
    if (pending_.phase == nullptr) return;
    Phase& phase = *pending_.phase;
    pending_.phase = nullptr;
    CondensedVector condensed;
    const std::size_t bytes = pending_.profile.bytes();
    if (auto* events = phase.series == nullptr ? nullptr : static_cast<Cell*>(pool_->allocate(bytes))) {
        const std::uint32_t count = condense(pending_.profile, *tree_, settings_.series.counter_metrics, condensed, events);
        add_to_series(phase, events, count, condensed, pending_);
        pool_->release(events, bytes);
    } else {
        condensed = condense(pending_.profile, *tree_, settings_.series.counter_metrics);
        add_to_series(phase, nullptr, 0, condensed, pending_);
    }
    if (phase.clusterer->add(pending_.profile, condensed, pending_.signatures)) return;
    phase.clusterer->add_unclustered();
    put_back(phase, pending_.profile);
    if (listener_ != nullptr) listener_->put_back(phase);
    pending_.profile.release(*pool_);
    phase.has_leftovers = true;
    ++quota_losses_;
}

/// Adds a profile that no cluster has taken to the rows, as if it had stayed there.
void PhaseStack::put_back(Phase& phase, const IterationProfile& profile) noexcept {
    for (std::uint32_t i = 0; i < profile.size; ++i) {
        const Cell& cell = profile.cells[i];
        Row& row = phase.rows.row(cell.node(), *tree_, *arena_);
        row[static_cast<Metric>(cell.metric())] += cell.value;
        if (counts_for_structure(cell.node())) row.is_event = true;
    }
}

/// Iterations have numbers, of which some may be missing; other phases are counted.
static std::uint64_t count_of(const Phase& phase) { return phase.kind == PhaseKind::Iterations ? phase.iteration_walls.size() : phase.instances; }

/// `phase` is about to open: what it does belongs to the iteration around it, too. Without memory nobody will know.
void PhaseStack::enter(Phase& phase) noexcept {
    std::size_t depth = depth_;
    while (depth > 1 && stack_[depth - 1]->kind != PhaseKind::Iterations) --depth;
    if (depth == 1) return;
    Phase& around = *stack_[depth - 1];
    InsideLink* link = around.inner;
    while (link != nullptr && link->phase != &phase) link = link->next;
    if (link == nullptr) {
        link = static_cast<InsideLink*>(arena_->allocate(sizeof(InsideLink)));
        if (link == nullptr) return;
        new (link) InsideLink{&phase, around.inner};
        around.inner = link;
    }
    link->count_before = count_of(phase);
    link->wall_before = phase.wall_ns;
    if (link->count == 0) link->first = link->count_before;
    link->is_scattered = link->is_scattered || link->first + link->count != link->count_before;
    phase.entered_in = link;
}

void PhaseStack::leave(Phase& phase) noexcept {
    InsideLink* link = phase.entered_in;
    if (link == nullptr) return;
    phase.entered_in = nullptr;
    link->count += count_of(phase) - link->count_before;
    link->wall_ns += phase.wall_ns - link->wall_before;
}

/// An iteration of `phase` is over. Without a number it is not counted: then what was inside it belongs to none.
void PhaseStack::log_inside(Phase& phase, bool has_number) noexcept {
    const auto counts = [](const InsideLink& link) {
        return link.phase->kind == PhaseKind::Iterations ? link.count != 0 && !link.is_scattered : link.wall_ns != 0 || link.count != 0;
    };
    std::uint64_t entries = 0;
    for (const InsideLink* link = phase.inner; link != nullptr; link = link->next) entries += counts(*link) ? 1 : 0;
    if (entries != 0 && has_number)
        phase.inside.add(phase.iteration_walls.size() - 1, entries, *pool_, [&](auto put) {
            for (const InsideLink* link = phase.inner; link != nullptr; link = link->next) {
                if (!counts(*link)) continue;
                put(link->phase->number);
                put(link->count);
                put(link->phase->kind == PhaseKind::Iterations ? link->first : link->wall_ns);
            }
        });
    for (InsideLink* link = phase.inner; link != nullptr; link = link->next) {
        link->count = link->wall_ns = 0;
        link->is_scattered = false;
    }
}

/// The innermost open phase is open no more. Returns for how long it was.
std::uint64_t PhaseStack::close_top(std::uint64_t now, std::uint64_t cpu_now) noexcept {
    Phase& phase = top();
    close_segment(now, cpu_now);
    --depth_;
    phase.open = false;
    if (log_ != nullptr) log_->add({now, phase.name, phase.kind, false});
    const std::uint64_t wall = now - phase.opened_at;
    phase.wall_inclusive_ns += wall;
    return wall;
}

void PhaseStack::end_iteration(Phase& phase, std::uint64_t wall_ns, std::uint64_t at) noexcept {
    const std::uint64_t numbered = phase.iteration_walls.size();
    close_interval(phase);
    close_iteration(phase, wall_ns, at);
    log_inside(phase, phase.iteration_walls.size() != numbered);
    leave(phase);
}

void PhaseStack::pop(std::uint64_t now, std::uint64_t cpu_now) noexcept {
    end_left();
    Phase& phase = top();
    const std::uint64_t wall = close_top(now, cpu_now);
    if (phase.kind == PhaseKind::Iterations)
        end_iteration(phase, wall, now);
    else
        leave(phase);
}

bool PhaseStack::leave_at(std::uint64_t at, std::uint64_t cpu_then) noexcept {
    if (left_count_ == most_left || is_paused_ || top().kind != PhaseKind::Iterations) return false;
    Phase& phase = top();
    end_polls(at);
    if (at < earliest_end()) at = earliest_end();
    left_[left_count_++] = {&phase, close_top(at, cpu_then), at};
    return true;
}

void PhaseStack::end_left() noexcept {
    for (std::uint32_t i = 0; i < left_count_; ++i) end_iteration(*left_[i].phase, left_[i].wall_ns, left_[i].at);
    left_count_ = 0;
}

void PhaseStack::begin(PhaseKind kind, const char* name, std::uint64_t now, std::uint64_t cpu_now) noexcept {
    end_left();
    Phase* phase = find(kind, name);
    if (phase == nullptr) {
        phase = create(kind, name);
        if (phase == nullptr) {
            ++quota_losses_;
            return;
        }
    }
    if (phase->open) {
        repair("begin of the open", name);
        while (phase->open) pop(now, cpu_now);
    }
    if (depth_ == max_depth) return repair("too deep nesting at begin of", name);
    close_segment(now, cpu_now);
    enter(*phase);
    stack_[depth_++] = phase;
    phase->open = true;
    phase->opened_at = now;
    ++phase->instances;
    if (log_ != nullptr) log_->add({now, phase->name, kind, true});
}

void PhaseStack::end(PhaseKind kind, const char* name, std::uint64_t now, std::uint64_t cpu_now) noexcept {
    Phase* phase = find(kind, name);
    if (phase == nullptr && quota_losses_ != 0) return; // its begin was refused
    if (phase == nullptr || !phase->open) return repair("end without begin of", name);
    if (&top() != phase) repair("something open inside at the end of", name);
    while (phase->open) pop(now, cpu_now);
}

void PhaseStack::next_iteration(const char* name, std::uint64_t now, std::uint64_t cpu_now) noexcept {
    end_if_open(PhaseKind::Iterations, name, now, cpu_now);
    begin(PhaseKind::Iterations, name, now, cpu_now);
}

void PhaseStack::end_if_open(PhaseKind kind, const char* name, std::uint64_t now, std::uint64_t cpu_now) noexcept {
    const Phase* phase = find(kind, name);
    if (phase != nullptr && phase->open) end(kind, name, now, cpu_now);
}

void PhaseStack::settle(std::uint64_t now, std::uint64_t cpu_now) noexcept {
    end_left();
    do_pending_work();
    close_segment(now, cpu_now);
    for (std::size_t i = 0; i < phases_.size(); ++i) close_interval(phases_[i]);
}

bool PhaseStack::keep(Unsettled& kept, std::uint64_t now) noexcept {
    do_pending_work();
    end_polls(now);
    Phase& phase = top();
    for (const NodeId node : {tree_->overhead(), tree_->off_cpu(), tree_->not_sampled()}) row(node);
    const auto changes = [this](const Row& row) {
        return row.weight != 0 || row.node == tree_->overhead() || row.node == tree_->off_cpu() || row.node == tree_->not_sampled();
    };
    kept.count = 0;
    for (std::size_t i = 0; i < phase.rows.size(); ++i) kept.count += changes(phase.rows[i]) ? 1 : 0;
    kept.bytes = kept.count * sizeof(Unsettled::Value);
    kept.values = static_cast<Unsettled::Value*>(pool_->allocate(kept.bytes));
    if (kept.values == nullptr) return false;
    std::size_t n = 0;
    for (std::size_t i = 0; i < phase.rows.size(); ++i)
        if (changes(phase.rows[i])) kept.values[n++] = {&phase.rows[i], phase.rows[i][Metric::Time], phase.rows[i].weight};
    kept.wall_ns = phase.wall_ns;
    kept.outside_events_ns = phase.outside_events_ns;
    kept.compute_cpu_ns = phase.compute_cpu_ns;
    kept.start = segment_start_;
    kept.cpu_start = segment_cpu_start_;
    kept.generation = row_generation_;
    kept.closed_ns = closed_ns_;
    kept.counters = booked();
    return true;
}

void PhaseStack::put_back(Unsettled& kept) noexcept {
    Phase& phase = top();
    for (std::size_t i = 0; i < kept.count; ++i) {
        (*kept.values[i].row)[Metric::Time] = kept.values[i].time;
        kept.values[i].row->weight = kept.values[i].weight;
    }
    pool_->release(kept.values, kept.bytes);
    phase.wall_ns = kept.wall_ns;
    phase.outside_events_ns = kept.outside_events_ns;
    phase.compute_cpu_ns = kept.compute_cpu_ns;
    segment_start_ = kept.start;
    segment_cpu_start_ = kept.cpu_start;
    row_generation_ = kept.generation; // rows have not moved
    closed_ns_ = kept.closed_ns;
    go_back(kept.counters);
}

void PhaseStack::finish(std::uint64_t now, std::uint64_t cpu_now) noexcept {
    while (depth_ > 1) {
        repair("never ended:", top().name);
        pop(now, cpu_now);
    }
    settle(now, cpu_now);
    top().wall_inclusive_ns = now - top().opened_at;
    is_paused_ = false;
}

} // namespace libprofile
