#include "libprofile/phases/phase_stack.hpp"

namespace libprofile {

bool PhaseStack::start(std::uint64_t now, std::uint64_t cpu_now, ClusteringSettings settings) noexcept {
    iterations_.choose(settings);
    Phase* outside = phases_.create(PhaseKind::Outside, "");
    if (outside == nullptr) return false;
    outside->open = true;
    outside->opened_at = now;
    outside->instances = 1;
    stack_[0] = outside;
    depth_ = 1;
    time_.start(now, cpu_now);
    return true;
}

void PhaseStack::begin_again(std::uint64_t now) noexcept {
    Phase& outside = phases_[0];
    outside.rows.clear();
    outside.wall_ns = outside.wall_inclusive_ns = 0;
    outside.outside = {};
    outside.opened_at = now;
    time_.start(now, 0);
    ++row_generation_;
}

void PhaseStack::book_pause(std::uint64_t now, std::uint64_t cpu_now) noexcept {
    const std::uint64_t wall = time_.book_pause(now, cpu_now);
    if (wall != 0) row(tree_->not_recorded())[Metric::Time] += wall;
}

void PhaseStack::resume(std::uint64_t now, std::uint64_t cpu_now) noexcept {
    time_.resume();
    book_pause(now, cpu_now);
}

/// Adds the time since the last phase switch to the innermost phase.
void PhaseStack::close_segment(std::uint64_t now, std::uint64_t cpu_now) noexcept {
    time_.end_polls(now);
    if (time_.is_paused()) book_pause(now, cpu_now);
    if (hooks_.source != nullptr) hooks_.source->book(*hooks_.source, *this, now);
    const WallLedger::Segment ended = time_.cut(now, cpu_now);
    Phase& phase = top();
    phase.wall_ns += ended.wall_ns;
    phase.outside.wall_ns += ended.outside_ns;
    phase.outside.cpu_ns += ended.cpu_ns;
    phase.outside.away_ns += ended.away_ns;
    if (ended.overhead_ns != 0) row(tree_->overhead())[Metric::Time] += ended.overhead_ns;
    ++row_generation_; // another phase comes, or another interval of this one
}

NodeId PhaseStack::book_off_cpu(NodeId node, std::uint64_t ns) noexcept {
    const NodeId place = tree_->child(node, NodeKind::OffCpu, 0, 0);
    if ((*tree_)[place].kind != NodeKind::OffCpu || row(place).node != place) return 0;
    book_off_cpu_at(place, ns);
    return place;
}

/// What `phase`, which is about to open, does belongs to the iteration around it, too.
void PhaseStack::enter(Phase& phase) noexcept {
    std::size_t depth = depth_;
    while (depth > 1 && stack_[depth - 1]->kind != PhaseKind::Iterations) --depth;
    if (depth > 1) phase.inside.enter(phase.inner(), stack_[depth - 1]->inside, *arena_);
}

/// Whether an iteration is open.
bool PhaseStack::is_inside_iteration() const noexcept {
    for (std::size_t depth = depth_; depth > 1; --depth)
        if (stack_[depth - 1]->kind == PhaseKind::Iterations) return true;
    return false;
}

/// The innermost open phase is open no more. Returns for how long it was.
std::uint64_t PhaseStack::close_top(std::uint64_t now, std::uint64_t cpu_now) noexcept {
    Phase& phase = top();
    close_segment(now, cpu_now);
    --depth_;
    phase.open = false;
    if (hooks_.log != nullptr) hooks_.log->add({now, phase.name, phase.kind, false});
    if (hooks_.order != nullptr && phase.kind == PhaseKind::Iterations) hooks_.order->end(phase.hash, phase.number, now);
    if (hooks_.events != nullptr && phase.kind == PhaseKind::Iterations) {
        if (is_inside_iteration())
            hooks_.events->add_inner(phase.number, phase.iteration_walls.size(), phase.opened_at, now);
        else
            hooks_.events->end_iteration(now);
    }
    const std::uint64_t wall = now - phase.opened_at;
    phase.wall_inclusive_ns += wall;
    return wall;
}

void PhaseStack::end_iteration(Phase& phase, std::uint64_t wall_ns, std::uint64_t at) noexcept {
    const std::uint64_t numbered = phase.iteration_walls.size();
    phase.close_interval(*tree_, *arena_);
    iterations_.close(phase, wall_ns, at, hooks_.events == nullptr); // that one asks about clusters
    const bool has_number = phase.iteration_walls.size() != numbered;
    phase.inside.close_iteration(phase.iteration_walls.size(), has_number, *pool_);
    if (phase.order != nullptr && has_number) hooks_.order->append(*phase.order, numbered);
    if (hooks_.events != nullptr)
        hooks_.events->decide(phase.number, numbered, wall_ns, has_number, [&](const PartKey& before) {
            Clusterer* const clusters = phases_[before.phase].clusterer;
            return clusters != nullptr && clusters->is_alone(static_cast<std::uint32_t>(before.number));
        });
    phase.inside.leave(phase.inner());
}

void PhaseStack::pop(std::uint64_t now, std::uint64_t cpu_now) noexcept {
    end_left();
    Phase& phase = top();
    const std::uint64_t wall = close_top(now, cpu_now);
    if (phase.kind == PhaseKind::Iterations)
        end_iteration(phase, wall, now);
    else
        phase.inside.leave(phase.inner());
}

bool PhaseStack::leave_at(std::uint64_t at, std::uint64_t cpu_then) noexcept {
    if (left_count_ == most_left || time_.is_paused() || top().kind != PhaseKind::Iterations) return false;
    Phase& phase = top();
    time_.end_polls(at);
    if (at < time_.earliest_end()) at = time_.earliest_end();
    left_[left_count_++] = {&phase, close_top(at, cpu_then), at};
    return true;
}

void PhaseStack::end_left() noexcept {
    for (std::uint32_t i = 0; i < left_count_; ++i) end_iteration(*left_[i].phase, left_[i].wall_ns, left_[i].at);
    left_count_ = 0;
}

void PhaseStack::begin(PhaseKind kind, const char* name, std::uint64_t now, std::uint64_t cpu_now) noexcept {
    begin(phases_.find(kind, name), kind, name, now, cpu_now);
}

/// `phase`: nullptr if there is none of this name yet.
void PhaseStack::begin(Phase* phase, PhaseKind kind, const char* name, std::uint64_t now, std::uint64_t cpu_now) noexcept {
    end_left();
    if (phase == nullptr) phase = phases_.create(kind, name);
    if (phase == nullptr) return;
    if (phase->open) {
        repairs_.note("begin of the already open", name);
        while (phase->open) pop(now, cpu_now);
    }
    if (depth_ == max_depth) return repairs_.note("nesting too deep at the begin of", name);
    close_segment(now, cpu_now);
    enter(*phase);
    const bool is_part = hooks_.events != nullptr && kind == PhaseKind::Iterations && !is_inside_iteration();
    stack_[depth_++] = phase;
    phase->open = true;
    phase->opened_at = now;
    ++phase->instances;
    if (hooks_.order != nullptr && kind == PhaseKind::Iterations) hooks_.order->begin(phase->order, now);
    if (is_part) hooks_.events->begin_iteration(phase->number, phase->iteration_walls.size(), now);
    if (hooks_.log != nullptr) hooks_.log->add({now, phase->name, kind, true});
}

void PhaseStack::end(PhaseKind kind, const char* name, std::uint64_t now, std::uint64_t cpu_now) noexcept {
    Phase* phase = phases_.find(kind, name);
    if (phase == nullptr && losses() != 0) return; // its begin was refused
    if (phase == nullptr || !phase->open) return repairs_.note("end without begin of", name);
    end_open(*phase, name, now, cpu_now);
}

void PhaseStack::end_open(const Phase& phase, const char* name, std::uint64_t now, std::uint64_t cpu_now) noexcept {
    if (&top() != &phase) repairs_.note("something inside still open at the end of", name);
    while (phase.open) pop(now, cpu_now);
}

void PhaseStack::next_iteration(const char* name, std::uint64_t now, std::uint64_t cpu_now) noexcept {
    Phase* phase = phases_.find(PhaseKind::Iterations, name);
    if (phase != nullptr && phase->open) end_open(*phase, name, now, cpu_now);
    begin(phase, PhaseKind::Iterations, name, now, cpu_now);
}

void PhaseStack::end_if_open(PhaseKind kind, const char* name, std::uint64_t now, std::uint64_t cpu_now) noexcept {
    const Phase* phase = phases_.find(kind, name);
    if (phase != nullptr && phase->open) end_open(*phase, name, now, cpu_now);
}

void PhaseStack::settle(std::uint64_t now, std::uint64_t cpu_now) noexcept {
    end_left();
    iterations_.do_pending_work();
    close_segment(now, cpu_now);
    for (std::size_t i = 0; i < phases_.size(); ++i) phases_[i].close_interval(*tree_, *arena_);
}

PhaseStack::Unsettled PhaseStack::keep(std::uint64_t now) noexcept {
    iterations_.do_pending_work();
    time_.end_polls(now);
    const Phase& phase = top();
    Unsettled kept;
    const NodeId changed[Unsettled::changed_rows] = {tree_->overhead(), tree_->off_cpu(), tree_->not_sampled()};
    for (std::size_t i = 0; i < Unsettled::changed_rows; ++i) {
        Row& value = row(changed[i]);
        kept.values[i] = {&value, value[Metric::Time]};
    }
    kept.wall_ns = phase.wall_ns;
    kept.outside_ns = phase.outside.wall_ns;
    kept.outside_cpu_ns = phase.outside.cpu_ns;
    kept.away_ns = phase.outside.away_ns;
    kept.sampled_ns = phase.outside.sampled_ns;
    kept.generation = row_generation_;
    kept.time = time_;
    return kept;
}

void PhaseStack::put_back(const Unsettled& kept) noexcept {
    Phase& phase = top();
    for (const Unsettled::Value& value : kept.values) (*value.row)[Metric::Time] = value.time;
    phase.wall_ns = kept.wall_ns;
    phase.outside.wall_ns = kept.outside_ns;
    phase.outside.cpu_ns = kept.outside_cpu_ns;
    phase.outside.away_ns = kept.away_ns;
    phase.outside.sampled_ns = kept.sampled_ns;
    row_generation_ = kept.generation; // rows have not moved
    time_ = kept.time;
}

void PhaseStack::finish(std::uint64_t now, std::uint64_t cpu_now) noexcept {
    while (depth_ > 1) {
        repairs_.note("never ended:", top().name);
        pop(now, cpu_now);
    }
    settle(now, cpu_now);
    top().wall_inclusive_ns = now - top().opened_at;
    time_.resume();
}

} // namespace libprofile
