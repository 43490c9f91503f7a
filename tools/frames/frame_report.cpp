#include "tools/frames/frame_report.hpp"

#include "tools/frames/call_graph.hpp"
#include "tools/frames/frame_words.hpp"
#include "tools/frames/hot_path.hpp"
#include "tools/frames/imbalance.hpp"
#include "tools/frames/shape.hpp"
#include "tools/names/labels.hpp"
#include "tools/text/phrases.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <numeric>

namespace libprofile::tools {

namespace {

constexpr std::size_t report_functions = 12, report_nodes = 30, sentence_functions = 3;

/// Whole numbers are printed as such.
ReportValue report_value(double value) {
    constexpr double largest_exact = 9007199254740992;
    if (value != std::floor(value) || std::abs(value) > largest_exact) return value;
    return value < 0 ? ReportValue(static_cast<std::int64_t>(value)) : ReportValue(static_cast<std::uint64_t>(value));
}

std::string place_words(const Frame& frame, std::uint32_t node) {
    const std::string file = base_name(frame.texts[frame.nodes.file[node]]);
    return frame.nodes.line[node] == 0 ? printable(file) : fmt::format("{}:{}", printable(file), frame.nodes.line[node]);
}

/// How unequal the ranks are at one node: the highest rank, and how much more it has than the mean.
struct Inequality {
    double mean = 0, max = 0;
    std::uint32_t rank = 0, thread = 0;

    double excess() const { return mean > 0 ? max / mean - 1 : 0; }
};

/// By node; of no places where the node has no value.
std::vector<Inequality> inequalities(const Frame& frame, const FrameColumn& column, bool inclusive, Over over) {
    const PlaceValues values(frame, column, inclusive, over);
    std::vector<Inequality> result(frame.nodes.size());
    std::vector<double> row(frame.nodes.size());
    std::vector<std::uint8_t> present(frame.nodes.size());
    RowBuffer buffer;
    for (std::size_t g = 0; g < values.groups(); ++g) {
        values.fill(g, row, present, buffer);
        for (std::size_t n = 0; n < row.size(); ++n) {
            Inequality& one = result[n];
            one.mean += row[n] / static_cast<double>(values.groups());
            if (g != 0 && row[n] <= one.max) continue;
            one.max = row[n];
            one.rank = values.rank(g);
            one.thread = values.thread(g);
        }
    }
    return result;
}

class FrameReport {
  public:
    FrameReport(const Frame& frame, const FrameReportChoice& choice)
        : frame_(by_function(frame)), flat_(flattened(frame_, GroupBy::Function)), choice_(choice),
          main_(choice.metrics.empty() ? main_column(frame_) : frame_.column(choice.metrics[0])), name_(printable(main_.metric)) {
        if (choice.metrics.empty()) metrics_ = {&main_};
        for (const std::string& name : choice.metrics) metrics_.push_back(&frame_.column(name));
        for (const FrameColumn* metric : metrics_) {
            own_.push_back(PlaceValues(frame_, *metric, false, Over::Thread).sums());
            inclusive_.push_back(PlaceValues(frame_, *metric, true, Over::Thread).sums());
        }
        all_ = inclusive_[0][0];
        if (!std::isfinite(all_)) throw FrameError(fmt::format("the values of {} are too large to be added up", name_));
        if (all_ == 0) throw FrameError(fmt::format("the profile has no {}: nothing was measured in what was chosen", name_));
        has_ranks_ = frame_.places.front().rank != frame_.places.back().rank;
    }

    ReportDocument document() {
        document_.title = printable(frame_.source);
        document_.facts.push_back(size_words(frame_));
        document_.facts.push_back(fmt::format("{} of {} in all", quantity(all_, main_.unit, {}), name_));
        document_.warnings.push_back(lack_words(frame_));
        for (const std::string& note : frame_.notes) document_.warnings.push_back(printable(note));
        add_properties();
        add_findings();
        add_functions();
        add_call_paths();
        return std::move(document_);
    }

