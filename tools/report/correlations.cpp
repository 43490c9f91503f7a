#include "tools/report/correlations.hpp"

#include "tools/names/labels.hpp"
#include "tools/report/rows.hpp"
#include "tools/text/layout.hpp"
#include "tools/text/phrases.hpp"
#include "tools/timeline/duration_series.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace libprofile::tools {

namespace {

constexpr std::size_t correlation_rows_shown = 20;

ReportValue known(double value) { return std::isnan(value) ? ReportValue(NotKnown{}) : ReportValue(value); }
ReportValue rank_or_none(const std::optional<std::uint32_t>& rank) { return rank ? ReportValue(std::uint64_t{*rank}) : ReportValue(); }

/// What the line says of the function with most time.
std::string correlation_words(const DurationSeries& series, const DurationFit& fit) {
    const std::string calls = fmt::format("{} of {}", plural(fit.count, "call"), printable(series.group));
    if (std::isnan(fit.slope_ns))
        return fmt::format("{}: all have {:.0f} {}, so nothing can be said of how their duration depends on it", calls, fit.least, series.unit);
    if (std::isnan(fit.pearson) || fit.r_squared < 0.5 || fit.slope_ns <= 0)
        return fmt::format("{}: their durations hardly depend on their {} (r² {:.2f}); something else decides, such as waiting for the other rank", calls,
                           series.amount, std::isnan(fit.r_squared) ? 0 : fit.r_squared);
    return fmt::format("{}: their durations follow their {} (r² {:.2f}): {} without any, and {} a second", calls, series.amount, fit.r_squared,
                       duration(std::max(0.0, fit.intercept_ns), {100, false, false}), byte_size(1e9 / fit.slope_ns));
}

} // namespace

ReportDocument correlation_report(const Profile& profile, const ReportChoice& choice, const SelectionForm& form) {
    const FoundChoice found = find_choice(profile, choice);
    const auto is_chosen = [&](const EventPart& part) {
        if (!choice.phase && !choice.iterations) return true;
        if (part.kind != PartKind::Iteration || part.phase != found.phase) return false;
        return !choice.iterations || (part.number >= choice.iterations->first && part.number <= choice.iterations->last);
    };
    ReportDocument document = document_of(profile, choice);
    const std::string scope = scope_of(profile, choice, found);
    document.facts.push_back("durations of MPI calls with messages" + (scope.empty() ? "" : ", " + scope));
    const PassingEvents passing(profile, choice.events);
    const std::vector<DurationSeries> list = bytes_of_calls(profile, choice.ranks, is_chosen, passing);
    if (list.empty()) {
        const bool has_events = std::any_of(profile.locations.begin(), profile.locations.end(), [](const Location& l) { return l.events.stride != 0; });
        throw SelectionError(has_events ? "there are no messages in the events that were kept of what is chosen"
                                        : "the profile has no calls one by one; record them: LIBPROFILE_TRACE=events libprofile run -- PROGRAM");
    }
    if (passing.is_active()) {
        const auto calls = [](const std::vector<DurationSeries>& all) {
            std::uint64_t sum = 0;
            for (const DurationSeries& series : all) sum += series.rank ? 0 : series.amounts.size();
            return sum;
        };
        const std::vector<DurationSeries> whole = bytes_of_calls(profile, choice.ranks, is_chosen, PassingEvents(profile, {}));
        document.warnings.push_back(passing.left_out(calls(list), calls(whole), "calls with messages"));
    }
    ReportTable table{"correlations",
                      "Durations and bytes",
                      "a line of least squares through all calls; r² says how much of the differences it explains",
                      {{"function", "function", ColumnUnit::Text, false, 20},
                       {"rank", "rank", ColumnUnit::Number},
                       {"partner", "partner", ColumnUnit::Number},
                       {"amount", "", ColumnUnit::Text},
                       {"calls", "calls", ColumnUnit::Count},
                       {"time", "time", ColumnUnit::Ns},
                       {"least", "least", ColumnUnit::ByteCount},
                       {"most", "most", ColumnUnit::ByteCount},
                       {"pearson", "Pearson", ColumnUnit::Ratio},
                       {"r_squared", "r²", ColumnUnit::Ratio},
                       {"intercept_ns", "at 0 B", ColumnUnit::Ns},
                       {"slope_ns", "", ColumnUnit::Ratio},
                       {"", "a second", ColumnUnit::ByteCount}},
                      {},
                      {},
                      {},
                      0,
                      "rows"};
    const std::size_t shown = choice.top != 0 ? choice.top : correlation_rows_shown;
    for (const DurationSeries& series : list) {
        if ((!form.everything || choice.top != 0) && table.rows.size() >= shown) {
            ++table.left_out;
            continue;
        }
        const DurationFit fit = duration_fit(series);
        table.rows.push_back({printable(series.group), rank_or_none(series.rank), rank_or_none(series.partner), series.amount, fit.count, fit.time_ns,
                              fit.least, fit.most, known(fit.pearson), known(fit.r_squared), known(fit.intercept_ns), known(fit.slope_ns),
                              fit.slope_ns > 0 ? ReportValue(1e9 / fit.slope_ns) : ReportValue(NotKnown{})});
    }
    document.findings.emplace_back("What the durations depend on", correlation_words(list.front(), duration_fit(list.front())));
    document.hints.push_back(fmt::format("libprofile report {} --correlations --format csv    for a spreadsheet", form.folder));
    document.tables.push_back(std::move(table));
    return document;
}

} // namespace libprofile::tools
