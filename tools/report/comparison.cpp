#include "tools/names/labels.hpp"
#include "tools/report/rows.hpp"
#include "tools/report/selection.hpp"
#include "tools/text/phrases.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace libprofile::tools {

namespace {

constexpr std::size_t functions_shown = 12;
constexpr std::size_t nodes_shown = 25;
constexpr std::size_t ranks_shown = 6;

/// One side: its values, and what they are divided by.
struct Side {
    std::string label; // "iterations 1-100"
    std::vector<const Location*> locations;
    SelectedTree values;
    double divisor = 1;

    double mean(std::uint64_t value) const { return static_cast<double>(value) / divisor; }
};

/// Two means, their difference, and how far it may be off.
struct Pair {
    double a = 0, b = 0;
    double error = 0; // negative if unknown
    bool knows_a = true, knows_b = true;
    double difference() const { return b - a; }
    bool is_known() const { return knows_a && knows_b; }
};

class Comparison {
  public:
    Comparison(const Profile& profile, const ReportChoice& choice, const SelectionForm& form)
        : profile_(profile), choice_(choice), form_(form), found_(find_choice(profile, choice)), all_rows_(metric_rows(profile)) {
        total_rows_ = found_.rows;
        for (std::size_t r = 0; r < all_rows_.size() && choice.metrics.empty(); ++r)
            if (r != found_.rows[0]) total_rows_.push_back(r);
        std::sort(total_rows_.begin(), total_rows_.end());
        std::vector<const Location*> both;
        for (std::size_t s = 0; s < 2; ++s) {
            sides_[s].locations = locations_of(profile, ranks_of(s), choice.threads);
            if (sides_[s].locations.empty()) throw SelectionError("there is no rest to compare with: all ranks are on the first side");
            both.insert(both.end(), sides_[s].locations.begin(), sides_[s].locations.end());
        }
        std::sort(both.begin(), both.end());
        both.erase(std::unique(both.begin(), both.end()), both.end());
        tree_ = make_function_tree(profile, both, !form.full_paths, choice.path);
        check_path(choice, tree_);
        for (std::size_t s = 0; s < 2; ++s) fill(s);
    }

    ReportDocument document() {
        document_ = document_of(profile_, choice_);
        add_facts();
        add_findings();
        add_functions();
        add_call_paths();
        add_ranks();
        add_totals();
        document_.hints.push_back("libprofile report " + form_.folder + " ... --path NAME    the same for one function and what it calls");
        return std::move(document_);
    }

  private:
    const CompareSide& side(std::size_t s) const { return choice_.compare[s]; }
    bool by_iteration() const { return !choice_.compares_ranks(); }
    const MetricRow& metric() const { return all_rows_[found_.rows[0]]; }
    bool is_time() const { return metric().unit == "ns"; }
    /// For call paths and other metrics only the told part is known.
    bool is_whole_time() const { return choice_.path.empty() && metric().name == "time"; }
    std::uint64_t untold(std::size_t s) const { return sides_[s].values.untold; }
    std::string amount(double value) const { return quantity(value, metric().unit, {}); }

    std::vector<std::uint32_t> ranks_of(std::size_t s) const {
        if (by_iteration()) return choice_.ranks;
        if (side(s).kind == CompareSide::Kind::Ranks) return side(s).ranks;
        std::vector<std::uint32_t> rest = {}; // never empty: then it would mean all
        for (const auto& [rank, info] : profile_.ranks)
            if (!std::binary_search(side(1 - s).ranks.begin(), side(1 - s).ranks.end(), rank)) rest.push_back(rank);
        if (rest.empty()) throw SelectionError("there is no rest to compare with: all ranks are on the first side");
        return rest;
    }

