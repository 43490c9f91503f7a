#include "tools/report/selection.hpp"

#include "tools/analysis/findings.hpp"
#include "tools/names/labels.hpp"
#include "tools/report/rows.hpp"
#include "tools/report/selected_part.hpp"
#include "tools/text/phrases.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace libprofile::tools {

namespace {

constexpr std::size_t functions_shown = 12;
constexpr std::size_t nodes_shown = 30;
constexpr std::size_t ranks_shown = 8;

class SelectionReport {
  public:
    SelectionReport(const Profile& profile, const ReportChoice& choice, const SelectionForm& form)
        : profile_(profile), choice_(choice), form_(form), found_(find_choice(profile, choice)), all_rows_(metric_rows(profile)),
          locations_(locations_of(profile, choice.ranks, choice.threads)) {
        tree_ = make_function_tree(profile, locations_, !form.full_paths, choice.path);
        check_path(choice, tree_);
        total_rows_ = found_.rows;
        for (std::size_t r = 0; r < all_rows_.size() && choice.metrics.empty(); ++r)
            if (std::find(total_rows_.begin(), total_rows_.end(), r) == total_rows_.end()) total_rows_.push_back(r);
        std::sort(total_rows_.begin(), total_rows_.end());
        values_ =
            select_tree(profile, tree_, {locations_, found_.phase, choice.iterations.value_or(IterationRange{}), choice.exclusive, found_.rows, total_rows_});
        if (values_.inclusive[0][0].value == 0 && values_.untold != 0)
            throw SelectionError(
                fmt::format("not known ({}): {}; --exclusive leaves them out, --phase NAME shows one of them", scope(), untold_words(values_)));
        if (values_.inclusive[0][0].value == 0)
            throw SelectionError(fmt::format("nothing was measured in what was chosen: no {} ({}){}", printable(metric(0).label),
                                             scope().empty() ? "the whole profile" : scope(),
                                             has_region_time() ? "; regions have their own time: --metric region_time" : ""));
    }

    ReportDocument document() {
        document_ = document_of(profile_, choice_);
        add_facts();
        add_properties();
        ReportChoice whole = choice_;
        whole.top = 0;
        if (choice_.bottom_up || !choice_.source.empty()) return other_view();
        if (whole.is_whole())
            for (const Finding& finding : findings(profile_, main_threads(profile_)))
                for (std::size_t i = 0; i < finding.sentences.size(); ++i)
                    document_.findings.emplace_back(i == 0 ? finding.question : "", finding.sentences[i]);
        add_functions();
        add_call_paths();
        add_ranks();
        add_totals();
        add_hints();
        return std::move(document_);
    }

  private:
    /// Instead of the tables of functions and call paths.
    ReportDocument other_view() {
        const SelectedPart part{profile_, choice_, form_, found_, all_rows_, locations_, tree_, values_};
        if (choice_.bottom_up)
            add_bottom_up(part, document_);
        else
            add_source(part, document_);
        add_hints();
        return std::move(document_);
    }

    std::size_t metrics() const { return found_.rows.size(); }
    const MetricRow& metric(std::size_t m) const { return all_rows_[found_.rows[m]]; }
    bool has_region_time() const {
        for (std::size_t i = 0; i < total_rows_.size(); ++i)
            if (all_rows_[total_rows_[i]].name == "region_time" && values_.totals[i].value != 0) return true;
        return false;
    }
    std::string scope() const { return scope_of(profile_, choice_, found_); }
    bool several() const { return locations_.size() > 1; }
    /// For one location, or for all of them together.
    bool is_told(const MetricRow& row, std::uint64_t untold) const { return choice_.path.empty() ? is_known(row, untold) : untold == 0; }
    std::size_t limit(std::size_t of_screen) const { return choice_.top != 0 ? choice_.top : form_.everything ? 0 : of_screen; }
    ReportValue share(std::uint64_t value, std::size_t m) const { return share_of(values_, metric(m), m, value); }
    std::string at_least() const { return values_.untold == 0 ? "" : "; the known part only, so a lower bound"; }

