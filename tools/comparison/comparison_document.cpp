#include "tools/comparison/comparison_document.hpp"

#include "tools/comparison/comparison_words.hpp"
#include "tools/names/labels.hpp"
#include "tools/text/phrases.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace libprofile::tools {

namespace {

constexpr std::size_t functions_on_screen = 12, paths_on_screen = 8;

ReportValue error_of(const Change& change) {
    if (std::isnan(change.error)) return NotKnown();
    return change.error == 0 ? ReportValue() : change.error;
}

ReportValue ratio_of(const Change& change) { return change.before == 0 ? ReportValue() : change.after / change.before - 1; }

ReportValue chance_of(const Change& change) { return change.is_chance() ? ReportValue("within chance") : ReportValue(); }

bool has_text(const ReportValue& value) {
    const auto* text = std::get_if<std::string>(&value);
    return text == nullptr ? value.index() != 0 : !text->empty();
}

/// The columns and cells that all tables have.
class ChangeTable {
  public:
    ChangeTable(const Comparison& comparison, const std::vector<RunGroup>& groups, const char* key, const std::string& title, const std::string& remark)
        : groups_(groups), several_(comparison.groups.size() > 1) {
        const ColumnUnit unit = unit_of(comparison.unit);
        table_.key = key;
        table_.title = title;
        table_.remark = remark;
        table_.columns = {{"run", several_ ? "run" : "", ColumnUnit::Text, false, 8},
                          {"difference", "difference", unit, true},
                          {"error", "+-", unit},
                          {"before", printable(groups.front().name), unit},
                          {"after", several_ ? "the run" : printable(groups[1].name), unit},
                          {"relative", "", ColumnUnit::Change},
                          {"chance", "chance", ColumnUnit::Text}};
    }
    void column(ReportColumn column) { table_.columns.push_back(std::move(column)); }
    void row(const GroupComparison& one, const Change& change, std::vector<ReportValue> more) {
        std::vector<ReportValue> cells = {
            printable(groups_[one.group].name), change.difference(), error_of(change), change.before, change.after, ratio_of(change), chance_of(change)};
        cells.insert(cells.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
        table_.rows.push_back(std::move(cells));
    }
    ReportTable table(std::size_t left_out = 0, const char* of = "") {
        table_.left_out = left_out;
        table_.left_out_of = of;
        for (std::size_t c = 0; c < table_.columns.size(); ++c) // what no row has takes no room
            if (std::none_of(table_.rows.begin(), table_.rows.end(), [&](const auto& row) { return has_text(row[c]); })) table_.columns[c].label.clear();
        return std::move(table_);
    }

  private:
    const std::vector<RunGroup>& groups_;
    bool several_;
    ReportTable table_;
};

std::size_t shown_rows(std::size_t rows, const ComparisonForm& form, std::size_t on_screen) {
    return std::min(rows, form.top != 0 ? form.top : form.everything ? rows : on_screen);
}

ReportTable runs_table(const Comparison& comparison, const std::vector<RunGroup>& groups) {
    ChangeTable table(comparison, groups, "runs", "Runs", "");
    for (const char* key : {"repetitions_before", "repetitions_after", "ranks_before", "ranks_after"}) table.column({key, "", ColumnUnit::Count});
    table.column({"spread", "", unit_of(comparison.unit)});
    table.column({"matched", "", ColumnUnit::Share});
    for (const GroupComparison& one : comparison.groups)
        table.row(one, one.whole,
                  {std::uint64_t{groups.front().runs.size()}, std::uint64_t{groups[one.group].runs.size()}, std::uint64_t{one.ranks_before},
                   std::uint64_t{one.ranks_after}, one.spread, one.matched});
    return table.table();
}

ReportTable kinds_table(const Comparison& comparison, const std::vector<RunGroup>& groups) {
    ChangeTable table(comparison, groups, "kinds", comparison.is_of_time ? "Kinds of time" : "By what the thread does", "mean per rank");
    table.column({"kind", "kind", ColumnUnit::Text, false, 9});
    for (const GroupComparison& one : comparison.groups) {
        for (std::size_t k = 0; k < time_use_count; ++k)
            if (one.by_use[k].before != 0 || one.by_use[k].after != 0) table.row(one, one.by_use[k], {std::string(time_use_name(static_cast<TimeUse>(k)))});
        table.row(one, one.mean, {std::string("all")});
    }
    return table.table();
}

ReportTable functions_table(const Comparison& comparison, const std::vector<RunGroup>& groups, const ComparisonForm& form) {
    ChangeTable table(comparison, groups, "functions", "Functions", "mean per rank, largest differences first");
    table.column({"kind", "kind", ColumnUnit::Text, false, 9});
    table.column({"", "function", ColumnUnit::Name, false, 24});
    for (const char* key : {"function", "caller", "file", "below"}) table.column({key, "", ColumnUnit::Text});
    table.column({"line", "", ColumnUnit::Number});
    table.column({"ranks", "ranks", ColumnUnit::Text, false, 5});
    table.column({"ranks_after", "", ColumnUnit::Text});
    table.column({"difference_there", "", unit_of(comparison.unit)});
    for (const char* key : {"visits_before", "visits_after"}) table.column({key, "", ColumnUnit::Count});
    std::size_t left_out = 0;
    for (const GroupComparison& one : comparison.groups) {
        const std::size_t rows = shown_rows(one.activities.size(), form, functions_on_screen);
        left_out += one.activities.size() - rows;
        for (std::size_t i = 0; i < rows; ++i) {
            const ActivityChange& a = one.activities[i];
            const auto visits = [&](double n) { return a.visits.before == 0 && a.visits.after == 0 ? ReportValue() : ReportValue(n); };
            table.row(one, a.change,
                      {std::string(time_use_name(a.activity.use)), activity_text(a.activity), printable(a.activity.name), printable(a.activity.caller),
                       printable(a.activity.file), printable(a.activity.below), a.activity.line == 0 ? ReportValue() : std::uint64_t{a.activity.line},
                       number_ranges(a.ranks), number_ranges(a.ranks_after), a.there.difference(), visits(a.visits.before), visits(a.visits.after)});
        }
    }
    return table.table(left_out, "functions");
}

ReportTable paths_table(const Comparison& comparison, const std::vector<RunGroup>& groups, const ComparisonForm& form) {
    ChangeTable table(comparison, groups, "call_paths", "Call paths", "mean per rank, without what is called from there");
    table.column({"kind", "kind", ColumnUnit::Text, false, 9});
    table.column({"path", "call path", ColumnUnit::Text, false, 30});
    const Frame& tree = groups.front().runs.front().frame;
    std::size_t left_out = 0;
    for (const GroupComparison& one : comparison.groups) {
        const std::size_t rows = shown_rows(one.paths.size(), form, paths_on_screen);
        left_out += one.paths.size() - rows;
        for (std::size_t i = 0; i < rows; ++i)
            table.row(one, one.paths[i].change, {std::string(time_use_name(one.paths[i].use)), path_text(tree, one.paths[i].node)});
    }
    return table.table(left_out, "call paths");
}

} // namespace

void append_lines(const std::vector<DifferenceLine>& lines, TextWriter& to) {
    std::size_t amount = 0, use = 0;
    for (const DifferenceLine& line : lines) {
        amount = std::max(amount, columns(line.amount));
        use = std::max(use, columns(line.use));
    }
    for (const DifferenceLine& line : lines) {
        const std::string first = fmt::format("  {}  {}  ", right(to.style(), line.amount, amount), left(to.style(), line.use, use));
        to.paragraph(spelled(to.style(), line.text), first, std::string(columns(first), ' '));
    }
}

ReportDocument comparison_document(const Comparison& comparison, const std::vector<RunGroup>& groups, const ComparisonForm& form) {
    ReportDocument document;
    document.title = printable(form.command);
    for (const std::string& remark : comparison.remarks) document.warnings.push_back(printable(remark));
    for (const GroupComparison& one : comparison.groups) {
        const ComparisonWords words = words_of(comparison, one, groups);
        std::string heading = words.head;
        for (const DifferenceLine& line : words.lines) {
            document.findings.emplace_back(heading, fmt::format("{} {}: {}", line.amount, line.use, line.text));
            heading.clear();
        }
        for (const std::string& remark : words.remarks) {
            document.findings.emplace_back(heading, remark);
            heading.clear();
        }
        if (!heading.empty()) document.findings.emplace_back(heading, "nothing else differs");
    }
    document.properties = {{"metric", comparison.metric}, {"unit", comparison.unit}, {"baseline", printable(groups.front().name)}};
    if (form.everything) document.tables.push_back(runs_table(comparison, groups));
    document.tables.push_back(kinds_table(comparison, groups));
    document.tables.push_back(functions_table(comparison, groups, form));
    document.tables.push_back(paths_table(comparison, groups, form));
    return document;
}

std::string comparison_text(const Comparison& comparison, const std::vector<RunGroup>& groups, const ComparisonForm& form, const TextStyle& style) {
    TextWriter to(style);
    for (const GroupComparison& one : comparison.groups) {
        if (one.group > 1) to.line("");
        const ComparisonWords words = words_of(comparison, one, groups);
        for (const std::string& text : wrapped(spelled(style, words.head), to.width())) to.line(tinted(style, Tint::Title, text));
        append_lines(words.lines, to);
        for (const std::string& remark : words.remarks) to.paragraph(spelled(style, remark), "  ", "  ");
    }
    for (const std::string& remark : comparison.remarks) to.note(printable(remark));
    append_tables(comparison_document(comparison, groups, form), to);
    return to.text();
}

} // namespace libprofile::tools
