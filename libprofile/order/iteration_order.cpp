#include "libprofile/order/iteration_order.hpp"

#include <new>

namespace libprofile {

IterationOrder* IterationOrder::create(bool& is_running, std::uint64_t limit, const CallTree& tree, Arena& arena, Pool& pool) noexcept {
    void* memory = arena.allocate(sizeof(IterationOrder), alignof(IterationOrder));
    return memory == nullptr ? nullptr : new (memory) IterationOrder(is_running, limit, tree, arena, pool);
}

/// So many iterations are open. Events count in the innermost, if it has a buffer.
void IterationOrder::go_to(std::uint32_t depth) noexcept {
    depth_ = depth;
    current_ = depth == 0 ? nullptr : levels_[depth - 1].events;
    *is_running_ = current_ != nullptr;
}

void IterationOrder::begin(PhaseOrder*& order, std::uint64_t now) noexcept {
    if (depth_ == most_levels) return; // no phase nests as deep
    if (order == nullptr) order = arena_->make<PhaseOrder>();
    Level& level = levels_[depth_];
    if (level.events == nullptr) level.events = EventBuffer::create(*arena_);
    if (level.events != nullptr) level.events->begin();
    level.order = order;
    level.began_at = now;
    level.is_known = follows_ && order != nullptr && level.events != nullptr;
    go_to(depth_ + 1);
}

void IterationOrder::end(std::uint64_t hash, std::uint32_t phase, std::uint64_t now) noexcept {
    if (depth_ == 0) return;
    const Level& ended = levels_[depth_ - 1];
    std::uint32_t number = 0;
    SequenceHash hash_of_ended;
    if (ended.is_known) {
        hash_of_ended = ended.events->hash().mixed();
        number = ended.order->sequences.add(hash_of_ended, *ended.events, ended.began_at, memory_, *arena_);
        if (number == 0) ++ended.order->unnumbered;
    }
    if (ended.order != nullptr) ended.order->ended = number;
    go_to(depth_ - 1);
    if (depth_ == 0) return;
    Level& around = levels_[depth_ - 1];
    around.is_known = around.is_known && ended.is_known;
    if (!around.is_known) return;
    around.events->hash().add_inner(hash, hash_of_ended);
    around.events->add(OrderKey::of_iteration(phase, number), ended.began_at, now - ended.began_at);
}

} // namespace libprofile
