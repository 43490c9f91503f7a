#include "tools/timeseries/run_strip.hpp"

#include <algorithm>
#include <cmath>

namespace libprofile::tools {

namespace {

/// Time that was spent in a context itself.
struct OwnTime {
    ContextId context = 0;
    double ns = 0;
};

/// Finds where most of some time was spent.
class Vote {
  public:
    explicit Vote(const Contexts& contexts) : contexts_(contexts), all_(contexts.size()), own_(contexts.size()), best_(contexts.size()) {}

    ContextId winner(const std::vector<OwnTime>& times) {
        if (times.empty()) return not_running;
        for (const OwnTime& time : times) {
            own_[time.context] += time.ns;
            for (ContextId id = time.context;; id = contexts_[id].parent) {
                if (all_[id] == 0) touched_.push_back(id);
                all_[id] += time.ns;
                if (id == 0) break;
            }
        }
        std::sort(touched_.begin(), touched_.end()); // of children with equal times, the first one
        for (const ContextId id : touched_)
            if (id != 0) {
                ContextId& best = best_[contexts_[id].parent];
                if (best == 0 || all_[id] > all_[best]) best = id;
            }
        ContextId at = 0;
        while (best_[at] != 0 && all_[best_[at]] > own_[at]) at = best_[at];
        for (const ContextId id : touched_) {
            all_[id] = own_[id] = 0;
            best_[id] = 0;
        }
        touched_.clear();
        return at;
    }

  private:
    const Contexts& contexts_;
    std::vector<double> all_, own_; // by context
    std::vector<ContextId> best_;   // by context: its child with most time; 0 if it has none
    std::vector<ContextId> touched_;
};

/// Calls `visit(context, begin, end)` for the times that are spent in nodes themselves, in the order of time.
template <class Visit> double visit_own_times(const TimeNode& node, double begin, const Visit& visit) {
    double at = begin;
    for (const TimeNode& child : node.children) {
        if (child.gap > 0) visit(node.context, at, at + child.gap);
        at = visit_own_times(child, at + child.gap, visit);
    }
    if (node.tail > 0) visit(node.context, at, at + node.tail);
    return at + node.tail;
}

/// No context lies inside itself, so none counts twice.
void add_times(const TimeNode& node, std::vector<double>& ns) {
    ns[node.context] += node.duration;
    for (const TimeNode& child : node.children) add_times(child, ns);
}

std::vector<StripSpan> spans(const std::vector<ContextId>& points) {
    std::vector<StripSpan> spans;
    for (const ContextId context : points) {
        if (spans.empty() || spans.back().context != context) spans.push_back({context, 0});
        ++spans.back().points;
    }
    return spans;
}

} // namespace

RunStrip run_strip(const JobSeries& series, const ClockAxis& axis, const LoopSource* loops, std::uint32_t points, const TimeSeriesParameters& parameters) {
    RunStrip strip;
    strip.points = points;
    strip.ns.resize(series.contexts.size());
    double last = 0;
    for (const Location* thread : series.threads) {
        double end = static_cast<double>(thread->trace.samples.back().time_ns) + sampling_period(thread->trace);
        if (!thread->trace.waits.empty()) end = std::max(end, static_cast<double>(thread->trace.waits.back().end_ns));
        last = std::max(last, axis.clock(thread->rank).place(end));
    }
    strip.point_ns = std::max(last / points, 1e-9);

    const FlowOrder order(series.contexts, loops);
    Vote vote(series.contexts);
    std::vector<std::vector<ContextId>> rows(series.threads.size(), std::vector<ContextId>(points, not_running));
    std::vector<OwnTime> here; // of the point that is being filled
    for (std::size_t t = 0; t < series.threads.size(); ++t) {
        const ThreadTree tree = thread_tree(series.threads[t]->trace, series.contexts, series.known[t], order, parameters, LoopForm::Children);
        add_times(tree.root, strip.ns);
        std::uint32_t point = 0;
        const auto finish_point = [&] {
            rows[t][point] = vote.winner(here);
            here.clear();
        };
        const ClockAxis::RankClock& clock = axis.clock(series.threads[t]->rank);
        const double end = visit_own_times(tree.root, tree.begin, [&](ContextId context, double from, double to) {
            from = clock.place(from);
            to = clock.place(to);
            while (from < to) {
                const auto at = static_cast<std::uint32_t>(std::clamp(from / strip.point_ns, 0.0, points - 1.0));
                if (at > point) {
                    finish_point();
                    point = at;
                }
                // The last point takes what rounding leaves.
                const double until = point + 1 == points ? to : std::min(to, std::max((point + 1) * strip.point_ns, std::nextafter(from, to)));
                here.push_back({context, until - from});
                from = until;
            }
        });
        finish_point();
        strip.begin.push_back(clock.place(tree.begin));
        strip.end.push_back(clock.place(end));
        strip.threads.push_back(spans(rows[t]));
    }
    std::vector<ContextId> row(points);
    for (const TimeCluster& cluster : series.clusters) {
        for (std::uint32_t point = 0; point < points; ++point) {
            here.clear();
            for (const std::uint32_t member : cluster.members)
                if (rows[member][point] != not_running) here.push_back({rows[member][point], 1});
            row[point] = vote.winner(here);
        }
        strip.clusters.push_back(spans(row));
    }
    return strip;
}

} // namespace libprofile::tools