    void fill(std::size_t s) {
        Side& to = sides_[s];
        to.label = scope_of(side(s), side(1 - s), found_);
        const IterationRange range = by_iteration() ? side(s).iterations : choice_.iterations.value_or(IterationRange{});
        to.values = select_tree(profile_, tree_, {to.locations, found_.phase, range, choice_.exclusive, found_.rows, total_rows_});
        to.divisor = static_cast<double>(by_iteration() ? std::max<std::uint64_t>(to.values.instances, 1) : to.locations.size());
        if (to.values.time == 0) throw SelectionError(fmt::format("nothing was measured in {}", to.label));
    }

    /// @param is_told whether it is known of iterations inside of which the profile does not tell everything
    Pair pair_of(const SelectedValue& a, const SelectedValue& b, bool is_told = false) const {
        Pair pair{sides_[0].mean(a.value), sides_[1].mean(b.value), 0, is_told || untold(0) == 0, is_told || untold(1) == 0};
        ValueError first = error_of(a, sides_[0].values), second = error_of(b, sides_[1].values);
        // What no sample hit on one side may have some there.
        if (a.parts.empty() && !b.parts.empty()) first.sampling = sampling_error(a.parts, sides_[0].values.strata);
        if (b.parts.empty() && !a.parts.empty()) second.sampling = sampling_error(b.parts, sides_[1].values.strata);
        const double by_chance = std::hypot(first.sampling / sides_[0].divisor, second.sampling / sides_[1].divisor); // of independent samples
        pair.error = first.bound < 0 || second.bound < 0 ? -1 : first.bound / sides_[0].divisor + second.bound / sides_[1].divisor + by_chance;
        return pair;
    }

    /// The sum of all that was chosen: exact if every iteration's values are there.
    Pair total() const {
        Pair pair = pair_of(sides_[0].values.inclusive[0][0], sides_[1].values.inclusive[0][0], is_whole_time());
        const bool scaled = sides_[0].values.exact_times_only || sides_[1].values.exact_times_only;
        if (choice_.path.empty() && sides_[0].values.exact_sums && sides_[1].values.exact_sums && (!scaled || metric().name == "time")) pair.error = 0;
        return pair;
    }

    void add_facts() {
        const std::string scope = scope_of(profile_, choice_, found_);
        document_.facts.push_back(fmt::format("A: {}; B: {}{}", sides_[0].label, sides_[1].label, scope.empty() ? "" : " (" + scope + ")"));
        const char* each = choice_.threads ? "thread" : "rank";
        document_.facts.push_back(by_iteration() ? fmt::format("all values are means per iteration and {}", each)
                                                 : fmt::format("all values are means per {}", each));
        for (std::size_t s = 0; s < 2; ++s)
            for (std::string& fact : inside_facts(sides_[s].values, s == 0 ? "A" : "B"))
                if (std::find(document_.facts.begin(), document_.facts.end(), fact) == document_.facts.end()) document_.facts.push_back(std::move(fact));
        auto& p = document_.properties;
        p.emplace_back("scope", scope);
        p.emplace_back("phase", found_.phase == FoundChoice::all_phases ? ReportValue() : ReportValue(profile_.phases[found_.phase].name));
        for (std::size_t s = 0; s < 2; ++s) {
            const std::string name = s == 0 ? "a" : "b";
            p.emplace_back(name, sides_[s].label);
            p.emplace_back(name + "_divisor", static_cast<std::uint64_t>(sides_[s].divisor));
            p.emplace_back(name + "_time", sides_[s].values.time);
        }
        p.emplace_back("path", choice_.path.empty() ? ReportValue() : ReportValue(choice_.path));
    }

    static std::string percent_change(double a, double b) {
        if (a == 0) return "";
        return b / a >= 3 ? fmt::format(" ({:.3g} times as much)", b / a) : fmt::format(" ({}{})", b > a ? "+" : "-", percent(std::abs(b / a - 1)));
    }

