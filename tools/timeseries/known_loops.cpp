#include "tools/timeseries/known_loops.hpp"

#include <algorithm>

namespace libprofile::tools {

const TimeSpan* KnownLoops::find(const Loop& loop, double time) {
    const auto after = std::upper_bound(loop.iterations.begin(), loop.iterations.end(), time, [](double t, const TimeSpan& span) { return t < span.begin; });
    if (after == loop.iterations.begin()) return nullptr;
    const TimeSpan& span = *(after - 1);
    return time < span.end ? &span : nullptr;
}

KnownLoops::KnownLoops(Contexts& contexts, const Trace& trace, const std::vector<KnownIterations>& known) {
    if (known.empty()) return;
    const std::vector<TraceEntry> entries = trace_entries(trace, contexts);
    for (const KnownIterations& given : known) {
        Loop loop;
        loop.iterations = given.iterations;
        std::vector<ContextId> in_loop;
        std::optional<ContextId> common, before; // `before`: of the entry before, if that was in the loop
        for (const TraceEntry& entry : entries) {
            const double time = entry.time();
            if (find(loop, time) == nullptr) {
                before.reset();
                continue;
            }
            const ContextId context = context_at(contexts.of_sample(entry.path), time);
            in_loop.push_back(context);
            if (before) {
                const ContextId shared = contexts.common(*before, context, entry.activations);
                common = common ? contexts.common(*common, shared, all_activations) : shared;
            }
            before = context;
        }
        if (!common) continue;
        std::sort(in_loop.begin(), in_loop.end());
        in_loop.erase(std::unique(in_loop.begin(), in_loop.end()), in_loop.end());
        for (const ContextId context : in_loop) common = contexts.common(*common, context, all_activations);
        loop.replaced = *common;
        for (const ContextId context : in_loop) loop.inside.emplace(context, contexts.inside(context, *common, given.phase));
        loop.context = contexts.inside(*common, *common, given.phase);
        loops_.push_back(std::move(loop));
    }
}

ContextId KnownLoops::context_at(ContextId context, double time) const {
    for (const Loop& loop : loops_) {
        if (find(loop, time) == nullptr) continue;
        const auto inside = loop.inside.find(context);
        if (inside != loop.inside.end()) context = inside->second;
    }
    return context;
}

TreeBuilder::Iterations KnownLoops::at(double time) const {
    TreeBuilder::Iterations iterations;
    for (const Loop& loop : loops_)
        if (const TimeSpan* span = find(loop, time)) iterations.emplace_back(loop.context, static_cast<std::uint32_t>(span - loop.iterations.data()));
    return iterations;
}

std::optional<double> KnownLoops::border(double one, double other) const {
    std::optional<double> first;
    const auto look = [&](double time) {
        if (time > one && time <= other && (!first || time < *first)) first = time;
    };
    for (const Loop& loop : loops_) {
        const auto after = std::upper_bound(loop.iterations.begin(), loop.iterations.end(), one, [](double t, const TimeSpan& span) { return t < span.begin; });
        if (after != loop.iterations.begin()) look((after - 1)->end);
        if (after != loop.iterations.end()) look(after->begin);
    }
    return first;
}

} // namespace libprofile::tools
