#include "tools/timeseries/thread_tree.hpp"

#include <algorithm>
#include <utility>

namespace libprofile::tools {

double sampling_period(const Trace& trace) {
    if (trace.samples.size() < 2) return 0;
    std::vector<std::uint64_t> between;
    between.reserve(trace.samples.size() - 1);
    for (std::size_t i = 1; i < trace.samples.size(); ++i) between.push_back(trace.samples[i].time_ns - trace.samples[i - 1].time_ns);
    const auto middle = between.begin() + static_cast<std::ptrdiff_t>(between.size() / 2);
    std::nth_element(between.begin(), middle, between.end());
    return static_cast<double>(*middle);
}

namespace {

/// Samples of which the outer end of the call path is not known say nothing of which calls have ended. They are left out.
std::vector<TraceSample> whole_paths(const std::vector<TraceSample>& samples, const Contexts& contexts) {
    std::vector<TraceSample> whole;
    bool is_after_partial = false;
    for (TraceSample sample : samples) {
        if (!std::exchange(is_after_partial, contexts.is_partial(sample.path))) {
            if (!is_after_partial) whole.push_back(sample);
            continue;
        }
        if (is_after_partial) continue;
        sample.lca_kind = LcaKind::Unknown; // it tells of the one that was left out
        whole.push_back(sample);
    }
    return whole;
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

    std::vector<TraceSample> whole; // only if some are not
    for (const TraceSample& sample : trace.samples)
        if (contexts.is_partial(sample.path)) {
            whole = whole_paths(trace.samples, contexts);
            break;
        }
    const std::vector<TraceSample>& samples = whole.empty() ? trace.samples : whole;
    double begin = 0;
    ContextId before = 0;
    for (std::size_t i = 0; i < samples.size(); ++i) {
        const double time = static_cast<double>(samples[i].time_ns);
        if (i == 0) begin = std::max(0.0, time - period / 2);
        double end = time + period / 2, next_begin = end;
        if (i + 1 < samples.size()) {
            const double next = static_cast<double>(samples[i + 1].time_ns), between = next - time;
            if (between <= 2 * period)
                end = next_begin = time + between / 2;
            else
                next_begin = next - period / 2;
            if (!known.empty())
                if (const auto border = known.border(time, next)) end = next_begin = *border;
        }
        ContextId context = contexts.seen(samples[i].path);
        if (!known.empty()) context = known.context_at(context, time);
        const ContextId common = i == 0 ? 0 : contexts.common(before, context, activations(samples[i]));
        builder.add(context, common, begin, end, known.empty() ? TreeBuilder::Iterations{} : known.at(time));
        begin = next_begin;
        before = context;
    }
    tree.root = builder.finish();
    return tree;
}

} // namespace libprofile::tools