  private:
    void add_properties() {
        document_.properties = {{"tool", frame_.tool}, {"source", frame_.source},     {"metric", main_.metric},
                                {"unit", main_.unit},  {"total", report_value(all_)}, {"locations", std::uint64_t{frame_.places.size()}}};
        std::string names;
        for (const FrameColumn& column : frame_.columns) names += (names.empty() ? "" : ", ") + column.metric;
        document_.properties.emplace_back("metrics", names);
        if (frame_.columns.size() > 1) document_.facts.push_back("metrics: " + printable(names));
    }

    std::string share_words(double value) const { return percent(value / all_); }

    void add_findings() {
        const std::vector<double> own = sums_over_places(flat_, main_.metric, false);
        const std::vector<std::uint32_t> order = by_weight(own);
        std::string most;
        for (std::size_t i = 0; i < std::min(sentence_functions, order.size()) && own[order[i]] > 0; ++i)
            most += fmt::format("{}{} {}", most.empty() ? "" : ", ", share_words(own[order[i]]), shown(flat_, order[i]));
        const std::string heading = fmt::format("Where does the {} go?", name_);
        document_.findings.emplace_back(heading, "most of their own: " + most);
        if (const std::vector<std::uint32_t> path = hot_path(frame_, main_.metric, {}); path.size() > 1) {
            const std::uint32_t end = path.back();
            document_.findings.emplace_back("",
                                            fmt::format("hot path: {}, which has {} with what it calls", path_words(path), share_words(inclusive_[0][end])));
        }
        const std::vector<bool> in_mpi = nodes_in_mpi(frame_);
        double mpi = 0;
        for (std::uint32_t n = 0; n < in_mpi.size(); ++n) mpi += in_mpi[n] ? own_[0][n] : 0;
        if (mpi != 0) document_.findings.emplace_back("", fmt::format("{} in functions of MPI, by their names, and in what these call", share_words(mpi)));
        add_imbalance();
    }

    void add_imbalance() {
        std::string heading = "Are the ranks equal?";
        for (const Over over : {Over::Rank, Over::Thread}) {
            const bool is_rank = over == Over::Rank;
            if (is_rank ? !has_ranks_ : !has_threads()) continue;
            const std::vector<Inequality> all = inequalities(flat_, flat_.column(main_.metric), false, over);
            const auto worst =
                std::max_element(all.begin(), all.end(), [](const Inequality& a, const Inequality& b) { return a.max - a.mean < b.max - b.mean; });
            const std::string where = is_rank ? fmt::format("rank {}", worst->rank) : fmt::format("rank {} thread {}", worst->rank, worst->thread);
            const auto node = static_cast<std::uint32_t>(worst - all.begin());
            if (!is_rank && !has_ranks_) heading = "Are the threads equal?";
            if (worst->mean < 0) continue; // of values that cancel each other
            if (worst->max <= worst->mean)
                document_.findings.emplace_back(heading, fmt::format("no function has more on one {} than on another", is_rank ? "rank" : "thread"));
            else
                document_.findings.emplace_back(heading, fmt::format("largest difference: {} has {} of its own on {}, {:.3g} times the mean ({})",
                                                                     shown(flat_, node), quantity(worst->max, main_.unit, {}), where, worst->max / worst->mean,
                                                                     quantity(worst->mean, main_.unit, {})));
            heading = "";
        }
    }

    bool has_threads() const {
        for (std::size_t p = 1; p < frame_.places.size(); ++p)
            if (frame_.places[p].rank == frame_.places[p - 1].rank) return true;
        return false;
    }

    std::string shown(const Frame& frame, std::uint32_t node) const { return node == 0 ? "(no call path)" : printable(short_name(frame, node)); }

