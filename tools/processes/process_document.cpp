#include "tools/processes/process_document.hpp"

#include "tools/names/labels.hpp"
#include "tools/processes/merged_calls.hpp"
#include "tools/processes/process_pictures.hpp"
#include "tools/processes/process_words.hpp"
#include "tools/processes/sampled_words.hpp"
#include "tools/text/phrases.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <set>

namespace libprofile::tools {

namespace {

constexpr std::size_t groups_in_text = 12, map_rows_in_text = 8;

ReportColumn number(const char* key) { return {key, "", ColumnUnit::Number}; }
ReportColumn words(const char* key) { return {key, "", ColumnUnit::Text}; }
ReportColumn ns(const char* key) { return {key, "", ColumnUnit::Ns, true}; }

ReportTable groups_table(const ComparedProcesses& p, const ProcessWords& say) {
    ReportTable table{"groups", "", "", {words("level"), words("group"), words("within"), {"processes", "", ColumnUnit::Count}, words("rows"), words("part")},
                      {},       {}, {}, 0,
                      ""};
    for (std::size_t level = 0; level < structure_levels; ++level)
        for (std::size_t g = 0; g < p.groups.levels[level].size(); ++g) {
            const ProcessGroup& group = p.groups.levels[level][g];
            const bool is_shown = level == static_cast<std::size_t>(p.level);
            const std::string part = is_shown ? say.parting(g) : "";
            table.rows.push_back({std::string(level_name(static_cast<StructureLevel>(level))), group_name(g),
                                  level == 0 ? ReportValue() : group_name(group.within), std::uint64_t{group.rows.size()}, say.rows(group.rows, true),
                                  part.empty() ? ReportValue() : part});
        }
    return table;
}

ReportValue known_or_null(double value) { return std::isnan(value) ? ReportValue(NotKnown()) : ReportValue(value); }

/// What a row computes more than the median one: in all iterations, or in an entry.
ReportValue excess_of(const ComparedProcesses& p, const Location* location) {
    const auto at = std::find(p.map.locations.begin(), p.map.locations.end(), location);
    if (at == p.map.locations.end()) return {};
    const auto row = static_cast<std::size_t>(at - p.map.locations.begin());
    double sum = 0;
    for (std::size_t i = 0; i < p.map.iterations; ++i)
        if (!std::isnan(p.map.at(row, i))) sum += p.map.at(row, i);
    return sum;
}

/// By rank or thread: its group on each level, and how far it is from the reference.
ReportTable rows_table(const ComparedProcesses& p) {
    ReportTable table{"rows", "", "", {number("rank"), number("thread")}, {}, {}, {}, 0, ""};
    for (std::size_t level = 0; level < structure_levels; ++level) table.columns.push_back(words(level_name(static_cast<StructureLevel>(level))));
    table.columns.insert(table.columns.end(), {{"dissimilarity", "", ColumnUnit::Share},
                                               {"different", "", ColumnUnit::Count},
                                               number("first_different"),
                                               ns("unmatched"),
                                               ns("skew"),
                                               {"alone", "", ColumnUnit::Count},
                                               {"alone_in_reference", "", ColumnUnit::Count},
                                               ns("excess")});
    std::vector<std::array<std::size_t, structure_levels>> groups(p.locations.size());
    for (std::size_t level = 0; level < structure_levels; ++level)
        for (std::size_t g = 0; g < p.groups.levels[level].size(); ++g)
            for (const std::uint32_t row : p.groups.levels[level][g].rows) groups[row][level] = g;
    std::map<const Location*, const RankDistance*> distances;
    for (std::size_t r = 0; r < p.timelines.rows.size(); ++r) distances[p.states.locations[r]] = &p.timelines.rows[r];
    for (std::size_t row = 0; row < p.locations.size(); ++row) {
        std::vector<ReportValue>& added = table.rows.emplace_back();
        added = {std::uint64_t{p.locations[row]->rank}, std::uint64_t{p.locations[row]->thread}};
        for (const std::size_t g : groups[row]) added.emplace_back(group_name(g));
        const auto at = distances.find(p.locations[row]);
        if (at == distances.end()) {
            added.resize(table.columns.size() - 1);
            added.push_back(excess_of(p, p.locations[row]));
            continue;
        }
        const RankDistance& d = *at->second;
        const std::vector<ReportValue> values = {known_or_null(d.dissimilarity),
                                                 d.different,
                                                 d.first_other ? ReportValue(*d.first_other + 1) : ReportValue(),
                                                 d.unmatched_ns,
                                                 d.skew_ns,
                                                 d.alone_here,
                                                 d.alone_there};
        added.insert(added.end(), values.begin(), values.end());
        added.push_back(excess_of(p, p.locations[row]));
    }
    return table;
}

ReportTable cells_table(const ComparedProcesses& p) {
    ReportTable table{"cells",
                      "",
                      "",
                      {number("rank"), number("thread"), words("host"), number("first"), number("last"), ns("excess"), ns("median"), words("function"),
                       words("source"), ns("function_each"), ns("function_error")},
                      {},
                      {},
                      {},
                      0,
                      ""};
    for (const PlacedCell& placed : p.cells) {
        const Location& location = *p.map.locations[placed.cell.row];
        const bool has_function = !placed.function.empty();
        table.rows.push_back({std::uint64_t{location.rank}, std::uint64_t{location.thread}, printable(placed.host), placed.cell.first + 1, placed.cell.last + 1,
                              placed.cell.excess, placed.cell.median, has_function ? ReportValue(printable(placed.function)) : ReportValue(),
                              has_function ? ReportValue(printable(placed.source)) : ReportValue(),
                              has_function ? ReportValue(placed.function_ns) : ReportValue(),
                              has_function ? ReportValue(placed.function_error) : ReportValue()});
    }
    return table;
}

std::vector<FoldedSpan> strip_of(const ComparedProcesses& p, std::size_t group, FoldBy by) { return folded_strip(p.states, p.rows_of_group[group], by); }

ReportTable strips_table(const ComparedProcesses& p) {
    ReportTable table{"strips", "", "", {words("fold"), words("group"), number("first"), number("last"), words("state"), {"processes", "", ColumnUnit::Count}},
                      {},       {}, {}, 0,
                      ""};
    const auto add = [&](FoldBy by, const std::string& group, const std::vector<FoldedSpan>& strip) {
        for (const FoldedSpan& span : strip)
            table.rows.push_back({std::string(fold_name(by)), group, span.first + 1, span.first + span.length,
                                  span.state == no_state ? ReportValue() : printable(p.states.names[span.state]), std::uint64_t{span.ranks}});
    };
    for (const FoldBy by : {FoldBy::Dominating, FoldBy::Outliers, FoldBy::Use}) {
        add(by, "all", folded_strip(p.states, by));
        for (std::size_t g = 0; g < std::min(groups_in_text, p.rows_of_group.size()) && p.rows_of_group.size() > 1; ++g)
            add(by, group_name(g), strip_of(p, g, by));
    }
    return table;
}

ReportTable iterations_table(const ComparedProcesses& p) {
    ReportTable table{"iterations",
                      "",
                      "",
                      {number("iteration"),
                       ns("median_computing"),
                       {"dissimilarity", "", ColumnUnit::Share},
                       {"most_dissimilarity", "", ColumnUnit::Share},
                       number("most_dissimilar"),
                       ns("behind"),
                       number("most_behind"),
                       ns("ahead"),
                       number("most_ahead")},
                      {},
                      {},
                      {},
                      0,
                      ""};
    const RankTimelines& t = p.timelines;
    const auto rank = [&](std::uint32_t row) { return std::uint64_t{p.states.locations[row]->rank}; };
    for (std::size_t i = 0; i < t.behind.size(); ++i)
        table.rows.push_back({p.states.first + i + 1, static_cast<double>(p.map.median[i]), known_or_null(t.mean_dissimilarity[i]),
                              static_cast<double>(t.most_dissimilarity[i]), rank(t.most_dissimilar[i]), t.behind[i], rank(t.most_behind[i]), t.ahead[i],
                              rank(t.most_ahead[i])});
    return table;
}

ReportTable merged_table(const ComparedProcesses& p) {
    ReportTable table{"merged", "", "", {number("depth"), words("name"), words("class"), words("ranks"), {"processes", "", ColumnUnit::Count}}, {}, {},
                      {},       0,  ""};
    for (const char* key : {"least", "most"}) table.columns.push_back({key, "", ColumnUnit::Count});
    for (const MergedCall& call : merged_calls(p))
        table.rows.push_back(
            {call.depth, call.name, std::string(merged_class_name(call.kind)), number_ranges(call.ranks), call.processes, call.least, call.most});
    return table;
}

std::vector<std::string> group_lines(const ComparedProcesses& p, const ProcessWords& say, bool are_threads) {
    std::vector<std::string> lines;
    for (std::size_t g = 0; g < std::min(groups_in_text, p.shown().size()); ++g) {
        const std::vector<std::uint32_t>& rows = p.shown()[g].rows;
        const std::string part = say.parting(g);
        lines.push_back(fmt::format("group {}: {}{}{}", group_name(g), say.rows(rows),
                                    rows.size() > 1 && !are_threads ? fmt::format(" ({})", count(static_cast<double>(rows.size()))) : "",
                                    part.empty() ? "" : "; parts from A " + part));
        if (const std::string changes = say.changes(g); !changes.empty()) lines.back() += "; " + changes;
    }
    if (p.shown().size() > groups_in_text) lines.push_back(fmt::format("and {} more groups; --format json has their ranks", p.shown().size() - groups_in_text));
    return lines;
}

std::string map_sentence(const ComparedProcesses& p, const ProcessWords& say) {
    if (p.phase) return fmt::format("none computes 3 % longer than {} for long", say.median());
    std::size_t most = 0;
    for (std::size_t row = 0; row < p.map.locations.size(); ++row)
        if (p.map.at(row, 0) > p.map.at(most, 0)) most = row;
    if (p.map.locations.empty() || p.map.median.empty() || p.map.median[0] <= 0) return "no computing was measured";
    return printable(fmt::format("{} {} {} longer than {} {} ({} more)", say.row(*p.map.locations[most]), p.map.function.empty() ? "computes" : "takes",
                                 percent(static_cast<double>(p.map.at(most, 0)) / p.map.median[0]), say.median(),
                                 p.map.function.empty() ? "in the whole run" : "in an entry of " + p.map.function + ", without MPI and regions inside",
                                 duration(p.map.at(most, 0), {})));
}

/// The legend of the letters that the lines have.
std::string legend(const ComparedProcesses& p, const std::string& letters, const std::set<char>& used) {
    std::string text;
    for (std::size_t s = 0; s < letters.size(); ++s)
        if (used.contains(letters[s]) && letters[s] != '*' && p.states.names[s] == std::string(1, letters[s])) // kinds of iterations have letters
            text += fmt::format("{}kind {}", text.empty() ? "" : ", ", letters[s]);
        else if (used.contains(letters[s]) && letters[s] != '*')
            text += fmt::format("{}{} {}", text.empty() ? "" : ", ", letters[s], printable(p.states.names[s]));
    return text + (used.contains('*') ? ", * others" : "");
}

void draw_strips(const ComparedProcesses& p, FoldBy by, TextWriter& to) {
    constexpr std::size_t label = 10;
    const ChartColumns columns(p.states.iterations, to.width() - label - 3);
    const std::string letters = state_letters(p.states);
    std::set<char> used;
    const auto draw = [&](const std::string& name, const std::vector<FoldedSpan>& strip) {
        const std::string line = strip_line(strip, letters, p.states.first, columns);
        used.insert(line.begin(), line.end());
        to.row(fmt::format("  {} {}", left(to.style(), name, label), line));
    };
    draw("all", folded_strip(p.states, by));
    for (std::size_t g = 0; g < std::min(groups_in_text, p.rows_of_group.size()) && p.rows_of_group.size() > 1; ++g)
        draw("group " + group_name(g), strip_of(p, g, by));
    if (by != FoldBy::Outliers) draw("outliers", folded_strip(p.states, FoldBy::Outliers));
    if (const std::string text = legend(p, letters, used); !text.empty()) to.paragraph(text, "  ", "  ");
}

void draw_map(const ComparedProcesses& p, const ProcessWords& say, TextWriter& to) {
    constexpr std::size_t label = 18;
    const ChartColumns columns(p.map.iterations, to.width() - label - 3);
    std::vector<std::uint32_t> rows; // those with hot cells, heaviest first
    // Short cells may be far above all others.
    const HotCell& heaviest = p.cells.front().cell;
    const double full = std::clamp(heaviest.median > 0 ? 2 * heaviest.excess / heaviest.median : 1, 0.05, 2.0);
    for (const PlacedCell& placed : p.cells) {
        if (std::find(rows.begin(), rows.end(), placed.cell.row) == rows.end() && rows.size() < map_rows_in_text) rows.push_back(placed.cell.row);
    }
    for (const std::uint32_t row : rows)
        to.row(fmt::format("  {} {}", left(to.style(), say.row(*p.map.locations[row]), label), map_line(to.style(), p.map, row, columns, full)));
    if (!rows.empty()) to.dim(fmt::format("  full: {} above {}; '.': below it", percent(full), say.median()));
}

} // namespace

ReportDocument process_document(const Profile& profile, const ComparedProcesses& p, const ProcessForm& form) {
    const ProcessWords say(profile, p, form.threads);
    ReportDocument document = form.head;
    const auto add = [&](std::string heading, const std::vector<std::string>& sentences) {
        for (const std::string& sentence : sentences) {
            document.findings.emplace_back(heading, sentence);
            heading.clear(); // of the others, too
        }
    };
    std::vector<std::string> structure = group_lines(p, say, form.threads);
    for (std::string& sentence : sampled_sentences(p, say)) structure.push_back(std::move(sentence));
    add(say.levels(), structure);
    if (p.phase) add("over the iterations of " + printable(profile.phases[*p.phase].name), say.distances());
    std::vector<std::string> cells;
    for (const PlacedCell& placed : p.cells) cells.push_back(say.cell(placed));
    if (cells.empty()) cells.push_back(map_sentence(p, say));
    add("imbalance of computing", cells);
    for (const std::string& remark : say.remarks()) document.warnings.push_back(remark);
    document.properties = {{"processes", std::uint64_t{p.locations.size()}}, {"level", std::string(level_name(p.level))}};
    if (p.phase) document.properties.emplace_back("phase", printable(profile.phases[*p.phase].name));
    if (p.phase && !p.timelines.rows.empty()) document.properties.emplace_back("reference", std::uint64_t{p.states.locations[p.timelines.reference]->rank});
    if (!p.map.function.empty()) document.properties.emplace_back("segment", printable(p.map.function));
    document.tables = {groups_table(p, say), cells_table(p)};
    if (!form.everything) return document;
    document.tables.push_back(rows_table(p));
    if (p.phase) document.tables.push_back(strips_table(p));
    if (p.phase) document.tables.push_back(iterations_table(p));
    if (p.typical) document.tables.push_back(merged_table(p));
    if (p.samples.is_known()) document.tables.push_back(sampled_table(p));
    return document;
}

std::string process_text(const Profile& profile, const ComparedProcesses& p, const ProcessForm& form, const TextStyle& style) {
    const ProcessWords say(profile, p, form.threads);
    TextWriter to(style);
    append_head(form.head, to);
    to.heading("Structure", say.levels());
    for (const std::string& sentence : group_lines(p, say, form.threads)) to.paragraph(spelled(style, sentence), "  ", "    ");
    for (const std::string& sentence : sampled_sentences(p, say)) to.paragraph(spelled(style, sentence), "  ", "    ");
    if (p.phase) {
        to.heading(fmt::format("Iterations {}-{} of {}", p.states.first + 1, p.states.first + p.states.iterations, printable(profile.phases[*p.phase].name)),
                   fmt::format("{} state", fold_name(form.fold)));
        draw_strips(p, form.fold, to);
        for (const std::string& remark : say.remarks()) to.note(remark);
        for (const std::string& sentence : say.distances()) to.paragraph(spelled(style, sentence), "  ", "  ");
    }
    to.heading("Imbalance", fmt::format("{}against {}{}", p.map.function.empty() ? "computing without MPI and waiting, " : "", say.median(),
                                        p.phase ? " in each iteration" : ""));
    if (p.cells.empty()) to.paragraph(map_sentence(p, say), "  ", "  ");
    if (!p.cells.empty()) draw_map(p, say, to);
    for (const PlacedCell& placed : p.cells) to.paragraph(spelled(style, say.cell(placed)), "  ", "    ");
    return to.text();
}

} // namespace libprofile::tools