    void add_facts() {
        const std::string of = scope();
        const double each = static_cast<double>(values_.time) / static_cast<double>(locations_.size());
        std::string line = fmt::format("{}: {}", of.empty() ? "all of the profile" : of, plural(locations_.size(), choice_.threads ? "thread" : "rank"));
        if (!choice_.threads && locations_.size() != profile_.job.ranks) line += fmt::format(" of {}", profile_.job.ranks);
        document_.facts.push_back(line + fmt::format(", {} each", duration(each, {})));
        if (!values_.exact_sums) document_.facts.push_back("the profile has no values of single iterations: sums are estimated from clusters");
        for (std::string& fact : inside_facts(values_)) document_.facts.push_back(std::move(fact));
    }

    void add_properties() {
        auto& p = document_.properties;
        p.emplace_back("scope", scope());
        p.emplace_back("phase", found_.phase == FoundChoice::all_phases ? ReportValue() : ReportValue(profile_.phases[found_.phase].name));
        const bool some = choice_.iterations.has_value();
        p.emplace_back("first_iteration", some ? ReportValue(choice_.iterations->first + 1) : ReportValue());
        p.emplace_back("last_iteration", some ? ReportValue(std::min(choice_.iterations->last + 1, found_.iterations)) : ReportValue());
        p.emplace_back("iterations", values_.iterations);
        const std::vector<std::uint64_t> ranks(choice_.ranks.begin(), choice_.ranks.end());
        p.emplace_back("ranks", ranks.empty() ? ReportValue() : ReportValue(number_ranges(ranks, ranks.size())));
        p.emplace_back("path", choice_.path.empty() ? ReportValue() : ReportValue(choice_.path));
        p.emplace_back("locations", std::uint64_t{locations_.size()});
        p.emplace_back("time", values_.time);
    }

    /// A line per metric.
    void add_totals() {
        ReportTable table{"totals", "Totals", several() ? "sum over ranks; per rank: lowest, median, highest" : "", {}, {}, {}, {}, 0, ""};
        if (choice_.threads) table.remark = "sum over threads; per thread: lowest, median, highest";
        table.columns = {{"metric", "", ColumnUnit::Text},      {"", "", ColumnUnit::Name, false, 20},   {"unit", "", ColumnUnit::Text},
                         {"total", "total", ColumnUnit::ByRow}, {"share", "of time", ColumnUnit::Share}, {"estimated", "", ColumnUnit::Count}};
        table.columns[1].label = "metric";
        if (several()) {
            for (const char* name : {"lowest", "median", "highest"}) table.columns.push_back({name, name, ColumnUnit::ByRow});
            table.columns.push_back({"highest_rank", "on rank", ColumnUnit::Number});
        }
        if (values_.iterations != 0) table.columns.push_back({"per_iteration", "per iteration", ColumnUnit::ByRow});
        for (std::size_t t = 0; t < total_rows_.size(); ++t) add_total(table, t);
        document_.tables.push_back(std::move(table));
    }

    void add_total(ReportTable& table, std::size_t t) const {
        const MetricRow& row = all_rows_[total_rows_[t]];
        const SelectedValue& sum = values_.totals[t];
        if (sum.value == 0 && choice_.metrics.empty()) return;
        const bool time = row.unit == "ns" && values_.time != 0;
        const bool told = is_told(row, values_.untold);
        const auto or_not_known = [&](ReportValue value) { return told ? std::move(value) : ReportValue(NotKnown()); };
        std::vector<ReportValue> cells = {row.name, printable(row.label), row.unit, or_not_known(sum.value)};
        cells.push_back(time ? or_not_known(static_cast<double>(sum.value) / static_cast<double>(values_.time)) : ReportValue());
        const bool is_exact = choice_.path.empty() && values_.exact_sums && (!values_.exact_times_only || row.name == "time");
        cells.push_back(std::uint64_t{sum.estimated && !is_exact});
        if (several()) {
            std::vector<std::uint64_t> each;
            for (const std::vector<std::uint64_t>& values : values_.by_location) each.push_back(values[t]);
            const auto highest = static_cast<std::size_t>(std::max_element(each.begin(), each.end()) - each.begin());
            const std::uint64_t most = each[highest];
            std::sort(each.begin(), each.end());
            cells.push_back(or_not_known(each.front()));
            cells.push_back(or_not_known(spread_of({each.begin(), each.end()}).median));
            cells.push_back(or_not_known(most));
            cells.push_back(told ? ReportValue(std::uint64_t{locations_[highest]->rank}) : ReportValue());
        }
        if (values_.iterations != 0) cells.push_back(or_not_known(static_cast<double>(sum.value) / static_cast<double>(values_.instances)));
        table.rows.push_back(std::move(cells));
        table.units.push_back(unit_of(row.unit));
        table.indent.push_back(choice_.metrics.empty() ? static_cast<std::uint32_t>(row.depth) : 0);
    }

