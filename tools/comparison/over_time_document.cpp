#include "tools/comparison/over_time_document.hpp"

#include "tools/comparison/change_class.hpp"
#include "tools/comparison/changed_calls_words.hpp"
#include "tools/comparison/over_time_words.hpp"
#include "tools/names/labels.hpp"
#include "tools/plot/text_chart.hpp"
#include "tools/text/phrases.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace libprofile::tools {

namespace {

ReportValue error_of(const Change& change) { return std::isnan(change.error) ? ReportValue(NotKnown()) : ReportValue(change.error); }
ReportValue counted(double before, double after, double value) { return before == 0 && after == 0 ? ReportValue() : ReportValue(value); }

/// Calls visit(one, segment, number from 1) for all segments of all groups.
template <class Visit> void for_each_segment(const RunsOverTime& result, Visit visit) {
    for (const GroupOverTime& one : result.groups) {
        std::uint64_t number = 0;
        for (const SegmentChange& segment : one.segments) visit(one, segment, ++number);
    }
}

ReportTable alignments_table(const RunsOverTime& result, const std::vector<ProfiledGroup>& groups) {
    ReportTable table{"alignments", "Alignments", "", {{"run", "run", ColumnUnit::Text}, {"align", "by", ColumnUnit::Text}}, {}, {}, {}, 0, ""};
    for (const char* key : {"pairs", "different_calls", "other_order", "unknown_order", "alone_before", "alone_after"})
        table.columns.push_back({key, key, ColumnUnit::Count});
    table.columns.push_back({"equal", "equal", ColumnUnit::Share});
    table.columns.push_back({"cost", "cost", ColumnUnit::Share});
    for (const char* key : {"iterations_before", "iterations_after", "ns_alone_before", "ns_alone_after", "outside_before", "outside_after"})
        table.columns.push_back({key, key, ColumnUnit::Ns});
    for (const GroupOverTime& one : result.groups)
        table.rows.push_back({printable(groups[one.group].name), std::string(align_by_name(one.alignment.by)), std::uint64_t{one.alignment.pairs},
                              std::uint64_t{one.alignment.different}, std::uint64_t{one.alignment.reordered}, one.calls.unknown, one.alone_before,
                              one.alone_after, one.equal_pairs, one.alignment.cost, one.iterations.before, one.iterations.after, one.alone.before,
                              one.alone.after, one.outside.before, one.outside.after});
    return table;
}

ReportTable segments_table(const RunsOverTime& result, const std::vector<ProfiledGroup>& groups) {
    const bool several = groups.size() > 2;
    ReportTable table{"segments", "Iterations", "means over ranks", {}, {}, {}, {}, 0, ""};
    table.columns = {{"run", several ? "run" : "", ColumnUnit::Text},
                     {"segment", "", ColumnUnit::Number},
                     {"", "iterations", ColumnUnit::Text},
                     {"first_before", "", ColumnUnit::Number},
                     {"last_before", "", ColumnUnit::Number},
                     {"first_after", "", ColumnUnit::Number},
                     {"last_after", "", ColumnUnit::Number},
                     {"iterations", "", ColumnUnit::Count},
                     {"difference", "difference", ColumnUnit::Ns, true},
                     {"each_before", "each, " + printable(groups.front().name), ColumnUnit::Ns},
                     {"each_after", several ? "each" : "each, " + printable(groups[1].name), ColumnUnit::Ns},
                     {"each_error", "+-", ColumnUnit::Ns},
                     {"chance", "chance", ColumnUnit::Text},
                     {"evidence", "", ColumnUnit::Text},
                     {"instructions_before", "", ColumnUnit::Count},
                     {"instructions_after", "", ColumnUnit::Count}};
    for_each_segment(result, [&](const GroupOverTime& one, const SegmentChange& s, std::uint64_t number) {
        table.rows.push_back({printable(groups[one.group].name), number, printable(iterations_text(s, groups[one.group].name)), s.before.first + 1,
                              s.before.last + 1, s.after.first + 1, s.after.last + 1, s.pairs, s.total(), s.each.before, s.each.after, error_of(s.each),
                              segment_chance(s), s.is_change ? ReportValue(std::string(change_evidence_name(s.evidence))) : ReportValue(),
                              counted(s.instructions.before, s.instructions.after, s.instructions.before),
                              counted(s.instructions.before, s.instructions.after, s.instructions.after)});
    });
    return table;
}

/// Of the segments that changed.
ReportTable functions_table(const RunsOverTime& result, const std::vector<ProfiledGroup>& groups, const ComparisonForm& form) {
    ReportTable table{"functions", "", "", {{"run", "", ColumnUnit::Text}, {"segment", "", ColumnUnit::Number}}, {}, {}, {}, 0, ""};
    for (const char* key : {"difference", "error", "before", "after"}) table.columns.push_back({key, "", ColumnUnit::Ns});
    for (const char* key : {"kind", "change", "function", "below", "caller", "file"}) table.columns.push_back({key, "", ColumnUnit::Text});
    table.columns.push_back({"line", "", ColumnUnit::Number});
    for (const char* key : {"ranks", "ranks_after"}) table.columns.push_back({key, "", ColumnUnit::Text});
    table.columns.push_back({"difference_there", "", ColumnUnit::Ns});
    for (const char* key : {"visits_before", "visits_after", "bytes_before", "bytes_after"}) table.columns.push_back({key, "", ColumnUnit::Count});
    for_each_segment(result, [&](const GroupOverTime& one, const SegmentChange& segment, std::uint64_t number) {
        if (!segment.is_change) return;
        const std::vector<ActivityChange>& activities = segment.comparison.groups.front().activities;
        const std::size_t rows = form.top == 0 ? activities.size() : std::min(form.top, activities.size());
        table.left_out += activities.size() - rows;
        for (std::size_t i = 0; i < rows; ++i) {
            const ActivityChange& a = activities[i];
            std::vector<ReportValue>& row = table.rows.emplace_back();
            row = {printable(groups[one.group].name), number, a.change.difference(), error_of(a.change), a.change.before, a.change.after};
            for (const char* name : {time_use_name(a.activity.use), change_class_name(change_class(a))}) row.emplace_back(std::string(name));
            for (const std::string& text : {a.activity.name, a.activity.below, a.activity.caller, a.activity.file}) row.emplace_back(printable(text));
            row.push_back(a.activity.line == 0 ? ReportValue() : std::uint64_t{a.activity.line});
            for (const std::vector<std::uint32_t>& ranks : {a.ranks, a.ranks_after}) row.emplace_back(number_ranges(ranks));
            row.emplace_back(a.there.difference());
            for (const Change& amount : {a.visits, a.bytes})
                for (const double value : {amount.before, amount.after}) row.push_back(counted(amount.before, amount.after, value));
        }
    });
    table.left_out_of = "functions";
    return table;
}

ReportTable pairs_table(const RunsOverTime& result, const std::vector<ProfiledGroup>& groups) {
    ReportTable table{"iterations", "", "", {{"run", "", ColumnUnit::Text}}, {}, {}, {}, 0, ""};
    for (const char* key : {"iteration_before", "iteration_after"}) table.columns.push_back({key, "", ColumnUnit::Number});
    for (const char* key : {"before", "after"}) table.columns.push_back({key, "", ColumnUnit::Ns});
    table.columns.push_back({"dissimilarity", "", ColumnUnit::Share});
    for (const GroupOverTime& one : result.groups)
        for (const AlignedPair& pair : one.pairs)
            table.rows.push_back({printable(groups[one.group].name), pair.before + 1, pair.after + 1, pair.ns_before, pair.ns_after,
                                  std::isnan(pair.dissimilarity) ? ReportValue(NotKnown()) : ReportValue(double{pair.dissimilarity})});
    return table;
}

/// Both runs' times along the pairs, on one scale.
void draw(const GroupOverTime& one, const std::vector<ProfiledGroup>& groups, TextWriter& to) {
    const std::string &before = groups.front().name, &after = groups[one.group].name;
    const std::size_t label = std::min<std::size_t>(std::max(columns(before), columns(after)), 24);
    std::vector<double> a, b;
    for (const AlignedPair& pair : one.pairs) {
        a.push_back(pair.ns_before);
        b.push_back(pair.ns_after);
    }
    const ChartColumns chart(a.size(), to.width() - std::min(to.width(), label + 4));
    double top = 0; // of the columns, which are means
    for (const std::vector<double>* series : {&a, &b})
        for (std::size_t c = 0; c < chart.width; ++c) {
            double sum = 0;
            for (std::size_t i = chart.begin(c); i < chart.end(c); ++i) sum += (*series)[std::min(i, series->size() - 1)];
            top = std::max(top, sum / static_cast<double>(chart.end(c) - chart.begin(c)));
        }
    to.line(fmt::format("  {}  {}", left(to.style(), printable(before), label), sparkline(to.style(), a, chart, top)));
    to.line(fmt::format("  {}  {}", left(to.style(), printable(after), label), sparkline(to.style(), b, chart, top)));
}

} // namespace

