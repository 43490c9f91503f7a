#include "tools/analysis/answers.hpp"

#include "tools/analysis/hot_spots.hpp"
#include "tools/analysis/iterations.hpp"
#include "tools/analysis/totals.hpp"
#include "tools/names/labels.hpp"
#include "tools/text/layout.hpp"
#include "tools/text/phrases.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <initializer_list>
#include <set>

namespace libprofile::tools {

namespace {

using enum CatalogueId;
using Locations = std::vector<const Location*>;

std::uint64_t at(const MetricValues& values, CatalogueId id) { return values[static_cast<std::size_t>(id)]; }

std::uint64_t less(const MetricValues& values, CatalogueId id, std::initializer_list<CatalogueId> without) {
    std::uint64_t value = at(values, id);
    for (const CatalogueId other : without)
        value -= std::min(value, at(values, other));
    return value;
}

double median_of(const std::vector<double>& values) { return spread_of(values).median; }

/// "MPI_Waitall in exchange".
std::string spot_text(const Spot& spot) {
    return without_anonymous(printable(shown_name(spot.kind, spot.name)) + (spot.caller.empty() ? "" : " in " + printable(spot.caller)));
}

Answer where_the_time_goes(const Profile& profile, const Locations& locations) {
    Answer answer{"time", "Where the time goes", {}};
    std::string line;
    std::size_t named = 0;
    for (const TimePart& part : time_parts(profile, locations))
        if (named++ < 3)
            line += fmt::format("{}{} {}", line.empty() ? "" : ", ", percent(part.share), part.name);
    if (!line.empty())
        answer.sentences.push_back(line + (locations.size() > 1 ? " (mean over ranks)" : ""));
    SpotTable table = spot_table(profile);
    double wall = 0;
    for (const Location* location : locations)
        wall += location == nullptr ? 0 : static_cast<double>(location->wall_ns);
    line.clear();
    named = 0;
    for (const HotSpot& spot : hot_spots(profile, locations, table)) {
        const Spot& what = table.spots[spot.spot];
        if (what.kind == NodeKind::Overhead || what.kind == NodeKind::OffCpu || what.kind == NodeKind::NotRecorded || wall == 0)
            continue; // said above
        if (named++ == 3 || spot.total < 0.005 * wall)
            break;
        line += fmt::format("{}{} {}", line.empty() ? "" : ", ", percent(spot.total / wall),
                            what.kind == NodeKind::NotSampled ? "in code that no sample hit" : spot_text(what));
    }
    if (!line.empty())
        answer.sentences.push_back("most in: " + line);
    return answer;
}

std::string trend_text(const Trend& trend, const std::string& name) {
    const auto time = [](double ns) { return duration(ns, {}); };
    const std::string which = fmt::format("{} of \"{}\"", plural(trend.iterations, "iteration"), name);
    if (!trend.changes)
        return fmt::format("{}: no trend, {} each from start to end", which, time(trend.typical));
    const double change = trend.early == 0 ? 0 : trend.late / trend.early - 1;
    const std::string by = change >= 2 ? fmt::format("{:.2g} times as long", change + 1)
                                       : fmt::format("{}{}", change > 0 ? "+" : "-", percent(std::abs(change)));
    return fmt::format("{} get {}: {} in the first tenth, {} in the last ({})", which, change > 0 ? "longer" : "shorter",
                       time(trend.early), time(trend.late), by);
}

Answer what_changes(const Profile& profile, const std::vector<Trend>& found) {
    Answer answer{"change", "What changes over time", {}};
    constexpr std::size_t shown = 2; // phases
    std::size_t n = 0;
    for (const Trend& trend : found) {
        if (n++ == shown)
            break;
        answer.sentences.push_back(trend_text(trend, printable(profile.phases[trend.phase].name)));
        if (trend.slow.empty())
            continue;
        std::vector<std::uint64_t> numbers;
        for (const std::uint64_t i : trend.slow)
            numbers.push_back(i + 1);
        answer.sentences.push_back(fmt::format("{} over 1.5 times the typical {}{} ({}): together {} more time",
                                               plural(trend.slow.size(), "iteration") + (trend.slow.size() == 1 ? " takes" : " take"),
                                               duration(trend.typical, {}),
                                               trend.period != 0 ? fmt::format(", every {}", count(static_cast<double>(trend.period))) : "",
                                               number_ranges(numbers, 4), percent(trend.slow_share)));
    }
    if (answer.sentences.empty())
        answer.sentences.push_back("not known: no loop of the program is marked (profile_iteration_begin, MPI_Pcontrol; "
                                   "docs/getting-started.md)");
    return answer;
}

/// The function whose own time differs most between ranks: that is where they wait for each other, or where one does more.
std::string most_unequal(const Profile& profile, const Locations& locations) {
    SpotTable table = spot_table(profile);
    double wall = 0, widest = 0;
    std::string text;
    for (const Location* location : locations)
        wall = std::max(wall, location == nullptr ? 0.0 : static_cast<double>(location->wall_ns));
    for (const HotSpot& spot : hot_spots(profile, locations, table)) {
        const Spot& what = table.spots[spot.spot];
        if (what.kind == NodeKind::Overhead || what.kind == NodeKind::NotSampled)
            continue;
        std::size_t low = locations.size(), high = locations.size();
        for (std::size_t l = 0; l < locations.size(); ++l) {
            if (locations[l] == nullptr)
                continue;
            low = low == locations.size() || spot.by_location[l] < spot.by_location[low] ? l : low;
            high = high == locations.size() || spot.by_location[l] > spot.by_location[high] ? l : high;
        }
        if (low == locations.size() || spot.by_location[high] - spot.by_location[low] <= std::max(widest, 0.02 * wall))
            continue;
        widest = spot.by_location[high] - spot.by_location[low];
        text = fmt::format("most unequal: {}, {} on rank {}, {} on rank {}", spot_text(what), duration(spot.by_location[low], {}),
                           locations[low]->rank, duration(spot.by_location[high], {}), locations[high]->rank);
    }
    return text;
}

Answer which_ranks(const Profile& profile, const Locations& locations) {
    Answer answer{"ranks", "Which ranks differ", {}};
    const auto spread = rank_spread(profile, locations);
    if (!spread) {
        answer.sentences.push_back(locations.size() < 2 ? "there is one rank only" : "there are data of one rank only");
        return answer;
    }
    if (spread->over_mean < 0.02) {
        answer.sentences.push_back(
            fmt::format("hardly any: the busiest rank ({}) computes {} longer than the mean", spread->busiest, percent(spread->over_mean)));
    } else {
        answer.sentences.push_back(fmt::format("rank {} computes most: {}, {} over the mean; rank {} least: {}", spread->busiest,
                                               duration(spread->most, {}), percent(spread->over_mean), spread->idlest,
                                               duration(spread->least, {})));
        answer.sentences.push_back(fmt::format("with the work spread evenly the run could be about {} shorter", percent(spread->gain)));
    }
    if (const std::string unequal = most_unequal(profile, locations); !unequal.empty())
        answer.sentences.push_back(unequal);
    if (!spread->odd.empty()) {
        std::set<std::string> hosts;
        for (const std::uint64_t rank : spread->odd)
            hosts.insert(profile.ranks.at(static_cast<std::uint32_t>(rank)).host);
        std::set<std::string> all;
        for (const auto& [rank, info] : profile.ranks)
            all.insert(info.host);
        answer.sentences.push_back(fmt::format("unlike the others: {}{}", rank_words(spread->odd),
                                               hosts.size() == 1 && all.size() > 1 ? ", on " + printable(*hosts.begin()) : ""));
    }
    return answer;
}

} // namespace

std::vector<TimePart> time_parts(const Profile& profile, const Locations& locations) {
    struct Rule {
        const char* name;
        CatalogueId id;
        std::initializer_list<CatalogueId> without;
    };
    static const Rule rules[] = {{"computation", Execution, {Mpi, OffCpu}},
                                 {"MPI point-to-point", MpiPointToPoint, {}},
                                 {"MPI collectives", MpiCollective, {}},
                                 {"MPI synchronization", MpiSync, {}},
                                 {"MPI one-sided", MpiOneSided, {}},
                                 {"MPI file I/O", MpiFileIo, {}},
                                 {"MPI init/exit", MpiInitExit, {}},
                                 {"other MPI", Mpi, {MpiCommunication, MpiSync, MpiFileIo, MpiInitExit}},
                                 {"off CPU, outside MPI", OffCpu, {}},
                                 {"not recorded", NotRecorded, {}},
                                 {"libprofile", Overhead, {}}};
    std::vector<MetricValues> values;
    for (const Location* location : locations)
        if (location != nullptr)
            values.push_back(totals(profile, *location));
    std::vector<TimePart> parts;
    for (const Rule& rule : rules) {
        std::vector<double> shares;
        for (const MetricValues& v : values)
            shares.push_back(at(v, Total) == 0 ? 0 : static_cast<double>(less(v, rule.id, rule.without)) / static_cast<double>(at(v, Total)));
        const Spread spread = spread_of(shares);
        if (spread.sum > 0)
            parts.push_back({rule.name, spread.sum / static_cast<double>(shares.size()), spread.minimum, spread.maximum});
    }
    std::stable_sort(parts.begin(), parts.end(), [](const TimePart& a, const TimePart& b) { return a.share > b.share; });
    return parts;
}

std::vector<Trend> trends(const Profile& profile, const Locations& locations) {
    std::vector<std::pair<double, Trend>> list;
    for (std::uint32_t p = 0; p < profile.phases.size(); ++p) {
        if (profile.phases[p].kind != PhaseKind::Iterations)
            continue;
        IterationSeries series = iteration_times(locations, p);
        const std::size_t n = series.maximum.size();
        if (n == 0)
            continue;
        Trend trend;
        trend.phase = p;
        trend.iterations = n;
        trend.slowest_rank = std::move(series.maximum);
        const std::vector<double>& times = trend.slowest_rank;
        trend.typical = median_of(times);
        const auto tenth = static_cast<std::ptrdiff_t>(std::max<std::size_t>(1, n / 10));
        trend.early = median_of({times.begin(), times.begin() + tenth});
        trend.late = median_of({times.end() - tenth, times.end()});
        trend.changes = n >= 20 && trend.early != 0 && std::abs(trend.late / trend.early - 1) >= 0.05;
        double all = 0, excess = 0;
        for (std::size_t i = 0; i < n; ++i) {
            all += times[i];
            if (times[i] <= 1.5 * trend.typical)
                continue;
            trend.slow.push_back(i);
            excess += times[i] - trend.typical;
        }
        if (trend.slow.size() * 4 >= n)
            trend.slow.clear();
        trend.slow_share = all == 0 ? 0 : excess / all;
        std::vector<double> steps;
        for (std::size_t i = 1; i < trend.slow.size(); ++i)
            steps.push_back(static_cast<double>(trend.slow[i] - trend.slow[i - 1]));
        const double every = median_of(steps);
        const auto regular = std::count_if(steps.begin(), steps.end(), [&](double s) { return std::abs(s - every) <= std::max(1.0, every * 0.05); });
        if (steps.size() >= 3 && every > 1 && static_cast<double>(regular) >= 0.7 * static_cast<double>(steps.size()))
            trend.period = static_cast<std::uint64_t>(std::llround(every));
        double wall = 0;
        for (const Location* location : locations)
            if (const PhaseData* data = find_phase(location, p))
                wall += static_cast<double>(data->wall_inclusive_ns);
        list.emplace_back(wall, std::move(trend));
    }
    std::stable_sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    std::vector<Trend> out;
    for (auto& [wall, trend] : list)
        out.push_back(std::move(trend));
    return out;
}

std::optional<RankSpread> rank_spread(const Profile& profile, const Locations& locations) {
    std::vector<std::pair<std::uint32_t, double>> ranks;
    double total = 0, sum = 0;
    for (const Location* location : locations) {
        if (location == nullptr)
            continue;
        const MetricValues values = totals(profile, *location);
        ranks.emplace_back(location->rank, static_cast<double>(less(values, Execution, {Mpi, OffCpu})));
        total += static_cast<double>(at(values, Total));
        sum += ranks.back().second;
    }
    if (ranks.size() < 2)
        return std::nullopt;
    const auto n = static_cast<double>(ranks.size());
    const auto by_time = [](const auto& a, const auto& b) { return a.second < b.second; };
    const auto most = *std::max_element(ranks.begin(), ranks.end(), by_time), least = *std::min_element(ranks.begin(), ranks.end(), by_time);
    RankSpread spread;
    spread.busiest = most.first;
    spread.idlest = least.first;
    spread.most = most.second;
    spread.least = least.second;
    spread.over_mean = sum == 0 ? 0 : most.second / (sum / n) - 1;
    spread.gain = total == 0 ? 0 : (most.second - sum / n) / (total / n);
    std::vector<double> times, deviations;
    for (const auto& [rank, time] : ranks)
        times.push_back(time);
    const double middle = median_of(times);
    for (const double time : times)
        deviations.push_back(std::abs(time - middle));
    const double deviation = 1.4826 * median_of(deviations); // of a normal distribution
    for (const auto& [rank, time] : ranks)
        if (std::abs(time - middle) > std::max(4 * deviation, 0.05 * middle))
            spread.odd.push_back(rank);
    if (spread.odd.size() * 4 > ranks.size())
        spread.odd.clear();
    return spread;
}

std::vector<Answer> answers(const Profile& profile, const Locations& locations, const std::vector<Trend>& found) {
    return {where_the_time_goes(profile, locations), what_changes(profile, found), which_ranks(profile, locations)};
}

std::vector<Answer> answers(const Profile& profile, const Locations& locations) {
    return answers(profile, locations, trends(profile, locations));
}

} // namespace libprofile::tools