    /// A line per rank, those farthest from the median first.
    void add_ranks() {
        if (!several()) return;
        ReportTable table{"ranks", choice_.threads ? "Threads" : "Ranks", "", {}, {}, {}, {}, 0, choice_.threads ? "threads" : "ranks"};
        table.columns = {{"rank", "rank", ColumnUnit::Number}};
        if (choice_.threads) table.columns.push_back({"thread", "thread", ColumnUnit::Number});
        const std::vector<std::size_t> columns = rank_columns();
        for (const std::size_t t : columns) {
            const MetricRow& row = all_rows_[total_rows_[t]];
            table.columns.push_back({row.name, column_label(row), unit_of(row.unit)});
        }
        table.columns.push_back({"from_median", "from median", ColumnUnit::Change, true});
        table.columns.push_back({"host", "host", ColumnUnit::Text, false, 10});
        // MPI, or the first metric.
        const std::size_t by = columns[columns.size() > 2 && choice_.metrics.empty() && values_.untold == 0 ? 1 : 0];
        const bool is_order_known = is_told(all_rows_[total_rows_[by]], values_.untold);
        std::vector<double> values;
        for (const std::vector<std::uint64_t>& all : values_.by_location) values.push_back(static_cast<double>(all[by]));
        const double median = spread_of(values).median;
        std::vector<std::size_t> order(locations_.size());
        for (std::size_t l = 0; l < order.size(); ++l) order[l] = l;
        const std::size_t most = limit(ranks_shown);
        if (most != 0 && order.size() > most) {
            std::stable_sort(order.begin(), order.end(),
                             [&](std::size_t a, std::size_t b) { return std::abs(values[a] - median) > std::abs(values[b] - median); });
            table.left_out = order.size() - most;
            order.resize(most);
            table.remark = "those farthest from the median first; ";
        }
        table.remark += fmt::format("from the median: {}", column_label(all_rows_[total_rows_[by]]));
        for (const std::size_t l : order) {
            std::vector<ReportValue> cells = {std::uint64_t{locations_[l]->rank}};
            if (choice_.threads) cells.push_back(std::uint64_t{locations_[l]->thread});
            for (const std::size_t t : columns)
                cells.push_back(is_told(all_rows_[total_rows_[t]], values_.untold_by_location[l]) ? ReportValue(values_.by_location[l][t]) : NotKnown());
            cells.push_back(!is_order_known ? ReportValue(NotKnown()) : median == 0 ? ReportValue() : ReportValue(values[l] / median - 1));
            const auto info = profile_.ranks.find(locations_[l]->rank);
            cells.push_back(info == profile_.ranks.end() ? std::string() : printable(info->second.host));
            table.rows.push_back(std::move(cells));
        }
        document_.tables.push_back(std::move(table));
    }

    /// Positions in total_rows_: the chosen metrics, else what tells ranks apart.
    std::vector<std::size_t> rank_columns() const {
        std::vector<std::size_t> list;
        const auto add = [&](std::size_t row) {
            const auto at = std::find(total_rows_.begin(), total_rows_.end(), row);
            if (at != total_rows_.end() && values_.totals[static_cast<std::size_t>(at - total_rows_.begin())].value != 0)
                list.push_back(static_cast<std::size_t>(at - total_rows_.begin()));
        };
        if (choice_.metrics.empty())
            for (const CatalogueId id : {CatalogueId::Total, CatalogueId::Mpi, CatalogueId::OffCpu, CatalogueId::Bytes}) add(static_cast<std::size_t>(id));
        else
            for (const std::size_t row : found_.rows) add(row);
        return list;
    }

