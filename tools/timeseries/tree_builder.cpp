#include "tools/timeseries/tree_builder.hpp"

#include <algorithm>
#include <utility>

namespace libprofile::tools {

namespace {
constexpr std::uint32_t no_iteration = 0xffffffff;
}

std::uint32_t TreeBuilder::iteration_in(ContextId context, const Iterations& iterations) {
    for (const auto& [loop, iteration] : iterations)
        if (loop == context) return iteration;
    return no_iteration;
}

void TreeBuilder::open(ContextId context, double begin, const Iterations& iterations) {
    Open& o = open_.emplace_back();
    o.node.context = context;
    const ContextKind kind = (*contexts_)[context].kind;
    o.node.kind = kind == ContextKind::Loop || kind == ContextKind::Known ? TimeKind::Loop : TimeKind::Call;
    o.begin = o.inside_until = begin;
    o.is_known = kind == ContextKind::Known;
    if (o.is_known) o.iteration = iteration_in(context, iterations);
}

/// Closes all nodes at this level and further inside.
void TreeBuilder::close(std::uint32_t level, double end) {
    while (open_.size() > level) {
        Open closed = std::move(open_.back());
        open_.pop_back();
        TimeNode& node = closed.node;
        set_duration(node, end - closed.begin);
        node.tail = end - closed.inside_until;
        if (node.kind == TimeKind::Loop && ended_) ended_({node, closed.begin, closed.known});
        if (open_.empty()) { // the root
            open_.push_back(std::move(closed));
            return;
        }
        Open& parent = open_.back();
        node.gap = closed.begin - parent.inside_until;
        parent.inside_until = end;
        if (parent.is_known) parent.known.push_back(parent.iteration);
        parent.node.children.push_back(std::move(node));
    }
}

void TreeBuilder::add(ContextId context, ContextId common, double begin, double end, const Iterations& iterations) {
    if (open_.empty())
        open(0, begin, iterations);
    else {
        std::uint32_t stays = (*contexts_)[common].level; // as long as these are the open ones
        stays = std::min(stays, static_cast<std::uint32_t>(open_.size()) - 1);
        for (std::uint32_t level = 1; level <= stays; ++level)
            if (open_[level].is_known && open_[level].iteration != iteration_in(open_[level].node.context, iterations)) {
                close(level + 1, until_);
                open_[level].iteration = iteration_in(open_[level].node.context, iterations);
                stays = level;
            }
        close(stays + 1, until_);
    }
    for (ContextId id = context; (*contexts_)[id].level >= open_.size(); id = (*contexts_)[id].parent) to_open_.push_back(id);
    for (; !to_open_.empty(); to_open_.pop_back()) open(to_open_.back(), begin, iterations);
    until_ = end;
}

TimeNode TreeBuilder::finish() {
    if (open_.empty()) return {};
    close(0, until_);
    TimeNode root = std::move(open_.back().node);
    open_.clear();
    return root;
}

} // namespace libprofile::tools
