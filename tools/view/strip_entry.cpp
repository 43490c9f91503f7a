#include "tools/view/strip_entry.hpp"

#include "tools/report/trace.hpp"
#include "tools/text/layout.hpp"
#include "tools/timeseries/run_strip.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace libprofile::tools {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t points_in_all = 400'000;
constexpr std::size_t least_points = 256, most_points = 4096; // of a row

/// Contexts as the page numbers them: those that spans or losses are in, with all around them. Parents come first.
class Numbering {
  public:
    explicit Numbering(const Contexts& contexts) : contexts_(contexts), is_used_(contexts.size()) { is_used_[0] = true; }
    void use(ContextId id) {
        for (; !is_used_[id]; id = contexts_[id].parent) is_used_[id] = true;
    }
    void finish() {
        number_.resize(is_used_.size());
        for (ContextId id = 0; id < is_used_.size(); ++id)
            if (is_used_[id]) {
                number_[id] = list_.size();
                list_.push_back(id);
            }
    }
    std::size_t operator[](ContextId id) const { return number_[id]; }
    const std::vector<ContextId>& list() const { return list_; }

  private:
    const Contexts& contexts_;
    std::vector<bool> is_used_;
    std::vector<std::size_t> number_;
    std::vector<ContextId> list_;
};

/// By call path, one in the function that it calls; 0 if there is none.
std::vector<std::uint32_t> callees(const Profile& profile) {
    std::vector<std::uint32_t> callee(profile.paths.size());
    for (std::uint32_t path = 1; path < profile.paths.size(); ++path) {
        if (!is_code(profile.paths[path].kind) || profile.paths[path].kind == NodeKind::Inlined) continue;
        std::uint32_t caller = profile.paths[path].parent;
        while (profile.paths[caller].kind == NodeKind::Inlined) caller = profile.paths[caller].parent;
        if (callee[caller] == 0) callee[caller] = path;
    }
    return callee;
}

/// What is known of the loss in one context, which may be significant in several places of the time series.
struct ContextLoss {
    LostPath sum;
    double weight() const { return (sum.by_imbalance ? sum.imb : 0) + (sum.by_waiting ? sum.wait : 0); }
};

std::vector<ContextLoss> losses_by_context(const TraceAnalysis& trace) {
    std::map<ContextId, ContextLoss> losses;
    for (const LostSegment& segment : trace.segments)
        for (const LostPath& lost : segment.paths) {
            LostPath& sum = losses[lost.context].sum;
            sum.context = lost.context;
            sum.node_class = lost.node_class;
            if (lost.by_imbalance) {
                sum.by_imbalance = true;
                sum.imb += lost.imb;
                sum.ranks = lost.ranks; // of the whole run, so always the same
            }
            if (lost.by_waiting) {
                sum.by_waiting = true;
                sum.wait += lost.wait;
            }
        }
    std::vector<ContextLoss> list;
    for (const auto& [context, loss] : losses) list.push_back(loss);
    std::stable_sort(list.begin(), list.end(), [](const ContextLoss& a, const ContextLoss& b) { return a.weight() > b.weight(); });
    return list;
}

} // namespace

std::uint32_t strip_points(std::size_t ranks) {
    return static_cast<std::uint32_t>(std::clamp(points_in_all / std::max<std::size_t>(ranks, 1), least_points, most_points));
}

Json strip_entry(const Profile& profile, const ClockAxis& axis, const PageTables& tables, Sections& sections) {
    if (!has_trace(profile)) return nullptr;
    const BinaryLoops loops(profile);
    const TraceAnalysis analysis = analyse_trace(profile, loops);
    const JobSeries& series = analysis.series;
    const RunStrip strip = run_strip(series, axis, &loops, strip_points(series.threads.size()));
    const TraceReport report{profile, analysis, loops};
    const ContextNames names(profile, series.contexts, loops);
    const std::vector<ContextLoss> losses = losses_by_context(analysis);

    Numbering numbers(series.contexts);
    for (const auto* rows : {&strip.threads, &strip.clusters})
        for (const std::vector<StripSpan>& row : *rows)
            for (const StripSpan& span : row)
                if (span.context != not_running) numbers.use(span.context);
    for (const ContextLoss& loss : losses) numbers.use(loss.sum.context);
    numbers.finish();

    // Rows of ranks, then of clusters. A context is its number plus 1; 0 is not running.
    NumberColumn contexts, points;
    Json spans = Json::array(), ranks = Json::array(), clusters = Json::array(), begin = Json::array(), end = Json::array();
    for (const auto* rows : {&strip.threads, &strip.clusters})
        for (const std::vector<StripSpan>& row : *rows) {
            spans.push_back(row.size());
            for (const StripSpan& span : row) {
                contexts.add(span.context == not_running ? 0 : numbers[span.context] + 1);
                points.add(span.points);
            }
        }
    for (std::size_t t = 0; t < series.threads.size(); ++t) {
        ranks.push_back(series.threads[t]->rank);
        begin.push_back(std::llround(strip.begin[t]));
        end.push_back(std::llround(strip.end[t]));
    }
    for (const TimeCluster& cluster : series.clusters) clusters.push_back(cluster_ranks(analysis, cluster));

    const std::vector<std::uint32_t> callee = callees(profile);
    Json parent = Json::array(), name = Json::array(), node = Json::array(), kind = Json::array(), time = Json::array();
    std::size_t top = 0; // the outermost context called "main"
    for (const ContextId id : numbers.list()) {
        const Context& context = series.contexts[id];
        parent.push_back(id == 0 ? -1 : static_cast<std::int64_t>(numbers[context.parent]));
        name.push_back(spelled({}, names.name(id)));
        if (top == 0 && name.back() == "main") top = numbers[id];
        std::uint32_t path = context.path;
        if (context.kind == ContextKind::Call && callee[path] != 0) path = callee[path];
        node.push_back(tables.cells.node_of_path[path]);
        kind.push_back(class_key(class_of(profile, context)));
        time.push_back(std::llround(strip.ns[id]));
    }
    Json significant = Json::array(), notes = Json::array();
    for (const ContextLoss& loss : losses)
        significant.push_back({{"context", numbers[loss.sum.context]}, {"text", spelled({}, lost_sentence(report, loss.sum))}, {"ranks", loss.sum.ranks}});
    notes.push_back(spelled({}, clusters_sentence(report)));
    for (const std::string& sentence : trace_untold(report)) notes.push_back(spelled({}, sentence));
    return {{"point", strip.point_ns},
            {"points", strip.points},
            {"period", series.period},
            {"ranks", ranks},
            {"begin", begin},
            {"end", end},
            {"clusters", clusters},
            {"spans", spans},
            {"contexts", sections.add(contexts)},
            {"lengths", sections.add(points)},
            {"top", top},
            {"tree", {{"parent", parent}, {"name", name}, {"node", node}, {"class", kind}, {"time", time}}},
            {"significant", significant},
            {"notes", notes}};
}

} // namespace libprofile::tools