    /// Exclusive values, functions with most of the first metric first.
    void add_functions() {
        std::vector<FunctionRow> functions = function_rows(profile_, tree_);
        std::vector<std::pair<std::uint64_t, std::size_t>> order;
        const auto sum = [&](const FunctionRow& f, std::size_t m) {
            SelectedValue all;
            for (const std::uint32_t n : f.nodes) all.add(values_.exclusive[n][m]);
            return all;
        };
        for (std::size_t f = 0; f < functions.size(); ++f)
            if (const std::uint64_t value = sum(functions[f], 0).value; value != 0) order.emplace_back(value, f);
        std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
        ReportTable table{"functions", "Functions", "own values, without what they call" + at_least(), {}, {}, {}, {}, 0, "functions"};
        if (const std::size_t most = limit(functions_shown); most != 0 && order.size() > most) {
            table.left_out = order.size() - most;
            order.resize(most);
        }
        table.columns = {{"share", "share", ColumnUnit::Share}};
        for (std::size_t m = 0; m < metrics(); ++m) table.columns.push_back({metric(m).name, column_label(metric(m)), unit_of(metric(m).unit)});
        table.columns.push_back({"error", some_errors() ? "+-" : "", unit_of(metric(0).unit)});
        if (several()) {
            table.columns.push_back({"lowest", "lowest", unit_of(metric(0).unit)});
            table.columns.push_back({"highest", "highest", unit_of(metric(0).unit)});
            table.columns.push_back({"highest_rank", "on rank", ColumnUnit::Number});
        }
        table.columns.insert(table.columns.end(), {{"estimated", "", ColumnUnit::Count},
                                                   {"function", "function", ColumnUnit::Text, false, 24},
                                                   {"caller", "", ColumnUnit::Text},
                                                   {"through", "", ColumnUnit::Text},
                                                   {"place", "", ColumnUnit::Text},
                                                   {"", "where", ColumnUnit::Text, false, 16}});
        for (const auto& [value, f] : order) add_function(table, functions[f], sum);
        document_.tables.push_back(std::move(table));
    }

    template <class Sum> void add_function(ReportTable& table, const FunctionRow& f, Sum sum) const {
        std::vector<ReportValue> cells = {share(sum(f, 0).value, 0)};
        bool estimated = values_.untold != 0 && f.kind != NodeKind::Root;
        for (std::size_t m = 0; m < metrics(); ++m) {
            cells.push_back(sum(f, m).value);
            estimated = estimated || sum(f, m).estimated;
        }
        cells.push_back(error(sum(f, 0), values_.untold == 0 || f.kind == NodeKind::Root));
        if (several()) {
            std::vector<std::uint64_t> each(locations_.size());
            for (std::size_t l = 0; l < each.size(); ++l)
                for (const std::uint32_t n : f.nodes) each[l] += values_.own[l][n];
            const auto [low, high] = std::minmax_element(each.begin(), each.end());
            cells.push_back(*low);
            cells.push_back(*high);
            cells.push_back(std::uint64_t{locations_[static_cast<std::size_t>(high - each.begin())]->rank});
        }
        cells.insert(cells.end(), {std::uint64_t{estimated}, f.name, f.caller, f.through, f.source, where_text(f.source, f.caller, f.through)});
        table.rows.push_back(std::move(cells));
    }