    void add_findings() {
        const Pair all = total();
        const std::string what = !choice_.path.empty()                  ? "These call paths:"
                                 : is_time() && metric().name == "time" ? (by_iteration() ? "An iteration takes" : "A rank takes")
                                                                        : fmt::format("{}:", printable(metric().label));
        constexpr const char* instead = "--exclusive compares iterations without the phases inside, --phase NAME one of these phases";
        if (!all.is_known()) {
            const std::size_t s = untold(0) != 0 ? 0 : 1;
            document_.findings.emplace_back("What differs",
                                            fmt::format("{} not known, because {}; {}.", what, untold_words(sides_[s].values, s == 0 ? "A" : "B"), instead));
            return;
        }
        document_.findings.emplace_back("What differs",
                                        fmt::format("{} {} in B, {} in A: {}{}{}.", what, amount(all.b), amount(all.a), all.b >= all.a ? "+" : "-",
                                                    amount(std::abs(all.difference())), percent_change(all.a, all.b)));
        if (untold(0) != 0 || untold(1) != 0) {
            document_.findings.emplace_back("", fmt::format("Where this time goes is not known; {}.", instead));
            return;
        }
        // What part of the difference the functions with most of it have.
        std::string most, open;
        std::size_t named = 0, left_open = 0;
        for (const auto& [f, pair] : function_pairs()) {
            if (named == 3 || std::abs(pair.difference()) < 0.02 * std::max(all.a, all.b)) continue;
            const bool is_open = std::abs(pair.difference()) <= std::max(0.0, pair.error);
            if (is_open && left_open == 3) continue;
            std::string& list = is_open ? open : most;
            list += fmt::format("{}{}{} {}{}", list.empty() ? "" : ", ", pair.difference() > 0 ? "+" : "-", amount(std::abs(pair.difference())), f.name,
                                f.caller.empty() ? "" : " in " + caller_text(f.caller, f.through));
            ++(is_open ? left_open : named);
        }
        document_.findings.emplace_back("", most.empty() ? "No function's own value differs by more than 2 % of the total and by more than its error."
                                                         : "Mostly: " + without_anonymous(most) + ".");
        if (!open.empty()) document_.findings.emplace_back("", "Within the error: " + without_anonymous(open) + ".");
    }

    std::vector<std::pair<FunctionRow, Pair>> function_pairs() const {
        std::vector<std::pair<FunctionRow, Pair>> list;
        for (FunctionRow& f : function_rows(profile_, tree_)) {
            SelectedValue a, b;
            for (const std::uint32_t n : f.nodes) {
                a.add(sides_[0].values.exclusive[n][0]);
                b.add(sides_[1].values.exclusive[n][0]);
            }
            const Pair pair = pair_of(a, b, f.kind == NodeKind::Root && metric().name == "time");
            if ((a.value != 0 && pair.knows_a) || (b.value != 0 && pair.knows_b)) list.emplace_back(std::move(f), pair);
        }
        std::stable_sort(list.begin(), list.end(),
                         [](const auto& x, const auto& y) { return std::abs(x.second.difference()) > std::abs(y.second.difference()); });
        return list;
    }

    static void append(const Pair& pair, std::vector<ReportValue>& cells) {
        cells.push_back(pair.knows_a ? ReportValue(pair.a) : NotKnown());
        cells.push_back(pair.knows_b ? ReportValue(pair.b) : NotKnown());
        cells.push_back(pair.is_known() ? ReportValue(pair.difference()) : NotKnown());
        cells.push_back(!pair.is_known() ? ReportValue(NotKnown()) : pair.a == 0 ? ReportValue() : ReportValue(pair.b / pair.a - 1));
    }
    static void append_error(const Pair& pair, std::vector<ReportValue>& cells) {
        cells.push_back(pair.error < 0 || !pair.is_known() ? ReportValue() : ReportValue(pair.error));
    }

    static void append_columns(ColumnUnit unit, std::vector<ReportColumn>& columns) {
        columns.insert(columns.end(),
                       {{"a", "A", unit}, {"b", "B", unit}, {"difference", "B - A", unit, true}, {"change", "change", ColumnUnit::Change, true}});
    }

