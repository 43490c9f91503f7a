#include "tools/analysis/bottom_up.hpp"

#include "tools/names/labels.hpp"
#include "tools/report/rows.hpp"
#include "tools/report/selected_part.hpp"
#include "tools/text/phrases.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <queue>

namespace libprofile::tools {

namespace {

constexpr std::size_t rows_shown = 30;
constexpr std::size_t most_rows = 50'000; // of all callers of all functions there may be the product of two large numbers
constexpr std::uint32_t deepest = 100;    // callers above a function, in a hostile profile

class BottomUpTable {
  public:
    explicit BottomUpTable(const SelectedPart& part) : part_(part), bottom_up_(part.tree, part.values) {}

    ReportTable table() {
        table_ = {"bottom_up", "Functions and their callers", "own values; below a function its callers, each with its part of them", {}, {}, {}, {}, 0,
                  "functions"};
        if (part_.values.untold != 0) table_.remark += "; the known part only, so a lower bound";
        choose();
        add_columns();
        for (std::uint32_t f = 0; f < bottom_up_.functions(); ++f)
            if (is_shown(f)) add_rows(f);
        return std::move(table_);
    }

    /// Nothing if all callers are there.
    std::string loss() const {
        return has_all_ ? ""
                        : fmt::format("the callers with most are listed, at most {} above a function and {} rows in all", deepest,
                                      count(static_cast<double>(most_rows)));
    }

  private:
    const BottomUp::Row& row(std::uint32_t r) const { return bottom_up_.rows()[r]; }
    bool is_shown(std::uint32_t r) const { return r < shown_.size() && shown_[r]; }

    /// The rows with most, whatever their depth. As text only those with own values.
    void choose() {
        const std::size_t most = part_.limit(rows_shown), all = most == 0 ? most_rows : most;
        const auto later = [&](std::uint32_t a, std::uint32_t b) {
            const std::uint64_t x = row(a).own[0].value, y = row(b).own[0].value;
            return x != y ? x < y : a > b;
        };
        std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, decltype(later)> next(later);
        std::size_t functions = 0, chosen = 0;
        for (std::uint32_t f = 0; f < bottom_up_.functions(); ++f) {
            if (row(f).own[0].value == 0 && most != 0) continue;
            next.push(f);
            ++functions;
        }
        const std::size_t wanted = functions;
        while (!next.empty()) {
            const std::uint32_t r = next.top();
            next.pop();
            if (chosen >= all && (most != 0 || row(r).depth != 0)) { // for programs all functions are there
                has_all_ = most != 0;
                continue;
            }
            if (shown_.size() <= r) shown_.resize(r + 1);
            shown_[r] = true;
            ++chosen;
            functions -= row(r).depth == 0 ? 1 : 0;
            if (row(r).depth == deepest) {
                has_all_ = most != 0;
                continue;
            }
            const auto [first, end] = bottom_up_.add_callers(r);
            callers_.resize(std::max<std::size_t>(callers_.size(), r + 1));
            callers_[r] = {first, end};
            for (std::uint32_t caller = first; caller < end; ++caller)
                if (most == 0 || row(caller).own[0].value != 0) next.push(caller);
            // A single caller with all of it is on the same line as what it calls.
            if (most != 0 && row(r).depth != 0 && joined(r) != BottomUp::none) --chosen;
        }
        table_.left_out = most == 0 ? 0 : std::min(functions, wanted);
    }

    /// As text: the only caller of a caller, which shares its line.
    std::uint32_t joined(std::uint32_t r) const {
        if (part_.form.everything || row(r).depth == 0 || r >= callers_.size()) return BottomUp::none;
        const auto [first, end] = callers_[r];
        const auto is_same = [](const BottomUp::Row& a, const BottomUp::Row& b) {
            return a.own[0].value == b.own[0].value && a.inclusive[0].value == b.inclusive[0].value;
        };
        return end == first + 1 && is_same(row(first), row(r)) ? first : BottomUp::none;
    }

    void add_columns() {
        auto& columns = table_.columns;
        columns = {{"share", "share", ColumnUnit::Share}};
        const std::size_t metrics = part_.found.rows.size();
        for (std::size_t m = 0; m < metrics; ++m) {
            const MetricRow& metric = part_.metric(m);
            columns.push_back({metric.name, metrics == 1 ? "own" : column_label(metric), unit_of(metric.unit)});
            columns.push_back({metric.name + "_inclusive", "incl.", unit_of(metric.unit)});
        }
        columns.insert(columns.end(), {{"estimated", "", ColumnUnit::Count},
                                       {"error", part_.has_errors() ? "+-" : "", unit_of(part_.metric(0).unit)},
                                       {"", "function", ColumnUnit::Name, false, 30},
                                       {"place", "where", ColumnUnit::Text, false, 14},
                                       {"name", "", ColumnUnit::Text},
                                       {"kind", "", ColumnUnit::Text}});
        if (part_.has_errors()) table_.remark += "; +-: of the own value; empty: not known";
    }

    /// A row and, below it, its callers.
    void add_rows(std::uint32_t function) {
        std::vector<std::pair<std::uint32_t, std::uint32_t>> stack = {{function, 0}}; // rows, and how far in they are
        while (!stack.empty()) {
            const auto [r, indent] = stack.back();
            stack.pop_back();
            std::uint32_t last = r;
            std::string name = (indent == 0 ? "" : "< ") + name_of(r);
            for (std::uint32_t above = joined(r); above != BottomUp::none && is_shown(above); above = joined(above)) {
                last = above;
                name += " < " + name_of(above);
            }
            add_row(r, name, indent);
            if (last >= callers_.size()) continue;
            const auto [first, end] = callers_[last];
            for (std::uint32_t caller = end; caller-- > first;)
                if (is_shown(caller)) stack.emplace_back(caller, indent + 1);
        }
    }

    std::string name_of(std::uint32_t r) const { return node_text(part_.tree.nodes[row(r).node]); }

    void add_row(std::uint32_t r, const std::string& name, std::uint32_t indent) {
        const BottomUp::Row& values = row(r);
        const FunctionNode& node = part_.tree.nodes[values.node];
        std::vector<ReportValue> cells = {share_of(part_.values, part_.metric(0), 0, values.own[0].value)};
        bool estimated = part_.values.untold != 0 && values.node != 0;
        for (std::size_t m = 0; m < values.own.size(); ++m) {
            cells.push_back(values.own[m].value);
            cells.push_back(values.inclusive[m].value);
            estimated = estimated || values.inclusive[m].estimated;
        }
        cells.push_back(std::uint64_t{estimated});
        const bool is_known = part_.has_errors() && (part_.values.untold == 0 || values.node == 0);
        cells.push_back(is_known ? error_of(values.own[0], part_.values).report_value() : ReportValue());
        cells.insert(cells.end(), {name, printable(node.source), values.node == 0 ? node_text(node) : printable(node.name), std::string(kind_name(node.kind))});
        table_.rows.push_back(std::move(cells));
        table_.indent.push_back(indent);
    }

    const SelectedPart& part_;
    BottomUp bottom_up_;
    ReportTable table_;
    std::vector<bool> shown_;                                      // by row
    std::vector<std::pair<std::uint32_t, std::uint32_t>> callers_; // by row: the first one and the one after the last
    bool has_all_ = true;
};

} // namespace

void add_bottom_up(const SelectedPart& part, ReportDocument& document) {
    BottomUpTable table(part);
    document.tables.push_back(table.table());
    if (const std::string loss = table.loss(); !loss.empty()) document.warnings.push_back(loss);
}

} // namespace libprofile::tools
