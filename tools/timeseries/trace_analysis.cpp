#include "tools/timeseries/trace_analysis.hpp"

#include "tools/timeseries/actual_iterations.hpp"

#include <algorithm>
#include <unordered_map>

namespace libprofile::tools {

namespace {

/// Times of main threads in some contexts, over the whole run.
class ThreadTimes {
  public:
    ThreadTimes(const JobSeries& series, const std::vector<ContextId>& wanted) : series_(series) {
        for (std::size_t w = 0; w < wanted.size(); ++w) row_.emplace(wanted[w], w);
        std::vector<std::vector<std::size_t>> rows_of(series.contexts.size()); // by context: those wanted ones that it lies in
        for (ContextId id = 0; id < rows_of.size(); ++id) {                    // parents come first
            if (id != 0) rows_of[id] = rows_of[series.contexts[id].parent];
            if (const auto at = row_.find(id); at != row_.end()) rows_of[id].push_back(at->second);
        }
        times_.assign(wanted.size(), std::vector<double>(series.threads.size()));
        for (std::size_t t = 0; t < series.threads.size(); ++t) {
            const Trace& trace = series.threads[t]->trace;
            const double period = sampling_period(trace);
            for (const TraceEntry& entry : trace_entries(trace, series.contexts))
                for (const std::size_t row : rows_of[series.contexts.seen(entry.path)]) times_[row][t] += entry.is_wait ? entry.end - entry.begin : period;
        }
    }

    /// Ranks beyond the middle between the mean and the extreme.
    std::vector<std::uint32_t> extreme(ContextId context, bool is_longest) const {
        const std::vector<double>& times = times_[row_.at(context)];
        double mean = 0;
        for (const double time : times) mean += time / static_cast<double>(times.size());
        const double end = is_longest ? *std::max_element(times.begin(), times.end()) : *std::min_element(times.begin(), times.end());
        std::vector<std::uint32_t> ranks;
        for (std::size_t t = 0; t < times.size(); ++t)
            if (end != mean && (times[t] - mean) / (end - mean) >= 0.5) ranks.push_back(series_.threads[t]->rank);
        return ranks;
    }

  private:
    const JobSeries& series_;
    std::unordered_map<ContextId, std::size_t> row_;
    std::vector<std::vector<double>> times_; // by row and thread
};

void find_segments(const Profile& profile, TraceAnalysis& analysis, const TimeSeriesParameters& parameters) {
    const JobSeries& series = analysis.series;
    const std::vector<NodeLoss> losses = node_losses(profile, series.contexts, series.mean);
    const std::vector<SignificantPath> paths = significant_paths(losses, analysis.run_ns, parameters);
    std::vector<ContextId> wanted;
    for (const SignificantPath& path : paths) wanted.push_back(losses[path.loss].node->context);
    std::sort(wanted.begin(), wanted.end());
    wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
    const ThreadTimes times(series, wanted);
    for (const Segment& segment : segments(losses, paths, analysis.run_ns, parameters)) {
        LostSegment& lost = analysis.segments.emplace_back();
        lost.sign = segment.sign;
        lost.imb = segment.imb;
        lost.sum_imb = segment.sum_imb;
        lost.sum_wait = segment.sum_wait;
        lost.has_synchronisation = segment.synchronisation.has_value();
        for (const SignificantPath& path : segment.paths) {
            const NodeLoss& loss = losses[path.loss];
            const ContextId context = loss.node->context;
            lost.paths.push_back({context, loss.node_class, path.by_imbalance, path.by_waiting, loss.imb, loss.wait, {}});
            if (path.by_imbalance) lost.paths.back().ranks = times.extreme(context, loss.node_class != NodeClass::Synchronisation);
        }
    }
}

/// Samples on call paths of which some function's loops are not known.
void count_unknown(const Profile& profile, const BinaryLoops& loops, TraceAnalysis& analysis) {
    constexpr std::uint32_t not_asked = 0xffffffff;
    std::vector<std::uint32_t> unknown(profile.paths.size(), not_asked); // the outermost such call path; 0: there is none
    std::vector<std::uint32_t> open;
    std::unordered_map<std::uint32_t, std::uint64_t> samples; // by site
    std::unordered_map<std::uint32_t, std::uint32_t> path_of_site;
    unknown[0] = 0;
    for (const Location* thread : analysis.series.threads)
        for (const TraceSample& sample : thread->trace.samples) {
            for (std::uint32_t path = sample.path; unknown[path] == not_asked; path = profile.paths[path].parent) open.push_back(path);
            for (; !open.empty(); open.pop_back()) {
                const CallPath& path = profile.paths[open.back()];
                const Site* site = path.kind == NodeKind::Frame ? &profile.sites[path.target] : nullptr;
                unknown[open.back()] = unknown[path.parent] != 0                                          ? unknown[path.parent]
                                       : site != nullptr && !loops.is_known({site->module, site->offset}) ? open.back()
                                                                                                          : 0;
            }
            const std::uint32_t path = unknown[sample.path];
            if (path == 0) continue;
            ++analysis.unknown_loop_paths;
            path_of_site.emplace(profile.paths[path].target, path);
            if (const std::uint64_t n = ++samples[profile.paths[path].target];
                analysis.unknown_path == 0 || n > samples[profile.paths[analysis.unknown_path].target])
                analysis.unknown_path = path_of_site[profile.paths[path].target];
        }
}

} // namespace

bool has_trace(const Profile& profile) {
    return std::any_of(profile.locations.begin(), profile.locations.end(),
                       [](const Location& location) { return location.thread == 0 && !location.trace.samples.empty(); });
}

TraceAnalysis analyse_trace(const Profile& profile, const BinaryLoops& loops, const TimeSeriesParameters& parameters) {
    std::vector<const Location*> threads;
    std::uint64_t others = 0;
    for (const Location& location : profile.locations) {
        if (location.thread == 0)
            threads.push_back(&location);
        else
            others += !location.trace.samples.empty();
    }
    TraceAnalysis analysis{job_series({profile, threads, &loops, nullptr}, parameters), 0, {}, {}, 1, others, 0, 0, parameters};
    const JobSeries& series = analysis.series;
    analysis.run_ns = series.mean.high;
    for (const Location* thread : series.threads) analysis.stride = std::max(analysis.stride, thread->trace.stride);
    find_segments(profile, analysis, parameters);
    const std::map<ContextId, std::uint64_t> actual = actual_iterations(profile, series.threads, series.contexts, loops);
    for (const LoopTotals& totals : series.loops) {
        const auto known = actual.find(totals.context);
        analysis.loops.push_back({totals, known == actual.end() ? std::nullopt : std::optional(known->second)});
    }
    count_unknown(profile, loops, analysis);
    return analysis;
}

} // namespace libprofile::tools