    void add_totals() {
        ReportTable table{"totals", "Totals", "", {}, {}, {}, {}, 0, ""};
        table.columns = {{"metric", "", ColumnUnit::Text}, {"", "metric", ColumnUnit::Name, false, 20}, {"unit", "", ColumnUnit::Text}};
        append_columns(ColumnUnit::ByRow, table.columns);
        for (std::size_t t = 0; t < total_rows_.size(); ++t) {
            const MetricRow& row = all_rows_[total_rows_[t]];
            Pair pair{sides_[0].mean(sides_[0].values.totals[t].value), sides_[1].mean(sides_[1].values.totals[t].value), 0};
            pair.knows_a = choice_.path.empty() ? is_known(row, untold(0)) : untold(0) == 0;
            pair.knows_b = choice_.path.empty() ? is_known(row, untold(1)) : untold(1) == 0;
            if (pair.a == 0 && pair.b == 0 && choice_.metrics.empty()) continue;
            std::vector<ReportValue> cells = {row.name, printable(row.label), row.unit};
            append(pair, cells);
            table.rows.push_back(std::move(cells));
            table.units.push_back(unit_of(row.unit));
            table.indent.push_back(choice_.metrics.empty() ? static_cast<std::uint32_t>(row.depth) : 0);
        }
        document_.tables.push_back(std::move(table));
    }

    /// Of iterations: how the ranks changed. Their time is the same where they wait for each other, what they compute is not.
    void add_ranks() {
        if (!by_iteration() || sides_[0].locations.size() < 2) return;
        const bool outside = metric().name == "time" && choice_.metrics.empty();
        const auto position = [&](std::size_t row) {
            return static_cast<std::size_t>(std::find(total_rows_.begin(), total_rows_.end(), row) - total_rows_.begin());
        };
        const std::size_t first = position(found_.rows[0]), mpi = outside ? position(static_cast<std::size_t>(CatalogueId::Mpi)) : 0;
        std::vector<std::pair<std::uint32_t, Pair>> list;
        for (std::size_t l = 0; l < sides_[0].locations.size(); ++l) {
            Pair pair;
            for (std::size_t s = 0; s < 2; ++s) {
                const std::vector<std::uint64_t>& values = sides_[s].values.by_location[l];
                const double ranks = static_cast<double>(sides_[s].locations.size());
                (s == 0 ? pair.a : pair.b) = sides_[s].mean(values[first] - (outside ? values[mpi] : 0)) * ranks;
                (s == 0 ? pair.knows_a : pair.knows_b) = sides_[s].values.untold_by_location[l] == 0 || (!outside && is_whole_time());
            }
            list.emplace_back(static_cast<std::uint32_t>(l), pair);
        }
        std::stable_sort(list.begin(), list.end(),
                         [](const auto& x, const auto& y) { return std::abs(x.second.difference()) > std::abs(y.second.difference()); });
        ReportTable table{"ranks", choice_.threads ? "Threads" : "Ranks", outside ? "time outside MPI" : printable(metric().label), {}, {}, {}, {},
                          0,       choice_.threads ? "threads" : "ranks"};
        table.columns = {{"rank", "rank", ColumnUnit::Number}};
        if (choice_.threads) table.columns.push_back({"thread", "thread", ColumnUnit::Number});
        append_columns(unit_of(metric().unit), table.columns);
        cut(list, ranks_shown, table);
        for (const auto& [l, pair] : list) {
            std::vector<ReportValue> cells = {std::uint64_t{sides_[0].locations[l]->rank}};
            if (choice_.threads) cells.push_back(std::uint64_t{sides_[0].locations[l]->thread});
            append(pair, cells);
            table.rows.push_back(std::move(cells));
        }
        document_.tables.push_back(std::move(table));
    }

    std::size_t limit(std::size_t of_screen) const { return choice_.top != 0 ? choice_.top : form_.everything ? 0 : of_screen; }
    template <class List> void cut(List& list, std::size_t of_screen, ReportTable& table) const {
        const std::size_t most = limit(of_screen);
        if (most == 0 || list.size() <= most) return;
        table.left_out = list.size() - most;
        list.erase(list.begin() + static_cast<std::ptrdiff_t>(most), list.end());
    }

