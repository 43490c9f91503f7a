#include "tools/analysis/function_lines.hpp"
#include "tools/analysis/line_source.hpp"
#include "tools/names/labels.hpp"
#include "tools/report/rows.hpp"
#include "tools/report/selected_part.hpp"
#include "tools/text/nearest.hpp"
#include "tools/text/phrases.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>

namespace libprofile::tools {

namespace {

constexpr std::size_t lines_shown = 40;
constexpr std::size_t names_listed = 6; // of functions that the text may mean
constexpr std::uint64_t around = 2;     // lines of source before and after each that has values

std::string listed(const std::vector<std::string>& names) {
    std::string out;
    for (std::size_t i = 0; i < std::min(names.size(), names_listed); ++i)
        out += fmt::format("{}\"{}\"", i == 0 ? "" : ", ", without_anonymous(printable(names[i])));
    if (names.size() > names_listed) out += fmt::format(" and {} more", names.size() - names_listed);
    return out;
}

class SourceView {
  public:
    explicit SourceView(const SelectedPart& part) : part_(part), function_(function_meant()), choice_(choice()) {
        std::vector<bool> counts(part.profile.paths.size());
        for (std::size_t p = 0; p < counts.size(); ++p) counts[p] = part.tree.counts[part.tree.node_of_path[p]];
        result_ = function_lines(part.profile, function_, counts, choice_);
        if (result_.lines.empty()) {
            const std::string scope = scope_of(part.profile, part.choice, part.found);
            throw SelectionError(fmt::format("nothing was measured in \"{}\" ({})", printable(function_), scope.empty() ? "the whole profile" : scope));
        }
    }

    void add(ReportDocument& document) {
        add_facts(document);
        std::vector<std::size_t> order(result_.lines.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        const std::size_t most = part_.limit(lines_shown);
        const std::size_t left_out = most == 0 || order.size() <= most ? 0 : order.size() - most;
        if (left_out != 0) {
            std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return weight(result_.lines[a]) > weight(result_.lines[b]); });
            order.resize(most);
            std::sort(order.begin(), order.end());
        }
        // Programs get one table of all files, people one for each.
        for (std::size_t begin = 0; begin < order.size();) {
            std::size_t end = begin + 1;
            while (end < order.size() && line(order[end]).file == line(order[begin]).file) ++end;
            const std::string& file = line(order[begin]).file;
            const auto [text, note] = source_of(part_.profile, result_, file, part_.form.source_maps);
            if (!note.empty()) document.warnings.push_back(note);
            if (begin == 0 || !part_.form.everything) start_table(file, !text.lines.empty(), document);
            add_lines({order.begin() + static_cast<std::ptrdiff_t>(begin), order.begin() + static_cast<std::ptrdiff_t>(end)}, text, document.tables.back());
            begin = end;
        }
        document.tables.back().left_out = left_out;
    }

  private:
    const FunctionLine& line(std::size_t i) const { return result_.lines[i]; }
    static std::pair<std::uint64_t, std::uint64_t> weight(const FunctionLine& line) { return {line.inclusive[0].value, line.own[0].value}; }

    std::string function_meant() const {
        std::string wanted = part_.choice.source;
        if (constexpr std::string_view mark = "[inlined] "; wanted.starts_with(mark)) wanted.erase(0, mark.size());
        const std::vector<std::string> found = functions_called(part_.profile, wanted);
        if (found.size() == 1) return found.front();
        const std::string name = printable(wanted);
        if (!found.empty()) throw SelectionError(fmt::format("\"{}\" may be several functions: {}; name one of them", name, listed(found)));
        for (const Function& function : part_.profile.functions)
            if (function.name == wanted)
                throw SelectionError(fmt::format(
                    "\"{}\" is a call whose source is not part of the program; --path {} shows where it is called, and --bottom-up by whom", name, name));
        const std::vector<std::string> names = function_names(part_.profile);
        std::string near = nearest_name(wanted, names);
        if (near.empty()) { // people leave out class and namespace
            std::vector<std::string> last;
            for (const std::string& full : names) last.push_back(full.substr(full.rfind("::") == std::string::npos ? 0 : full.rfind("::") + 2));
            near = nearest_name(wanted, last);
        }
        throw SelectionError(fmt::format("no sample and no call is in a function \"{}\"{}", name,
                                         !near.empty()   ? fmt::format("; did you mean \"{}\"?", printable(near))
                                         : names.empty() ? "; the profile has no functions"
                                                         : "; those with most time are " + listed(names)));
    }

    /// That of the report, and what every line is shown with.
    TreeChoice choice() {
        TreeChoice choice{part_.locations, part_.found.phase, part_.choice.iterations.value_or(IterationRange{}), part_.choice.exclusive, part_.found.rows, {}};
        const auto position_of = [&](CatalogueId id) {
            const auto row = static_cast<std::size_t>(id);
            const auto at = std::find(choice.rows.begin(), choice.rows.end(), row);
            const auto position = static_cast<std::size_t>(at - choice.rows.begin());
            if (at == choice.rows.end()) choice.rows.push_back(row);
            return position;
        };
        samples_ = position_of(CatalogueId::Samples);
        visits_ = position_of(CatalogueId::Visits);
        return choice;
    }

