#include "tools/report/correlations.hpp"

#include "tools/names/labels.hpp"
#include "tools/report/rows.hpp"
#include "tools/text/layout.hpp"
#include "tools/text/phrases.hpp"
#include "tools/timeline/counter_series.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <iterator>
#include <optional>

namespace libprofile::tools {

namespace {

constexpr std::size_t correlation_rows_shown = 20;

ReportValue known(double value) { return std::isnan(value) ? ReportValue(NotKnown{}) : ReportValue(value); }
ReportValue rank_or_none(const std::optional<std::uint32_t>& rank) { return rank ? ReportValue(std::uint64_t{*rank}) : ReportValue(); }

constexpr std::uint64_t enough_to_say = 10; // calls or tasks

/// Else it is a counter.
bool is_of_bytes(const DurationSeries& series) { return series.amount == "bytes" && series.unit == "bytes"; }

/// What the line says of the function with most time.
std::string correlation_words(const DurationSeries& series, const DurationFit& fit) {
    const std::string calls = fmt::format("{} of {}", plural(fit.count, series.is_of_tasks ? "task" : "call"), printable(series.group));
    if (fit.count < enough_to_say) return fmt::format("{}: too few to say how their durations depend on their {}", calls, printable(series.amount));
    if (std::isnan(fit.slope_ns))
        return fmt::format("{}: all have {:.0f} {}, so nothing can be said of how their duration depends on it", calls, fit.least, printable(series.amount));
    if (std::isnan(fit.pearson) || fit.r_squared < 0.5 || fit.slope_ns <= 0)
        return fmt::format("{}: their durations hardly depend on their {} (r² {:.2f}); something else decides{}", calls, printable(series.amount),
                           std::isnan(fit.r_squared) ? 0 : fit.r_squared, series.is_of_tasks ? "" : ", such as waiting for the other rank");
    const std::string each = is_of_bytes(series) ? byte_size(1e9 / fit.slope_ns) + " a second" : duration(fit.slope_ns, {}) + " each";
    return fmt::format("{}: their durations follow their {} (r² {:.2f}): {} without any, and {}, ± {}", calls, printable(series.amount), fit.r_squared,
                       duration(std::max(0.0, fit.intercept_ns), {}), each, percent(fit.slope_error_ns / fit.slope_ns));
}

/// Of the calls with bytes that take most time, and of the counter that explains most time.
void add_findings(const std::vector<DurationSeries>& list, const std::vector<DurationFit>& fits, ReportDocument& document) {
    std::optional<std::size_t> bytes, counter;
    if (is_of_bytes(list.front())) bytes = 0;
    double most = -1;
    for (std::size_t i = 0; i < list.size(); ++i) {
        const DurationFit& fit = fits[i];
        const double explained = (std::isnan(fit.r_squared) ? 0 : fit.r_squared) * fit.time_ns;
        if (!is_of_bytes(list[i]) && fit.count >= enough_to_say && explained > most) {
            most = explained;
            counter = i;
        }
    }
    const char* heading = "What the durations depend on";
    for (const std::optional<std::size_t>& said : {bytes, counter}) {
        if (!said) continue;
        document.findings.emplace_back(heading, correlation_words(list[*said], fits[*said]));
        heading = "";
    }
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
    document.facts.push_back("durations of MPI calls with messages, and of calls and tasks with counters" + (scope.empty() ? "" : ", " + scope));
    const PassingEvents passing(profile, choice.events);
    std::vector<DurationSeries> list = bytes_of_calls(profile, choice.ranks, is_chosen, passing);
    std::vector<DurationSeries> counters = counters_of_events(profile, choice.ranks, is_chosen, passing);
    if (list.empty() && counters.empty()) {
        const auto is_any = [&](auto&& has) { return std::any_of(profile.locations.begin(), profile.locations.end(), has); };
        const bool has_events = is_any([](const Location& location) { return location.events.stride != 0; });
        if (is_any([](const Location& location) { return !location.events.counts.empty(); }))
            throw SelectionError("there are no messages in what is chosen, and no counter grew in any of its calls and tasks");
        throw SelectionError(has_events ? "there are neither messages nor counters (LIBPROFILE_METRICS) in the events that were kept of what is chosen"
                                        : "the profile has no calls one by one; record them: LIBPROFILE_TRACE=events libprofile run -- PROGRAM");
    }
    if (passing.is_active() && !list.empty()) {
        const auto calls = [](const std::vector<DurationSeries>& all) {
            std::uint64_t sum = 0;
            for (const DurationSeries& series : all) sum += series.rank ? 0 : series.amounts.size();
            return sum;
        };
        const std::vector<DurationSeries> whole = bytes_of_calls(profile, choice.ranks, is_chosen, PassingEvents(profile, {}));
        document.warnings.push_back(passing.left_out(calls(list), calls(whole), "calls with messages"));
    }
    std::move(counters.begin(), counters.end(), std::back_inserter(list));
    std::vector<DurationFit> fits;
    for (const DurationSeries& series : list) fits.push_back(duration_fit(series));
    add_findings(list, fits, document);
    ReportTable table{"correlations",
                      "Durations, bytes and counters",
                      "a line of least squares through all calls or tasks; r² says how much of the differences it explains; ±: 95 % interval of its slope",
                      {{"function", "function", ColumnUnit::Text, false, 20},
                       {"of", "", ColumnUnit::Text},
                       {"rank", "rank", ColumnUnit::Number},
                       {"partner", "partner", ColumnUnit::Number},
                       {"amount", "amount", ColumnUnit::Text, false, 12},
                       {"calls", "number", ColumnUnit::Count},
                       {"time", "time", ColumnUnit::Ns},
                       {"least", "least", ColumnUnit::ByRow},
                       {"most", "most", ColumnUnit::ByRow},
                       {"pearson", "", ColumnUnit::Ratio},
                       {"r_squared", "r²", ColumnUnit::Ratio},
                       {"intercept_ns", "at 0", ColumnUnit::Ns},
                       {"slope_ns", "", ColumnUnit::Ratio},
                       {"slope_error_ns", "", ColumnUnit::Ratio},
                       {"", "each", ColumnUnit::Ns},
                       {"", "a second", ColumnUnit::ByteCount},
                       {"", "±", ColumnUnit::Share}},
                      {},
                      {},
                      {},
                      0,
                      "rows"};
    const std::size_t shown = choice.top != 0 ? choice.top : correlation_rows_shown;
    for (std::size_t i = 0; i < list.size(); ++i) {
        if ((!form.everything || choice.top != 0) && table.rows.size() >= shown) {
            ++table.left_out;
            continue;
        }
        const DurationSeries& series = list[i];
        const DurationFit& fit = fits[i];
        const bool has_rate = is_of_bytes(series) && fit.slope_ns > 0;
        table.units.push_back(unit_of(series.unit));
        table.rows.push_back({printable(series.group), series.is_of_tasks ? "tasks" : "calls", rank_or_none(series.rank), rank_or_none(series.partner),
                              printable(series.amount), fit.count, fit.time_ns, fit.least, fit.most, known(fit.pearson), known(fit.r_squared),
                              known(fit.intercept_ns), known(fit.slope_ns), known(fit.slope_error_ns),
                              is_of_bytes(series) ? ReportValue() : known(fit.slope_ns), has_rate ? ReportValue(1e9 / fit.slope_ns) : ReportValue(),
                              fit.count < enough_to_say ? ReportValue(NotKnown{}) : known(std::abs(fit.slope_error_ns / fit.slope_ns))});
    }
    document.hints.push_back(fmt::format("libprofile report {} --correlations --format csv    for a spreadsheet", form.folder));
    document.tables.push_back(std::move(table));
    return document;
}

} // namespace libprofile::tools