    void add_functions() {
        auto list = function_pairs();
        ReportTable table{"functions", "Functions", "own values, without what they call; largest difference first", {}, {}, {}, {}, 0, "functions"};
        cut(list, functions_shown, table);
        append_columns(unit_of(metric().unit), table.columns);
        table.columns.insert(table.columns.end(), {{"error", "+-", unit_of(metric().unit)},
                                                   {"function", "function", ColumnUnit::Text, false, 20},
                                                   {"caller", "", ColumnUnit::Text},
                                                   {"through", "", ColumnUnit::Text},
                                                   {"place", "", ColumnUnit::Text},
                                                   {"", "where", ColumnUnit::Text, false, 14}});
        for (const auto& [f, pair] : list) {
            std::vector<ReportValue> cells;
            append(pair, cells);
            append_error(pair, cells);
            cells.insert(cells.end(), {f.name, f.caller, f.through, f.source, where_text(f.source, f.caller, f.through)});
            table.rows.push_back(std::move(cells));
        }
        document_.tables.push_back(std::move(table));
    }

    void add_call_paths() {
        std::vector<double> weight;
        std::vector<Pair> pairs;
        for (std::size_t n = 0; n < tree_.nodes.size(); ++n) {
            pairs.push_back(pair_of(sides_[0].values.inclusive[n][0], sides_[1].values.inclusive[n][0]));
            const Pair& p = pairs.back();
            const double tiny = 1e-9 * std::max(p.a, p.b); // of equal values the larger ones come first
            const bool is_there = (p.a != 0 && p.knows_a) || (p.b != 0 && p.knows_b);
            weight.push_back(is_there ? (p.is_known() ? std::abs(p.difference()) : 0) + tiny : 0);
        }
        const std::size_t most = limit(nodes_shown);
        const std::vector<std::uint32_t> nodes = shown_nodes(tree_, weight, most);
        ReportTable table{"call_paths",
                          "Call paths",
                          "with what is called; +-: largest error of MPI calls, 95 % interval of sampled times; empty: not known",
                          {},
                          {},
                          {},
                          {},
                          0,
                          "call paths"};
        const auto all = static_cast<std::size_t>(std::count_if(weight.begin() + 1, weight.end(), [](double w) { return w > 0; }));
        table.left_out = all - std::min(all, nodes.size());
        append_columns(unit_of(metric().unit), table.columns);
        table.columns.insert(table.columns.end(), {{"error", "+-", unit_of(metric().unit)},
                                                   {"", "call path", ColumnUnit::Name, false, 28},
                                                   {"place", "where", ColumnUnit::Text, false, 12},
                                                   {"name", "", ColumnUnit::Text},
                                                   {"kind", "", ColumnUnit::Text},
                                                   {"path", "", ColumnUnit::Text}});
        for (const std::uint32_t n : nodes) {
            const FunctionNode& node = tree_.nodes[n];
            std::vector<ReportValue> cells;
            append(pairs[n], cells);
            append_error(pairs[n], cells);
            cells.insert(cells.end(), {node_text(node), printable(node.source), printable(node.name), std::string(kind_name(node.kind)), path_text(tree_, n)});
            table.rows.push_back(std::move(cells));
            table.indent.push_back(tree_.depth[n]);
        }
        document_.tables.push_back(std::move(table));
    }

    const Profile& profile_;
    const ReportChoice& choice_;
    const SelectionForm& form_;
    FoundChoice found_;
    std::vector<MetricRow> all_rows_;
    std::vector<std::size_t> total_rows_;
    Side sides_[2];
    FunctionTree tree_;
    ReportDocument document_;
};

} // namespace

ReportDocument comparison_report(const Profile& profile, const ReportChoice& choice, const SelectionForm& form) {
    return Comparison(profile, choice, form).document();
}

} // namespace libprofile::tools