    std::string path_words(const std::vector<std::uint32_t>& path) const {
        constexpr std::size_t most = 8;
        std::string words;
        for (std::size_t i = path.size() > most ? path.size() - most : 0; i < path.size(); ++i)
            words += (words.empty() ? (path.size() > most ? "... > " : "") : " > ") + shown(frame_, path[i]);
        return words;
    }

    static std::vector<std::uint32_t> by_weight(const std::vector<double>& weight) {
        std::vector<std::uint32_t> order(weight.size());
        std::iota(order.begin(), order.end(), 0u);
        std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return weight[a] > weight[b]; });
        return order;
    }

    std::size_t limit(std::size_t of_screen, std::size_t all) const {
        return std::min(all, choice_.top != 0 ? choice_.top : choice_.everything ? all : of_screen);
    }

    void add_columns(ReportTable& table, bool with_node) const {
        table.columns = {{"share", "share", ColumnUnit::Share}};
        for (const FrameColumn* metric : metrics_) {
            const ColumnUnit unit = unit_of(metric->unit);
            table.columns.push_back({metric->metric, metrics_.size() == 1 ? "own" : printable(metric->metric), unit});
            table.columns.push_back({metric->metric + "_inclusive", "incl.", unit});
        }
        const std::string of_ranks = has_ranks_ ? "highest" : "", over = has_ranks_ ? "over mean" : "";
        table.columns.insert(table.columns.end(), {{"highest_rank", of_ranks, ColumnUnit::Number},
                                                   {"over_mean", over, ColumnUnit::Change},
                                                   {"", "function", ColumnUnit::Name, false, 30},
                                                   {"place", "where", ColumnUnit::Text, false, 14},
                                                   {"name", "", ColumnUnit::Text},
                                                   {"kind", "", ColumnUnit::Text},
                                                   {"file", "", ColumnUnit::Text},
                                                   {"line", "", ColumnUnit::Number},
                                                   {"module", "", ColumnUnit::Text}});
        if (with_node) table.columns.insert(table.columns.end(), {{"node", "", ColumnUnit::Number}, {"parent", "", ColumnUnit::Number}});
    }

    /// @param own, inclusive by metric
    std::vector<ReportValue> row(const Frame& frame, std::uint32_t node, double share, const std::vector<double>& own, const std::vector<double>& inclusive,
                                 const Inequality& ranks) const {
        std::vector<ReportValue> cells = {share / all_};
        for (std::size_t m = 0; m < own.size(); ++m) {
            cells.push_back(report_value(own[m]));
            cells.push_back(report_value(inclusive[m]));
        }
        const bool is_told = has_ranks_ && ranks.mean > 0;
        cells.push_back(is_told ? ReportValue(std::uint64_t{ranks.rank}) : ReportValue());
        cells.push_back(is_told ? ReportValue(ranks.excess()) : ReportValue());
        const FrameNodes& nodes = frame.nodes;
        cells.insert(cells.end(),
                     {shown(frame, node), place_words(frame, node), printable(frame.name_of(node)), frame.texts[nodes.kind[node]],
                      printable(frame.texts[nodes.file[node]]), nodes.line[node] == 0 ? ReportValue() : ReportValue(std::uint64_t{nodes.line[node]}),
                      printable(frame.texts[nodes.module[node]])});
        return cells;
    }

    std::string rank_remark() const { return has_ranks_ ? "; highest: the rank with most, and how much more that is than the mean over ranks" : ""; }

