#include "tools/analysis/findings.hpp"

#include "tools/analysis/cost.hpp"
#include "tools/analysis/hot_spots.hpp"
#include "tools/analysis/loops.hpp"
#include "tools/analysis/teams.hpp"
#include "tools/analysis/totals.hpp"
#include "tools/names/labels.hpp"
#include "tools/text/layout.hpp"
#include "tools/text/phrases.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <initializer_list>
#include <map>
#include <set>

namespace libprofile::tools {

namespace {

using enum CatalogueId;
using Locations = std::vector<const Location*>;

std::uint64_t at(const MetricValues& values, CatalogueId id) { return values[static_cast<std::size_t>(id)]; }

std::uint64_t less(const MetricValues& values, CatalogueId id, std::initializer_list<CatalogueId> without) {
    std::uint64_t value = at(values, id);
    for (const CatalogueId other : without) value -= std::min(value, at(values, other));
    return value;
}

double median_of(const std::vector<double>& values) { return spread_of(values).median; }

/// What the main threads used of a processor, at most: a sample, taken or lost, stands for a period of processor time. 1: not known.
double processor_share(const Profile& profile, const Locations& locations) {
    constexpr std::uint64_t enough = 30; // samples: the share is known to a fifth of itself
    double used = 0, wall = 0;
    std::uint64_t samples = 0;
    for (const Location* location : locations) {
        const auto info = location == nullptr ? profile.ranks.end() : profile.ranks.find(location->rank);
        if (info == profile.ranks.end()) continue;
        const bool counts_processor_time = info->second.sampling_clock == SamplingClock::Timer || info->second.sampling_clock == SamplingClock::Perf;
        // Some samples of a killed rank are unknown; none is taken while recording is off.
        constexpr std::uint64_t unthrottled = 1000; // per second: above, the kernel may let samples go without a trace
        if (!counts_processor_time || info->second.rate == 0 || info->second.rate > unthrottled || !info->second.complete ||
            at(totals(profile, *location), NotRecorded) != 0)
            return 1;
        samples += info->second.samples_taken + info->second.samples_lost;
        used += static_cast<double>(info->second.samples_taken + info->second.samples_lost) / static_cast<double>(info->second.rate);
        wall += static_cast<double>(location->wall_ns) / 1e9;
    }
    return samples < enough || wall == 0 ? 1 : std::min(1.0, used / wall);
}

/// Which of the hottest functions may stand in another order.
std::string open_order(const std::vector<Hottest>& list) {
    const bool first = list.size() > 1 && list[1].is_order_open, last = list.size() > 2 && list[2].is_order_open;
    if (!first && !last) return "";
    return fmt::format("the order of the {} is within sampling error", first && last ? "three" : list.size() == 2 ? "two" : first ? "first two" : "last two");
}

Finding where_the_time_goes(const Profile& profile, const Locations& locations) {
    Finding finding{"time", "Where the time goes", {}};
    std::string line;
    std::size_t named = 0;
    for (const TimePart& part : time_parts(profile, locations))
        if (named++ < 3) line += fmt::format("{}{} {}", line.empty() ? "" : ", ", percent(part.share), part.name);
    if (!line.empty()) finding.sentences.push_back(line + (locations.size() > 1 ? " (mean over ranks)" : ""));
    line.clear();
    const std::vector<Hottest> hottest = hottest_functions(profile, locations);
    for (const Hottest& one : hottest) line += fmt::format("{}{} {}", line.empty() ? "" : ", ", share_text(one), one.text);
    if (!line.empty()) finding.sentences.push_back("most in: " + line);
    if (const std::string open = open_order(hottest); !open.empty()) finding.sentences.push_back(open);
    if (const double share = processor_share(profile, locations); share < 0.7)
        finding.sentences.push_back(
            fmt::format("according to the samples, ranks had a processor for only {} of the time, MPI included: they slept, or shared processors; "
                        "then part of the computation may count as off CPU",
                        percent(share)));
    return finding;
}

std::string trend_text(const Trend& trend, const std::string& name) {
    const auto time = [](double ns) { return duration(ns, {}); };
    const std::string where = trend.rank ? fmt::format(" on rank {}", *trend.rank) : "";
    const std::string which = fmt::format("{} of \"{}\"{}", plural(trend.iterations, "iteration"), name, where);
    if (trend.iterations < Trend::fewest) {
        const auto [shortest, longest] = std::minmax_element(trend.times.begin(), trend.times.end());
        if (time(*shortest) == time(*longest)) return fmt::format("{} took {}{}", which, time(*longest), trend.iterations == 1 ? "" : " each");
        return fmt::format("{} took {} to {}; fewer than {} show no trend", which, time(*shortest), time(*longest), Trend::fewest);
    }
    const double change = trend.change();
    const bool is_tenth = trend.compared == trend.iterations / 10;
    const std::string first = fmt::format("{} in the first {}", time(trend.early), is_tenth ? "tenth" : fmt::format("{}", trend.compared));
    const std::string last = fmt::format("{} in the last{}", time(trend.late), is_tenth ? "" : fmt::format(" {}", trend.compared));
    if (!trend.changes) return fmt::format("{}: no trend{} {} and {}", which, std::abs(change) < Trend::least_change ? "," : " beyond chance:", first, last);
    const std::string by = change >= 2 ? fmt::format("{:.{}f} times as long", change + 1, change + 1 < 9.95 ? 1 : 0)
                                       : fmt::format("{}{}", change > 0 ? "+" : "-", percent(std::abs(change)));
    return fmt::format("{} get {}: {}, {} ({})", which, change > 0 ? "longer" : "shorter", first, last, by);
}

Finding what_changes(const Profile& profile, const std::vector<Trend>& found) {
    Finding finding{"change", "What changes over time", {}};
    constexpr std::size_t shown = 2; // phases
    std::size_t n = 0;
    for (const Trend& trend : found) {
        if (n++ == shown) break;
        for (std::string& sentence : trend_sentences(profile, trend)) finding.sentences.push_back(std::move(sentence));
    }
    const std::vector<std::string> loops = loop_sentences(profile);
    finding.sentences.insert(finding.sentences.end(), loops.begin(), loops.end());
    const bool is_short_of_memory = std::any_of(profile.ranks.begin(), profile.ranks.end(), [](const auto& rank) { return rank.second.quota_losses != 0; });
    if (finding.sentences.empty() && is_short_of_memory)
        finding.sentences.push_back("not known: this profile has no iterations. Memory ran out or there were too many phases, so iterations may have been "
                                    "lost; raise LIBPROFILE_MEMORY (docs/clustering.md), or use fewer phase names");
    else if (finding.sentences.empty())
        finding.sentences.push_back("not known: this profile has no iterations. LIBPROFILE_ITERATION=auto, the default, looks for the program's main loop at "
                                    "the MPI calls of its main thread, but not with LIBPROFILE_CALLPATHS=0 or LIBPROFILE_MEMORY below 3M (docs/iterations.md). "
                                    "Or mark it: MPI_Pcontrol(1000) at the beginning of its body, or profile_iteration_begin(\"step\") and "
                                    "profile_iteration_end(\"step\") around the body (docs/getting-started.md)");
    return finding;
}

/// The function whose own time differs most between ranks: that is where they wait for each other, or where one does more.
std::string most_unequal(const Profile& profile, const Locations& locations) {
    SpotTable table = spot_table(profile);
    double wall = 0, widest = 0;
    std::string text;
    for (const Location* location : locations) wall = std::max(wall, location == nullptr ? 0.0 : static_cast<double>(location->wall_ns));
    for (const HotSpot& spot : hot_spots(profile, locations, table)) {
        const Spot& what = table.spots[spot.spot];
        if (what.kind == NodeKind::Overhead || what.kind == NodeKind::NotSampled) continue;
        std::size_t low = locations.size(), high = locations.size();
        for (std::size_t l = 0; l < locations.size(); ++l) {
            if (locations[l] == nullptr) continue;
            low = low == locations.size() || spot.by_location[l] < spot.by_location[low] ? l : low;
            high = high == locations.size() || spot.by_location[l] > spot.by_location[high] ? l : high;
        }
        if (low == locations.size() || spot.by_location[high] - spot.by_location[low] <= std::max(widest, 0.02 * wall)) continue;
        widest = spot.by_location[high] - spot.by_location[low];
        text = fmt::format("most unequal: {}, {} on rank {}, {} on rank {}", spot_text(what), duration(spot.by_location[low], {}), locations[low]->rank,
                           duration(spot.by_location[high], {}), locations[high]->rank);
    }
    return text;
}

Finding which_ranks(const Profile& profile, const Locations& locations) {
    Finding finding{"ranks", "Which ranks differ", {}};
    const auto spread = rank_spread(profile, locations);
    if (!spread) {
        finding.sentences.push_back(locations.size() < 2 ? "there is one rank only" : "there are data of one rank only");
        return finding;
    }
    // A rank that computes twice as long as others matters little where all hardly compute.
    if (spread->most == 0) {
        finding.sentences.push_back("no rank was seen computing outside MPI");
    } else if (spread->over_mean < 0.02) {
        finding.sentences.push_back(
            fmt::format("hardly any: the busiest rank ({}) computes {} longer than the mean", spread->busiest, percent(spread->over_mean)));
    } else if (spread->gain < 0.005) {
        finding.sentences.push_back(fmt::format("ranks compute differently, but so little that it hardly matters: rank {} most, {}, {} over the mean; "
                                                "spread evenly, the run would be about {} shorter",
                                                spread->busiest, duration(spread->most, {}), percent(spread->over_mean), percent(spread->gain)));
    } else {
        finding.sentences.push_back(fmt::format("rank {} computes most: {}, {} over the mean; rank {} least: {}", spread->busiest, duration(spread->most, {}),
                                                percent(spread->over_mean), spread->idlest, duration(spread->least, {})));
        finding.sentences.push_back(fmt::format("with the work spread evenly the run could be about {} shorter", percent(spread->gain)));
    }
    if (const std::string unequal = most_unequal(profile, locations); !unequal.empty()) finding.sentences.push_back(unequal);
    if (!spread->odd.empty()) {
        std::set<std::string> hosts;
        for (const std::uint64_t rank : spread->odd) hosts.insert(profile.ranks.at(static_cast<std::uint32_t>(rank)).host);
        std::set<std::string> all;
        for (const auto& [rank, info] : profile.ranks) all.insert(info.host);
        finding.sentences.push_back(
            fmt::format("unlike the others: {}{}", rank_words(spread->odd), hosts.size() == 1 && all.size() > 1 ? ", on " + printable(*hosts.begin()) : ""));
    }
    return finding;
}

} // namespace

bool starts_or_ends_mpi(const Profile& profile, const Spot& spot) {
    return spot.kind == NodeKind::Mpi && std::any_of(profile.functions.begin(), profile.functions.end(), [&](const Function& function) {
               return function.category == TimeCategory::MpiInitExit && function.name == spot.name;
           });
}

std::string share_text(const Hottest& one) {
    const std::string share = percent(one.share);
    return one.error < 0.0005 ? share : fmt::format("{} +- {}", share.substr(0, share.find(' ')), percent(one.error));
}

std::vector<Hottest> hottest_functions(const Profile& profile, const Locations& locations) {
    constexpr std::size_t shown = 3;
    constexpr double smallest = 0.005;
    double wall = 0;
    for (const Location* location : locations) wall += location == nullptr ? 0 : static_cast<double>(location->wall_ns);
    std::vector<Hottest> list;
    std::vector<std::string> sources;
    SpotTable table = spot_table(profile);
    const std::vector<HotSpot> spots = hot_spots(profile, locations, table);
    const SpotErrors errors = spot_errors(profile, locations, table);
    const HotSpot* before = nullptr;
    for (const HotSpot& spot : spots) {
        const Spot& what = table.spots[spot.spot];
        const bool is_away = what.kind == NodeKind::OffCpu && what.caller.empty();
        const bool is_part = what.kind == NodeKind::Overhead || is_away || what.kind == NodeKind::NotRecorded;
        if (is_part || starts_or_ends_mpi(profile, what)) continue;
        if (list.size() == shown || wall == 0 || spot.total < smallest * wall) break;
        list.push_back({spot.total / wall, errors.of(spot) / wall, before != nullptr && errors.is_order_open(*before, spot),
                        what.kind == NodeKind::NotSampled ? "in code that no sample hit" : spot_text(what)});
        before = &spot;
        sources.push_back(what.source);
    }
    // Two call sites in one function are told apart by their lines.
    std::map<std::string, std::size_t> times;
    for (const Hottest& one : list) ++times[one.text];
    for (std::size_t i = 0; i < list.size(); ++i)
        if (times[list[i].text] > 1 && !sources[i].empty()) list[i].text += " (" + printable(sources[i]) + ")";
    return list;
}

std::vector<std::string> trend_sentences(const Profile& profile, const Trend& trend) {
    std::vector<std::string> sentences = {trend_text(trend, printable(profile.phases[trend.phase].name))};
    if (trend.slow.empty()) return sentences;
    std::vector<std::uint64_t> numbers;
    for (const std::uint64_t i : trend.slow) numbers.push_back(i + 1);
    sentences.push_back(fmt::format("{} over 1.5 times the typical {}{} ({}): the excess is {} of the time of all iterations",
                                    plural(trend.slow.size(), "iteration") + (trend.slow.size() == 1 ? " takes" : " take"), duration(trend.typical, {}),
                                    trend.period != 0 ? fmt::format(", every {}", count(static_cast<double>(trend.period))) : "", number_ranges(numbers, 4),
                                    percent(trend.slow_share)));
    return sentences;
}

std::vector<TimePart> time_parts(const Profile& profile, const Locations& locations) {
    struct Rule {
        const char* name;
        CatalogueId id;
        std::initializer_list<CatalogueId> without;
    };
    static const Rule rules[] = {{"computation", Execution, {Mpi, OpenMp, OffCpu}},
                                 {"MPI point-to-point", MpiPointToPoint, {}},
                                 {"MPI collectives", MpiCollective, {}},
                                 {"MPI synchronization", MpiSync, {}},
                                 {"MPI one-sided", MpiOneSided, {}},
                                 {"MPI file I/O", MpiFileIo, {}},
                                 {"MPI init/exit", MpiInitExit, {}},
                                 {"other MPI", Mpi, {MpiCommunication, MpiSync, MpiFileIo, MpiInitExit}},
                                 {"OpenMP barriers", OmpBarrier, {}},
                                 {"OpenMP, idle between regions", OmpIdle, {}},
                                 {"OpenMP locks", OmpLock, {}},
                                 {"OpenMP tasks", OmpTask, {}},
                                 {"other OpenMP", OpenMp, {OmpBarrier, OmpIdle, OmpLock, OmpTask}},
                                 {"off CPU, outside MPI", OffCpu, {}},
                                 {"not recorded", NotRecorded, {}},
                                 {"libprofile", Overhead, {}}};
    std::vector<MetricValues> values;
    for (const Location* location : locations)
        if (location != nullptr) values.push_back(totals(profile, *location));
    std::vector<TimePart> parts;
    for (const Rule& rule : rules) {
        std::vector<double> shares;
        for (const MetricValues& v : values)
            shares.push_back(at(v, Total) == 0 ? 0 : static_cast<double>(less(v, rule.id, rule.without)) / static_cast<double>(at(v, Total)));
        const Spread spread = spread_of(shares);
        if (spread.sum > 0) parts.push_back({rule.name, spread.sum / static_cast<double>(shares.size()), spread.minimum, spread.maximum});
    }
    std::stable_sort(parts.begin(), parts.end(), [](const TimePart& a, const TimePart& b) { return a.share > b.share; });
    return parts;
}

std::optional<RankSpread> rank_spread(const Profile& profile, const Locations& locations) {
    std::vector<std::pair<std::uint32_t, double>> ranks;
    double total = 0, sum = 0;
    for (const Location* location : locations) {
        if (location == nullptr) continue;
        const MetricValues values = totals(profile, *location);
        ranks.emplace_back(location->rank, static_cast<double>(less(values, Execution, {Mpi, OpenMp, OffCpu})));
        total += static_cast<double>(at(values, Total));
        sum += ranks.back().second;
    }
    if (ranks.size() < 2) return std::nullopt;
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
    for (const auto& [rank, time] : ranks) times.push_back(time);
    const double middle = median_of(times);
    for (const double time : times) deviations.push_back(std::abs(time - middle));
    const double deviation = 1.4826 * median_of(deviations); // of a normal distribution
    for (const auto& [rank, time] : ranks)
        if (std::abs(time - middle) > std::max({4 * deviation, 0.05 * middle, 0.005 * total / n})) spread.odd.push_back(rank);
    if (spread.odd.size() * 4 > ranks.size()) spread.odd.clear();
    return spread;
}

std::vector<Finding> findings(const Profile& profile, const Locations& locations, const std::vector<Trend>& found) {
    std::vector<Finding> list;
    if (std::any_of(locations.begin(), locations.end(), [](const Location* location) { return location != nullptr; }))
        list = {where_the_time_goes(profile, locations), what_changes(profile, found), which_ranks(profile, locations)};
    if (std::vector<std::string> sentences = team_sentences(profile); !list.empty() && !sentences.empty())
        list.push_back({"threads", "Which threads wait", std::move(sentences)});
    list.push_back(what_it_cost(profile, locations));
    return list;
}

std::vector<Finding> findings(const Profile& profile, const Locations& locations) { return findings(profile, locations, trends(profile, locations)); }

} // namespace libprofile::tools