    /// The tree, inclusive and exclusive.
    void add_call_paths() {
        ReportTable table{"call_paths", "Call paths", "with and without (own) what is called; shares of ", {}, {}, {}, {}, 0, "call paths"};
        table.remark += (metric(0).unit == "ns" ? "all time that was chosen" : column_label(metric(0))) + at_least();
        std::vector<double> weight;
        for (std::size_t n = 0; n < tree_.nodes.size(); ++n) weight.push_back(weight_of(n));
        const std::size_t most = limit(nodes_shown);
        const std::vector<std::uint32_t> nodes = shown_nodes(tree_, weight, most);
        if (most != 0)
            table.left_out = static_cast<std::size_t>(std::count_if(weight.begin() + 1, weight.end(), [](double w) { return w > 0; })) - nodes.size();
        table.columns = {{"share", "share", ColumnUnit::Share}};
        for (std::size_t m = 0; m < metrics(); ++m) {
            const std::string label = metrics() == 1 ? "incl." : column_label(metric(m));
            table.columns.push_back({metric(m).name + "_inclusive", label, unit_of(metric(m).unit)});
            table.columns.push_back({metric(m).name, "own", unit_of(metric(m).unit)});
        }
        table.columns.insert(table.columns.end(), {{"estimated", "", ColumnUnit::Count},
                                                   {"error", some_errors() ? "+-" : "", unit_of(metric(0).unit)},
                                                   {"", "call path", ColumnUnit::Name, false, 30},
                                                   {"place", "where", ColumnUnit::Text, false, 14},
                                                   {"name", "", ColumnUnit::Text},
                                                   {"kind", "", ColumnUnit::Text},
                                                   {"path", "", ColumnUnit::Text}});
        if (some_errors())
            table.remark += "; +-: largest error of MPI calls, 95 % interval of sampled times, both of \"incl.\"; "
                            "empty: not known";
        if (tree_.counts[0] && values_.exclusive[0][0].value != 0) // what has no call path
            add_node(table, 0);
        for (const std::uint32_t n : nodes) add_node(table, n);
        document_.tables.push_back(std::move(table));
    }

    /// By any of the metrics: a call path without time may have bytes.
    double weight_of(std::size_t n) const {
        double weight = 0;
        for (std::size_t m = 0; m < metrics() && weight == 0; ++m) {
            const std::uint64_t all = values_.inclusive[0][m].value;
            weight = all == 0 ? 0 : static_cast<double>(values_.inclusive[n][m].value) / static_cast<double>(all);
            weight *= m == 0 ? 1 : 1e-12; // the first metric orders
        }
        return weight;
    }

    bool some_errors() const { return may_be_off(choice_, metric(0), values_); }
    ReportValue error(const SelectedValue& value, bool is_told) const {
        return some_errors() && is_told ? error_of(value, values_).report_value() : ReportValue();
    }

    void add_node(ReportTable& table, std::uint32_t n) const {
        const FunctionNode& node = tree_.nodes[n];
        const SelectedValue& first = n == 0 ? values_.exclusive[0][0] : values_.inclusive[n][0];
        std::vector<ReportValue> cells = {share(first.value, 0)};
        bool estimated = values_.untold != 0 && n != 0;
        for (std::size_t m = 0; m < metrics(); ++m) {
            const SelectedValue& inclusive = n == 0 ? values_.exclusive[0][m] : values_.inclusive[n][m];
            cells.push_back(inclusive.value);
            cells.push_back(values_.exclusive[n][m].value);
            estimated = estimated || inclusive.estimated;
        }
        cells.push_back(std::uint64_t{estimated});
        cells.push_back(error(first, values_.untold == 0 || n == 0));
        cells.insert(cells.end(), {node_text(node), printable(node.source), printable(n == 0 ? node_text(node) : node.name), std::string(kind_name(node.kind)),
                                   path_text(tree_, n)});
        table.rows.push_back(std::move(cells));
        table.indent.push_back(tree_.depth[n]);
    }

    void add_hints() {
        const std::string command = "libprofile report " + form_.folder;
        if (choice_.bottom_up) document_.hints.push_back(command + " --source NAME    the lines of a function");
        if (choice_.path.empty() && !document_.tables.empty()) document_.hints.push_back(command + " --path NAME    what a function does and calls");
        if (choice_.iterations && !choice_.path.empty())
            document_.hints.push_back(command + " --compare A:B C:D    two ranges of iterations against each other");
        document_.hints.push_back("libprofile report --help    all options");
    }

    const Profile& profile_;
    const ReportChoice& choice_;
    const SelectionForm& form_;
    FoundChoice found_;
    std::vector<MetricRow> all_rows_;
    std::vector<std::size_t> total_rows_;
    std::vector<const Location*> locations_;
    FunctionTree tree_;
    SelectedTree values_;
    ReportDocument document_;
};

} // namespace

ReportDocument selection_report(const Profile& profile, const ReportChoice& choice, const SelectionForm& form) {
    return SelectionReport(profile, choice, form).document();
}

} // namespace libprofile::tools
