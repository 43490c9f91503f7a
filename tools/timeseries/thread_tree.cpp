#include "tools/timeseries/thread_tree.hpp"

#include <algorithm>
#include <utility>

namespace libprofile::tools {

double sampling_period(const Trace& trace) {
    std::vector<std::uint64_t> between, all;
    auto wait = trace.waits.begin();
    for (std::size_t i = 1; i < trace.samples.size(); ++i) {
        const std::uint64_t from = trace.samples[i - 1].time_ns, to = trace.samples[i].time_ns;
        while (wait != trace.waits.end() && wait->begin_ns < from) ++wait;
        const bool has_slept = wait != trace.waits.end() && wait->end_ns <= to; // no sample hit in that wait
        (has_slept ? all : between).push_back(to - from);
    }
    if (between.empty()) between = std::move(all); // of waits only: the best that is known
    if (between.empty()) return 0;
    const auto middle = between.begin() + static_cast<std::ptrdiff_t>(between.size() / 2);
    std::nth_element(between.begin(), middle, between.end());
    return static_cast<double>(*middle);
}

namespace {

/// The innermost context that goes on from one entry to the next. A wait is a whole call, so it neither goes on nor has gone on.
ContextId common_context(const Contexts& contexts, ContextId before, bool was_wait, ContextId context, const TraceEntry& entry) {
    ContextId common = contexts.common(before, context, entry.activations);
    for (const auto& [wait, is_wait] : {std::pair(before, was_wait), std::pair(context, entry.is_wait)})
        if (is_wait && wait != 0 && contexts[common].level >= contexts[wait].level) common = contexts.at_level(common, contexts[wait].level - 1);
    return common;
}

} // namespace

ThreadTree thread_tree(const Trace& trace, const Contexts& contexts, const KnownLoops& known, const FlowOrder& order, const TimeSeriesParameters& parameters,
                       LoopForm form) {
    ThreadTree tree;
    const double period = sampling_period(trace);
    const Clustering clustering(order, period, parameters);
    std::function<void(EndedLoop)> ended;
    if (form != LoopForm::Children)
        ended = [&](EndedLoop loop) {
            const ContextId context = loop.node.context;
            const double duration = loop.node.duration;
            tree.loops.push_back({context, loop.begin, duration, identify_iterations(loop, order, period, parameters)});
            if (form == LoopForm::Clusters) clustering.cluster_iterations(loop.node);
        };
    TreeBuilder builder(contexts, std::move(ended));

    const std::vector<TraceEntry> entries = trace_entries(trace, contexts);
    double begin = entries.empty() ? 0 : entries[0].is_wait ? entries[0].begin : std::max(0.0, entries[0].begin - period / 2);
    tree.begin = begin;
    ContextId before = 0;
    for (std::size_t i = 0; i < entries.size(); ++i) {
        const TraceEntry& entry = entries[i];
        const double time = entry.time();
        double end = entry.is_wait ? entry.end : entry.end + period / 2, next_begin = end;
        if (i + 1 < entries.size()) {
            const TraceEntry& next = entries[i + 1];
            const double between = next.begin - entry.end;
            next_begin = next.is_wait ? next.begin : next.begin - period / 2;
            if (between <= 2 * period) {
                if (!entry.is_wait) end = next.is_wait ? next.begin : entry.end + between / 2;
                if (!next.is_wait) next_begin = end;
            }
            if (!known.empty())
                if (const auto border = known.border(entry.end, next.begin)) {
                    if (!entry.is_wait) end = *border;
                    if (!next.is_wait) next_begin = *border;
                }
        }
        ContextId context = contexts.seen(entry.path);
        if (!known.empty()) context = known.context_at(context, time);
        const ContextId common = i == 0 ? 0 : common_context(contexts, before, entries[i - 1].is_wait, context, entry);
        builder.add(context, common, begin, end, known.empty() ? TreeBuilder::Iterations{} : known.at(time));
        begin = next_begin;
        before = context;
    }
    tree.root = builder.finish();
    return tree;
}

} // namespace libprofile::tools
