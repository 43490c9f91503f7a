#include "tools/timeseries/iteration_score.hpp"

#include <algorithm>
#include <cmath>

namespace libprofile::tools {

namespace {

bool begins_near(const std::vector<TimeSpan>& iterations, double begin, double tolerance) {
    const auto after = std::lower_bound(iterations.begin(), iterations.end(), begin, [](const TimeSpan& span, double time) { return span.begin < time; });
    return (after != iterations.end() && after->begin - begin <= tolerance) || (after != iterations.begin() && begin - (after - 1)->begin <= tolerance);
}

} // namespace

std::vector<IterationScore> iteration_scores(const Trace& trace, const Contexts& contexts, const KnownLoops& known, const FlowOrder& order,
                                             const TimeSeriesParameters& parameters) {
    std::vector<IterationScore> scores;
    if (known.empty()) return scores;
    const double period = sampling_period(trace);
    const ThreadTree tree = thread_tree(trace, contexts, {}, order, parameters, LoopForm::Iterations);
    for (const KnownLoops::Loop& loop : known.loops()) {
        if (contexts[loop.replaced].kind != ContextKind::Loop) continue;
        IterationScore score;
        score.loop = loop.replaced;
        score.known = loop.context;
        score.actual = loop.iterations.size();
        for (const LoopRun& run : tree.loops) {
            if (run.context != loop.replaced) continue;
            score.accepted += run.found.accepted;
            score.rejected += run.found.rejected;
            for (const double begin : run.found.begins) score.hits += begins_near(loop.iterations, begin, period);
        }
        scores.push_back(score);
    }
    return scores;
}

} // namespace libprofile::tools
