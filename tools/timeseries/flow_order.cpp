#include "tools/timeseries/flow_order.hpp"

namespace libprofile::tools {

FlowOrder::FlowOrder(const Contexts& contexts, const LoopSource* loops) : contexts_(&contexts), loops_(loops), first_(contexts.size()) {
    std::size_t pairs = 0;
    for (ContextId id = 0; id < contexts.size(); ++id) {
        const std::size_t children = contexts[id].children;
        first_[id] = pairs;
        if (children > 1 && children <= most_siblings) pairs += children * children;
    }
    pairs_ = std::make_unique<std::atomic<std::uint8_t>[]>(pairs);
}

bool FlowOrder::follows(ContextId earlier, ContextId later) const {
    if (earlier == later) return false;
    const Context &from = (*contexts_)[earlier], &to = (*contexts_)[later];
    const std::size_t children = (*contexts_)[from.parent].children;
    if (children > most_siblings) return ask(earlier, later);
    std::atomic<std::uint8_t>& pair = pairs_[first_[from.parent] + from.sibling * children + to.sibling];
    std::uint8_t known = pair.load(std::memory_order_relaxed);
    if (known == 0) {
        known = ask(earlier, later) ? 2 : 1; // asked twice at a time, the answer is the same
        pair.store(known, std::memory_order_relaxed);
    }
    return known == 2;
}

bool FlowOrder::ask(ContextId earlier, ContextId later) const {
    const Context &from = (*contexts_)[earlier], &to = (*contexts_)[later], &parent = (*contexts_)[from.parent];
    if (!from.has_place || !to.has_place || from.place.module != to.place.module) return from.sibling < to.sibling;
    if (loops_ != nullptr) {
        const Reach forward = loops_->reaches(parent.loop, from.place, to.place);
        if (forward == Reach::No) return false;
        // Both ways: they lie in a loop that is no context. Then a pass of it is meant.
        if (forward == Reach::Yes && (parent.loop != 0 || loops_->reaches(0, to.place, from.place) != Reach::Yes)) return true;
    }
    return from.place.offset != to.place.offset ? from.place.offset < to.place.offset : from.sibling < to.sibling;
}

} // namespace libprofile::tools