ReportDocument over_time_document(const RunsOverTime& result, const std::vector<ProfiledGroup>& groups, const ComparisonForm& form) {
    ReportDocument document;
    document.title = printable(form.command);
    for (const std::string& remark : result.remarks) document.warnings.push_back(printable(remark));
    for (const GroupOverTime& one : result.groups) {
        const OverTimeWords words = words_of(result, one, groups, form.top);
        const auto add = [&](std::string heading, const std::vector<std::string>& sentences) {
            for (const std::string& sentence : sentences) {
                document.findings.emplace_back(heading, sentence);
                heading.clear(); // of the others, too
            }
        };
        add(words.head, words.remarks);
        for (const SegmentWords& segment : words.segments) {
            std::vector<std::string> sentences;
            for (const DifferenceLine& line : segment.lines)
                sentences.push_back(fmt::format("{}{}{}: {}", line.amount, line.amount.empty() ? "" : " ", line.use, line.text));
            add(segment.head, sentences.empty() ? std::vector<std::string>{"no function differs beyond chance"} : sentences);
        }
        add(printable(fmt::format("calls of {} against {}", groups[one.group].name, groups.front().name)), words.calls);
    }
    document.properties = {{"phase", printable(result.phase)}, {"baseline", printable(groups.front().name)}, {"iterations", result.iterations}};
    document.tables = {alignments_table(result, groups), segments_table(result, groups), functions_table(result, groups, form)};
    document.tables.push_back(changed_calls_table());
    for (const GroupOverTime& one : result.groups) add_rows(groups[one.group].name, one.calls, document.tables.back());
    document.tables.push_back(typical_events_table());
    for (const GroupOverTime& one : result.groups) add_rows(groups[one.group].name, one.typical, document.tables.back());
    if (form.everything) document.tables.push_back(pairs_table(result, groups));
    return document;
}

std::string over_time_text(const RunsOverTime& result, const std::vector<ProfiledGroup>& groups, const ComparisonForm& form, const TextStyle& style) {
    TextWriter to(style);
    for (const GroupOverTime& one : result.groups) {
        if (one.group > 1) to.line("");
        const OverTimeWords words = words_of(result, one, groups, form.top);
        for (const std::string& text : wrapped(spelled(style, words.head), to.width())) to.line(tinted(style, Tint::Title, text));
        draw(one, groups, to);
        for (const SegmentWords& segment : words.segments) {
            for (const std::string& text : wrapped(spelled(style, segment.head), to.width())) to.line(text);
            append_lines(segment.lines, to);
        }
        for (const std::string& sentence : words.calls) to.paragraph(spelled(style, sentence), "", "  ");
        for (const std::string& remark : words.remarks) to.paragraph(spelled(style, remark), "  ", "  ");
    }
    for (const std::string& remark : result.remarks) to.note(printable(remark));
    ReportDocument tables;
    tables.tables.push_back(segments_table(result, groups));
    append_tables(tables, to);
    return to.text();
}

} // namespace libprofile::tools