    void add_functions() {
        ReportTable table{"functions", "Functions", "own value, sum over all places" + rank_remark(), {}, {}, {}, {}, 0, "functions"};
        add_columns(table, false);
        std::vector<CallGraph> graphs;
        for (const FrameColumn* metric : metrics_) graphs.push_back(call_graph(frame_, metric->metric, GroupBy::Function));
        const NodeGroups& groups = graphs[0].groups;
        const std::vector<Inequality> ranks = inequalities(flat_, flat_.column(main_.metric), false, Over::Rank);
        std::vector<std::uint32_t> order = by_weight(graphs[0].exclusive);
        std::erase_if(order, [&](std::uint32_t g) {
            return std::all_of(graphs.begin(), graphs.end(),
                               [&](const CallGraph& graph) { return graph.exclusive[g] == 0 && (g == 0 || graph.inclusive[g] == 0); });
        });
        const std::size_t count = limit(report_functions, order.size());
        for (std::size_t i = 0; i < count; ++i) {
            const std::uint32_t g = order[i];
            std::vector<double> own, inclusive;
            for (const CallGraph& graph : graphs) {
                own.push_back(graph.exclusive[g]);
                inclusive.push_back(g == 0 ? graph.exclusive[g] : graph.inclusive[g]); // what has no call path calls nothing
            }
            table.rows.push_back(row(frame_, groups.first[g], own[0], own, inclusive, ranks[g]));
        }
        table.left_out = order.size() - count;
        document_.tables.push_back(std::move(table));
    }

    void add_call_paths() {
        ReportTable table{"call_paths", "Call paths", "value with what is called, sum over all places" + rank_remark(), {}, {}, {}, {}, 0, "call paths"};
        add_columns(table, true);
        const std::vector<std::uint32_t>& parent = frame_.nodes.parent;
        std::vector<std::uint32_t> order = by_weight(inclusive_[0]);
        std::erase_if(order, [&](std::uint32_t n) { return inclusive_[0][n] == 0; });
        // A node and all above it: with values below 0 these may have less.
        std::vector<bool> is_shown(parent.size());
        std::size_t count = 0;
        const std::size_t most = limit(report_nodes, order.size());
        for (std::size_t i = 0; i < order.size() && count < most; ++i)
            for (std::uint32_t n = order[i]; !is_shown[n]; n = parent[n], ++count) is_shown[n] = true;
        std::vector<std::vector<std::uint32_t>> children(parent.size());
        for (const std::uint32_t n : by_weight(inclusive_[0]))
            if (n != 0 && is_shown[n]) children[parent[n]].push_back(n);
        const std::vector<Inequality> ranks = inequalities(frame_, main_, true, Over::Rank);
        std::vector<std::pair<std::uint32_t, std::uint32_t>> open = {{0, 0}}; // node and depth
        while (!open.empty()) {
            const auto [n, depth] = open.back();
            open.pop_back();
            std::vector<double> own, inclusive;
            for (std::size_t m = 0; m < metrics_.size(); ++m) {
                own.push_back(own_[m][n]);
                inclusive.push_back(inclusive_[m][n]);
            }
            std::vector<ReportValue> cells = row(frame_, n, inclusive[0], own, inclusive, ranks[n]);
            if (n == 0) cells[2 * metrics_.size() + 3] = printable(frame_.name_of(0));
            cells.emplace_back(std::uint64_t{n});
            cells.push_back(n == 0 ? ReportValue() : ReportValue(std::uint64_t{parent[n]}));
            table.rows.push_back(std::move(cells));
            table.indent.push_back(depth);
            for (auto child = children[n].rbegin(); child != children[n].rend(); ++child) open.emplace_back(*child, depth + 1);
        }
        table.left_out = order.size() - std::min(order.size(), count);
        document_.tables.push_back(std::move(table));
    }

    const Frame frame_, flat_; // functions; these side by side
    const FrameReportChoice& choice_;
    const FrameColumn& main_;
    const std::string name_; // of the main metric, as text shows it
    std::vector<const FrameColumn*> metrics_;
    std::vector<std::vector<double>> own_, inclusive_; // by metric, then node
    double all_ = 0;
    bool has_ranks_ = false;
    ReportDocument document_;
};

} // namespace

ReportDocument frame_report(const Frame& frame, const FrameReportChoice& choice) { return FrameReport(frame, choice).document(); }

} // namespace libprofile::tools