    void add_facts(ReportDocument& document) const {
        const MetricRow& metric = part_.metric(0);
        const auto amount = [&](const SelectedValue& value) {
            const ReportValue share = share_of(part_.values, metric, 0, value.value);
            const auto* known = std::get_if<double>(&share);
            return quantity(static_cast<double>(value.value), metric.unit, {}) + (known == nullptr ? "" : fmt::format(" ({})", percent(*known)));
        };
        const std::string what = metric.name == "time" ? "" : fmt::format(" of {}", within(printable(metric.label)));
        document.facts.push_back(fmt::format("{}: {}{} of its own in {}, {} with what it calls", without_anonymous(printable(function_)),
                                             amount(result_.own[0]), what, plural(result_.own[samples_].value, "sample"), amount(result_.inclusive[0])));
        auto& p = document.properties;
        p.emplace_back("function", printable(function_));
        for (std::size_t m = 0; m < part_.found.rows.size(); ++m) {
            p.emplace_back("function_" + part_.metric(m).name, result_.own[m].value);
            p.emplace_back("function_" + part_.metric(m).name + "_inclusive", result_.inclusive[m].value);
        }
    }

    void start_table(const std::string& file, bool with_text, ReportDocument& document) const {
        ReportTable table{"lines", file.empty() ? "Lines that are not known" : "Lines of " + printable(file), "", {}, {}, {}, {}, 0, "lines"};
        table.remark = "incl.: with what is called there; calls: of MPI, OpenMP and regions, also further down";
        if (part_.values.untold != 0) table.remark += "; the known part only, so a lower bound";
        table.columns = {{"share", "share", ColumnUnit::Share}};
        const std::size_t metrics = part_.found.rows.size();
        for (std::size_t m = 0; m < metrics; ++m) {
            const MetricRow& metric = part_.metric(m);
            table.columns.push_back({metric.name + "_inclusive", metrics == 1 ? "incl." : column_label(metric), unit_of(metric.unit)});
            table.columns.push_back({metric.name, "own", unit_of(metric.unit)});
        }
        table.columns.push_back({"error", part_.has_errors() ? "+-" : "", unit_of(part_.metric(0).unit)});
        if (part_.has_errors()) table.remark += "; +-: of \"incl.\"; empty: not known";
        table.columns.insert(table.columns.end(), {{samples_ < metrics ? "" : "samples", "samples", ColumnUnit::Count},
                                                   {"calls", "calls", ColumnUnit::Count},
                                                   {"estimated", "", ColumnUnit::Count},
                                                   {"file", "", ColumnUnit::Text},
                                                   {"line", "line", ColumnUnit::Number},
                                                   {"source", with_text ? "source" : "", ColumnUnit::Name, false, 24},
                                                   {"called", "calls most", ColumnUnit::Name, false, 14}});
        document.tables.push_back(std::move(table));
    }

    void add_lines(const std::vector<std::size_t>& order, const SourceText& text, ReportTable& table) const {
        std::uint64_t last = 0; // line that is in the table
        for (std::size_t i = 0; i < order.size(); ++i) {
            const FunctionLine& here = line(order[i]);
            if (!part_.form.everything && here.line != 0) {
                const std::uint64_t after = last == 0 ? 0 : last + around, before = here.line > around ? here.line - around : 1;
                if (last != 0) add_text(last + 1, std::min(after + 1, here.line), text, table);
                if (last != 0 && before > after + 1) table.rows.push_back(std::vector<ReportValue>(table.columns.size()));
                add_text(std::max(before, after + 1), here.line, text, table);
            }
            add_line(here, text, table);
            last = here.line;
        }
        if (!part_.form.everything && last != 0) add_text(last + 1, last + around + 1, text, table);
    }

    /// Source without values, from `first` to before `end`.
    static void add_text(std::uint64_t first, std::uint64_t end, const SourceText& text, ReportTable& table) {
        for (std::uint64_t number = first; number < end && number <= text.lines.size(); ++number) {
            std::vector<ReportValue> cells(table.columns.size());
            cells[cells.size() - 3] = number;
            cells[cells.size() - 2] = text.lines[number - 1];
            table.rows.push_back(std::move(cells));
        }
    }

    void add_line(const FunctionLine& here, const SourceText& text, ReportTable& table) const {
        std::vector<ReportValue> cells = {share_of(part_.values, part_.metric(0), 0, here.inclusive[0].value)};
        bool estimated = part_.values.untold != 0;
        for (std::size_t m = 0; m < part_.found.rows.size(); ++m) {
            cells.push_back(here.inclusive[m].value);
            cells.push_back(here.own[m].value);
            estimated = estimated || here.inclusive[m].estimated;
        }
        const bool is_known = part_.has_errors() && part_.values.untold == 0;
        cells.push_back(is_known ? error_of(here.inclusive[0], part_.values).report_value() : ReportValue());
        cells.push_back(here.own[samples_].value);
        cells.push_back(here.inclusive[visits_].value);
        cells.push_back(std::uint64_t{estimated});
        cells.push_back(printable(here.file));
        cells.push_back(here.line == 0 ? ReportValue(NotKnown()) : ReportValue(here.line));
        const bool has_text = here.line != 0 && here.line <= text.lines.size();
        cells.push_back(has_text ? ReportValue(text.lines[here.line - 1]) : ReportValue());
        std::string called;
        for (std::size_t i = 0; i < std::min<std::size_t>(here.called.size(), 3); ++i) called += (i == 0 ? "" : ", ") + printable(here.called[i]);
        cells.push_back(called.empty() ? ReportValue() : ReportValue(called + (here.called.size() > 3 ? ", ..." : "")));
        table.rows.push_back(std::move(cells));
    }

    const SelectedPart& part_;
    std::string function_;
    std::size_t samples_ = 0, visits_ = 0; // positions among the metrics of the lines
    TreeChoice choice_;
    FunctionLines result_;
};

} // namespace

void add_source(const SelectedPart& part, ReportDocument& document) { SourceView(part).add(document); }

} // namespace libprofile::tools
