#include "tools/analysis/teams.hpp"

#include "tools/names/labels.hpp"
#include "tools/text/layout.hpp"
#include "tools/text/phrases.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>

namespace libprofile::tools {

namespace {

bool is_construct(const Profile& profile, const CallPath& path, const char* name) {
    return path.kind == NodeKind::OpenMp && profile.functions[path.target].name == name;
}

/// By path: the innermost parallel region around it, itself included; 0 if there is none.
std::vector<std::uint32_t> innermost_regions(const Profile& profile) {
    std::vector<std::uint32_t> inside(profile.paths.size());
    for (std::uint32_t p = 1; p < profile.paths.size(); ++p) // a parent's number is smaller
        inside[p] = is_construct(profile, profile.paths[p], "omp parallel") ? p : inside[profile.paths[p].parent];
    return inside;
}

/// "threads 0-3 work 1.20 s, 800 ms, ..." for few; for many the extremes.
std::string threads_text(const Team& team) {
    constexpr std::size_t few = 4;
    const auto time = [](std::uint64_t ns) { return duration(static_cast<double>(ns), {}); };
    std::vector<std::uint64_t> numbers;
    for (const TeamThread& one : team.threads) numbers.push_back(one.thread);
    if (team.threads.size() <= few) {
        std::string times;
        for (const TeamThread& one : team.threads) times += (times.empty() ? "" : ", ") + time(one.working_ns);
        return fmt::format("threads {} work {}", number_ranges(numbers), times);
    }
    const auto by_work = [](const TeamThread& a, const TeamThread& b) { return a.working_ns < b.working_ns; };
    const auto [least, most] = std::minmax_element(team.threads.begin(), team.threads.end(), by_work);
    return fmt::format("{} threads work {} (thread {}) to {} (thread {}), {} on average", team.threads.size(), time(least->working_ns), least->thread,
                       time(most->working_ns), most->thread, time(team.working_ns() / team.threads.size()));
}

} // namespace

std::uint64_t Team::working_ns() const {
    std::uint64_t sum = 0;
    for (const TeamThread& one : threads) sum += one.working_ns;
    return sum;
}

std::uint64_t Team::waiting_ns() const {
    std::uint64_t sum = 0;
    for (const TeamThread& one : threads) sum += one.waiting_ns;
    return sum;
}

const Team& TeamRegion::worst() const {
    return *std::max_element(teams.begin(), teams.end(), [](const Team& a, const Team& b) { return a.waiting_ns() < b.waiting_ns(); });
}

std::vector<TeamRegion> team_regions(const Profile& profile) {
    std::vector<TeamRegion> list;
    const std::vector<std::uint32_t> inside = innermost_regions(profile);
    if (std::all_of(inside.begin(), inside.end(), [](std::uint32_t region) { return region == 0; })) return list;
    std::map<std::uint32_t, std::map<std::uint32_t, Team>> teams; // by region and rank
    for (const Location& location : profile.locations)
        for (const PhaseData& data : location.phases)
            for_each_cell(data, [&](const Cell& cell) {
                const std::uint32_t region = inside[cell.path];
                const bool is_time = cell.metric == static_cast<std::uint32_t>(Metric::Time);
                const bool is_visit = cell.metric == static_cast<std::uint32_t>(Metric::Visits) && cell.path == region;
                const TimeCategory category = category_of(profile, profile.paths[cell.path]);
                const bool is_barrier = cell.metric == static_cast<std::uint32_t>(Metric::Visits) && category == TimeCategory::OmpBarrier;
                if (region == 0 || cell.value == 0 || (!is_time && !is_visit && !is_barrier)) return;
                Team& team = teams[region][location.rank];
                team.rank = location.rank;
                if (is_visit) {
                    team.visits += cell.value;
                    return;
                }
                if (team.threads.empty() || team.threads.back().thread != location.thread) // locations are sorted
                    team.threads.push_back({location.thread, 0, 0, 0, 0, 0});
                TeamThread& thread = team.threads.back();
                if (is_barrier) {
                    thread.barriers += cell.value;
                    return;
                }
                const bool is_wait = category == TimeCategory::OmpBarrier, is_away = category == TimeCategory::OffCpu; // without a processor it does not work
                (is_wait ? thread.waiting_ns : is_away ? thread.off_cpu_ns : thread.working_ns) += cell.value;
                if (category == TimeCategory::OmpLock) thread.locks_ns += cell.value;
            });
    for (auto& [path, by_rank] : teams) {
        TeamRegion region;
        region.path = path;
        for (auto& [rank, team] : by_rank) {
            if (team.threads.size() < 2) continue;
            region.waiting_ns += team.waiting_ns();
            region.time_ns += team.waiting_ns() + team.working_ns();
            region.teams.push_back(std::move(team));
        }
        if (region.teams.empty()) continue;
        const Label label = label_of(profile, profile.paths[profile.paths[path].parent]);
        region.function = label.name;
        if (!label.file.empty()) region.source = label.line == 0 ? base_name(label.file) : fmt::format("{}:{}", base_name(label.file), label.line);
        const CallPath& outer = profile.paths[profile.paths[profile.paths[path].parent].parent];
        if (is_code(outer.kind)) region.caller = label_of(profile, outer).name;
        list.push_back(std::move(region));
    }
    std::stable_sort(list.begin(), list.end(), [](const TeamRegion& a, const TeamRegion& b) { return a.waiting_ns > b.waiting_ns; });
    return list;
}

std::vector<std::string> team_sentences(const Profile& profile) {
    constexpr std::size_t shown = 3;
    constexpr double smallest = 0.02;
    std::vector<std::string> sentences;
    const std::vector<TeamRegion> regions = team_regions(profile);
    std::map<std::pair<std::uint32_t, std::uint32_t>, bool> in_teams; // by rank and thread
    for (const TeamRegion& region : regions)
        for (const Team& team : region.teams)
            for (const TeamThread& one : team.threads) in_teams[{team.rank, one.thread}] = true;
    double all = 0;
    for (const Location& location : profile.locations) all += in_teams.contains({location.rank, location.thread}) ? static_cast<double>(location.wall_ns) : 0;
    for (const TeamRegion& region : regions) {
        if (sentences.size() == shown || static_cast<double>(region.waiting_ns) < smallest * all) break;
        const Team& worst = region.worst();
        const double waiting = static_cast<double>(worst.waiting_ns()), time = waiting + static_cast<double>(worst.working_ns());
        const std::string where = profile.job.ranks > 1 ? fmt::format("rank {}, ", worst.rank) : "";
        const auto shown_function = [](const std::string& name) { return without_anonymous(printable(short_function_name(name))); };
        const std::string source = (region.source.empty() ? "" : " (" + printable(region.source) + ")") +
                                   (region.caller.empty() ? "" : ", called by " + shown_function(region.caller));
        sentences.push_back(fmt::format("parallel region in {}{}: {}{}; {} of the team's time is waiting in its barriers ({} of all threads' time{})",
                                        shown_function(region.function), source, where, threads_text(worst), percent(time == 0 ? 0 : waiting / time),
                                        percent(static_cast<double>(region.waiting_ns) / all), region.teams.size() > 1 ? ", of all ranks" : ""));
    }
    return sentences;
}

} // namespace libprofile::tools
