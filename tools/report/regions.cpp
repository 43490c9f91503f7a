#include "tools/analysis/regions.hpp"
#include "tools/names/labels.hpp"
#include "tools/reader/kept_iterations.hpp"
#include "tools/report/sections.hpp"
#include "tools/text/phrases.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace libprofile::tools {

namespace {

constexpr std::size_t most_rows = 15;

void append_rows(const std::vector<RegionRow>& rows, TextWriter& to) {
    const TextStyle& style = to.style();
    const std::size_t room = to.width() - 53;
    to.dim(fmt::format("  {} {:>12} {:>12} {:>12} {:>11}", left(style, "", room), "visits", "time", "own time", "per visit"));
    for (std::size_t i = 0; i < std::min(rows.size(), most_rows); ++i) {
        const RegionRow& row = rows[i];
        const std::string name = printable(row.kind == NodeKind::FunctionRegion ? short_function_name(row.name) : row.name);
        to.line(fmt::format("  {} {} {} {} {}", left(style, without_anonymous(name), room), right(style, count(static_cast<double>(row.visits)), 12),
                            right(style, duration(static_cast<double>(row.inclusive_ns), style), 12),
                            right(style, duration(static_cast<double>(row.exclusive_ns), style), 12), right(style, duration(row.mean_ns(), style), 11)));
    }
    if (rows.size() > most_rows) to.dim(fmt::format("  and {} more", rows.size() - most_rows));
}

/// A table of its own: there may be eight of them.
void append_counters(const ReportContext& context, const std::vector<RegionRow>& rows, TextWriter& to) {
    const RegionCounters counters = region_counters(context.profile);
    const TextStyle& style = to.style();
    for (std::size_t first = 0; first < counters.names.size();) {
        std::size_t last = first, room = to.width() - 2;
        std::vector<std::size_t> widths;
        for (std::size_t used = 20; last < counters.names.size(); ++last) {
            const std::size_t width = std::max<std::size_t>(12, counters.names[last].size() + 1);
            if (last != first && used + width > to.width() - 2) break;
            widths.push_back(width);
            used += width;
            room -= std::min(room, width);
        }
        room = std::max<std::size_t>(room, 12);
        std::string head = fmt::format("  {}", left(style, "counted, inside included", room));
        for (std::size_t i = first; i < last; ++i) head += right(style, printable(counters.names[i]), widths[i - first]);
        to.dim(head);
        for (std::size_t r = 0; r < std::min(rows.size(), most_rows); ++r) {
            std::string line = fmt::format("  {}", left(style, printable(rows[r].name), room));
            for (std::size_t i = first; i < last; ++i) line += right(style, count(static_cast<double>(rows[r].counted[i])), widths[i - first]);
            to.line(line);
        }
        first = last;
    }
}

/// What LIBPROFILE_FILTER did; it knows functions, not which of them are instrumented.
void append_filter(const ReportContext& context, TextWriter& to) {
    const std::string file = setting_of(context.profile.job.configuration, "LIBPROFILE_FILTER");
    const std::optional<RegionsRecord> record = region_losses(context.profile);
    if (file.empty() || !record) return;
    const std::string what = record->excluded == 0
                                 ? "nothing: none of its lines excludes a function of the program or its libraries"
                                 : count(static_cast<double>(record->excluded)) + " functions of the program and its libraries, instrumented or not";
    to.paragraph(fmt::format("LIBPROFILE_FILTER={} left out {}", printable(file), what), "  ", "  ");
}

} // namespace

void append_regions(const ReportContext& context, TextWriter& to) {
    std::vector<RegionRow> named = region_rows(context.profile), functions;
    const auto first = std::stable_partition(named.begin(), named.end(), [](const RegionRow& row) { return row.kind == NodeKind::Region; });
    functions.assign(std::make_move_iterator(first), std::make_move_iterator(named.end()));
    named.erase(first, named.end());
    if (!named.empty()) {
        to.heading("Regions", "all threads; own time: without regions inside, MPI calls and libprofile");
        append_rows(named, to);
        append_counters(context, named, to);
    }
    if (functions.empty()) return append_filter(context, to);
    to.heading("Instrumented functions", "all threads; own time: without instrumented functions inside, MPI calls and libprofile");
    append_rows(functions, to);
    double visits = 0;
    for (const RegionRow& row : functions) visits += static_cast<double>(row.visits);
    const double cost = visits * visit_cost_ns(context.profile);
    if (cost > 0.01 * context.wall)
        to.paragraph(fmt::format("their {} visits cost about {}; `libprofile filter FOLDER` lists the functions that are better left out", count(visits),
                                 duration(cost, to.style())),
                     "  ", "  ");
    append_filter(context, to);
}

} // namespace libprofile::tools
