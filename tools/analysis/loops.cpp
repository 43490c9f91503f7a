#include "tools/analysis/loops.hpp"

#include "tools/analysis/loop_doubts.hpp"
#include "tools/names/labels.hpp"
#include "tools/names/loop_names.hpp"
#include "tools/text/layout.hpp"
#include "tools/text/phrases.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>

namespace libprofile::tools {

namespace {

const PhaseData* phase_of(const Profile& profile, const Location& location, const std::string& name) {
    for (const PhaseData& data : location.phases)
        if (profile.phases[data.phase].kind == PhaseKind::Iterations && profile.phases[data.phase].name == name) return &data;
    return nullptr;
}

/// A loop as one rank found it.
struct OfRank {
    const PhaseData* data = nullptr;
    std::uint64_t missed = 0;
    std::uint64_t first_ns = UINT64_MAX;
    std::uint64_t last_ns = 0;
};

/// Empty if the loop lies in no other.
std::string phase_around(const Location& location, const FoundLoop& loop) {
    for (const FoundLoop& other : location.loop_search->loops)
        if (!loop.around.empty() && other.recorded_as == loop.around) return other.phase;
    return "";
}

/// So many loops are around it.
std::size_t depth_of(const std::vector<LoopOfRanks>& all, const LoopOfRanks& found) {
    std::size_t depth = 0;
    for (const LoopOfRanks* at = &found; !at->around.empty() && depth < all.size(); ++depth) {
        const auto outer = std::find_if(all.begin(), all.end(), [&](const LoopOfRanks& other) { return other.loop->phase == at->around; });
        if (outer == all.end()) break;
        at = &*outer;
    }
    return depth;
}

bool is_frame(const Profile& profile, const LoopOfRanks& found) {
    return std::any_of(profile.phases.begin(), profile.phases.end(), [&](const Phase& phase) { return phase.is_frame && phase.name == found.loop->phase; });
}

/// The main threads that looked for loops: one of each rank, or fewer, where some mark their iterations.
std::vector<const Location*> searching_threads(const Profile& profile) {
    std::vector<const Location*> found;
    for (const Location& location : profile.locations)
        if (location.thread == 0 && location.loop_search) found.push_back(&location);
    return found;
}

bool was_killed(const Profile& profile, std::uint32_t rank) {
    const auto info = profile.ranks.find(rank);
    return info != profile.ranks.end() && info->second.checkpoint;
}

std::string iterations_text(const LoopOfRanks& found) {
    if (found.fewest == found.most) return plural(found.most, "iteration");
    return fmt::format("{} to {} iterations", count(static_cast<double>(found.fewest)), count(static_cast<double>(found.most)));
}

/// Which loop's iterations contain these, and which loop's they contain: it tells the level.
std::string levels_text(const std::vector<LoopOfRanks>& all, const LoopOfRanks& found) {
    std::string text;
    std::set<std::string> named;
    const auto name = [&](const char* how, const LoopOfRanks& other) {
        if (other.loop->phase != found.loop->phase && !other.loop->is(LoopIsReplaced) && named.insert(other.loop->phase).second)
            text += fmt::format(", {} the {} of \"{}\"", how, iterations_text(other), printable(other.loop->phase));
    };
    for (const LoopOfRanks& other : all)
        if (other.loop->phase == found.around) name("inside", other);
    for (const LoopOfRanks& other : all)
        if (other.around == found.loop->phase) name("around", other);
    return text;
}

std::string sentence(const Profile& profile, const std::vector<LoopOfRanks>& all, const LoopOfRanks& found, bool names_ranks) {
    const FoundLoop& loop = *found.loop;
    const std::string site = site_text(profile, loop, loop.offset);
    std::string text =
        fmt::format("\"{}\" was found automatically{}{}: {}, {} of the time after MPI_Init{}", printable(loop.phase),
                    loop.phase == loop_name_start + site ? "" : ", in " + site, names_ranks ? fmt::format(" by {}", rank_words(found.ranks)) : "",
                    iterations_text(found), percent(found.share), levels_text(all, found));
    if (loop.is(LoopIsReplaced)) return text + "; a loop around it was found later and replaced it";
    for (const std::string& doubt : found.doubts) text += "; not sure: " + doubt;
    if (found.is_sure()) text += "; sure: nothing contradicts it";
    return text;
}

} // namespace

std::vector<LoopOfRanks> loops_of(const Profile& profile) {
    std::vector<LoopOfRanks> all;
    const std::vector<const Location*> searching = searching_threads(profile);
    for (const Location* thread : searching) {
        const Location& location = *thread;
        std::map<std::size_t, OfRank> of_rank; // by position in `all`
        for (const FoundLoop& loop : location.loop_search->loops) {
            const PhaseData* data = phase_of(profile, location, loop.phase);
            if (data == nullptr || data->instances == 0) continue;
            auto at = std::find_if(all.begin(), all.end(), [&](const LoopOfRanks& other) {
                return other.loop->recorded_as == loop.recorded_as && other.loop->phase == loop.phase && other.loop->module.build_id == loop.module.build_id &&
                       other.loop->offset == loop.offset && other.loop->is(LoopIsReplaced) == loop.is(LoopIsReplaced);
            });
            if (at == all.end()) {
                all.push_back({&loop, {}, 0, data->instances, 0, 0, false, phase_around(location, loop), 0, {}});
                at = all.end() - 1;
            }
            at->flags |= loop.flags;
            if (at->loop->other_passes == 0 && loop.other_passes != 0) at->loop = &loop; // one of them says that there may be another call site
            // A function with several call sites has a loop for each, and one phase for all.
            OfRank& here = of_rank[static_cast<std::size_t>(at - all.begin())];
            here.data = data;
            here.missed += loop.missed;
            here.first_ns = std::min(here.first_ns, loop.first_ns);
            here.last_ns = std::max(here.last_ns, loop.last_ns);
        }
        // In early files of jobs that were killed it is not known; then MPI_Init counts, too.
        const std::uint64_t searched = location.loop_search->searched_ns != 0 ? location.loop_search->searched_ns : location.wall_ns;
        for (const auto& [position, here] : of_rank) {
            LoopOfRanks& found = all[position];
            found.missed = std::max(found.missed, here.missed);
            found.ranks.push_back(location.rank);
            found.was_cut_off = found.was_cut_off || was_killed(profile, location.rank);
            found.fewest = std::min(found.fewest, here.data->instances);
            found.most = std::max(found.most, here.data->instances);
            // The last pass lasts until something else shows that it is over; that time need not be the loop's.
            const std::uint64_t span = here.last_ns - std::min(here.first_ns, here.last_ns);
            const std::uint64_t passes_ns = span == 0 ? here.data->wall_inclusive_ns : span + span / std::max<std::uint64_t>(here.data->instances, 1);
            found.share += searched == 0 ? 0 : static_cast<double>(std::min(here.data->wall_inclusive_ns, passes_ns)) / static_cast<double>(searched);
        }
    }
    for (LoopOfRanks& found : all) {
        found.share = std::min(1.0, found.share / static_cast<double>(found.ranks.size()));
        found.doubts = doubts_about(profile, found);
        // Ranks that begin their passes elsewhere need not mean the same pass.
        const bool is_agreed = std::none_of(all.begin(), all.end(), [&](const LoopOfRanks& other) {
            return other.loop->phase == found.loop->phase && other.loop->recorded_as != found.loop->recorded_as;
        });
        if (!is_agreed || found.ranks.size() != searching.size()) found.doubts.emplace_back("other ranks begin their passes elsewhere, or found no loop");
    }
    std::stable_sort(all.begin(), all.end(), [&](const LoopOfRanks& a, const LoopOfRanks& b) {
        if (a.loop->is(LoopIsReplaced) != b.loop->is(LoopIsReplaced)) return b.loop->is(LoopIsReplaced);
        if (is_frame(profile, a) != is_frame(profile, b)) return is_frame(profile, b);
        return a.ranks.size() > b.ranks.size();
    });
    return all;
}

/// About an iteration point that the user named.
std::vector<std::string> point_sentences(const Profile& profile) {
    const std::string& all = profile.job.configuration;
    const std::string variable = "LIBPROFILE_ITERATION=";
    std::size_t at = all.compare(0, variable.size(), variable) == 0 ? 0 : all.find("\n" + variable);
    if (at == std::string::npos) return {};
    at = all.find('=', at) + 1;
    if (at < all.size() && all[at] == '=') // a missing name is that of the iteration point
        ++at;
    const std::string name = all.substr(at, all.find_first_of("=\n", at) - at);
    if (name.empty() || name == "auto" || name == "marker" || name == "none") return {};
    for (const Phase& phase : profile.phases)
        if (phase.kind == PhaseKind::Iterations && phase.name == name)
            return {
                fmt::format("an iteration of \"{0}\" lasts from one pass of {0} to the next (LIBPROFILE_ITERATION); the last one to the end", printable(name))};
    const std::string reason = "\nLIBPROFILE_ITERATION.problem=";
    if (std::size_t why = all.find(reason); why != std::string::npos) {
        why += reason.size();
        return {fmt::format("LIBPROFILE_ITERATION={}: {}; iterations are what the program marked", printable(name),
                            printable(all.substr(why, all.find('\n', why) - why)))};
    }
    return {fmt::format("LIBPROFILE_ITERATION={}: no main thread passed it after MPI_Init (the compiler may have inlined the function)", printable(name))};
}

/// Where no rank has found a loop.
std::string why_none(const Profile& profile, const std::vector<const Location*>& searching) {
    for (const Location* location : searching) {
        for (const FoundLoop& loop : location->loop_search->loops) {
            if (!loop.is(LoopIsShort) || loop.passes == 0) continue;
            const double us = static_cast<double>(loop.last_ns - std::min(loop.first_ns, loop.last_ns)) / 1e3 / static_cast<double>(loop.passes);
            return fmt::format("there is a loop in {}, but its passes take {:.2g} us on average, too short to be iterations (they must take 30 us or more)",
                               site_text(profile, loop, loop.offset), us);
        }
    }
    return "no MPI call repeats at one call site for most of the time after MPI_Init";
}

/// Whether there are other iterations than those of the loops that were found.
bool has_marked_iterations(const Profile& profile, const std::vector<LoopOfRanks>& all) {
    return std::any_of(profile.phases.begin(), profile.phases.end(), [&](const Phase& phase) {
        return phase.kind == PhaseKind::Iterations &&
               std::none_of(all.begin(), all.end(), [&](const LoopOfRanks& found) { return found.loop->phase == phase.name; });
    });
}

std::vector<std::string> loop_sentences(const Profile& profile) {
    const std::vector<const Location*> searching = searching_threads(profile);
    if (searching.empty()) return point_sentences(profile);
    std::vector<std::uint64_t> without; // ranks that found nothing
    for (const Location* location : searching)
        if (std::all_of(location->loop_search->loops.begin(), location->loop_search->loops.end(), [](const FoundLoop& loop) { return loop.is(LoopIsShort); }))
            without.push_back(location->rank);
    std::vector<std::string> sentences;
    const std::vector<LoopOfRanks> all = loops_of(profile);
    std::map<std::size_t, double> covered_by; // level
    bool differs = false;
    std::size_t shown = 0;
    for (const LoopOfRanks& found : all) {
        const bool is_of_all = found.ranks.size() == searching.size();
        differs = differs || found.ranks.size() + without.size() != searching.size();
        if (!found.loop->is(LoopIsReplaced))
            covered_by[depth_of(all, found)] += found.share * static_cast<double>(found.ranks.size()) / static_cast<double>(searching.size());
        constexpr std::size_t most = 6;
        if (shown++ < most) sentences.push_back(sentence(profile, all, found, !is_of_all));
    }
    double covered = 0;
    for (const auto& [level, share] : covered_by) covered = std::max(covered, share);
    if (!without.empty() && !all.empty()) sentences.push_back(fmt::format("{} found no loop", rank_words(without)));
    if (differs)
        sentences.push_back("ranks begin their passes at different call sites, so their iterations may not correspond; "
                            "mark the loop to be sure (profile_iteration_begin, MPI_Pcontrol)");
    if (all.empty())
        sentences.push_back("no time loop was found: " + why_none(profile, searching) +
                            "; mark the loop (profile_iteration_begin, MPI_Pcontrol; docs/getting-started.md), or name a function that is called "
                            "once per pass (LIBPROFILE_ITERATION=FUNCTION; docs/iterations.md)");
    else if (has_marked_iterations(profile, all))
        return sentences;
    else if (covered < 0.5)
        sentences.push_back(fmt::format("the time loop was not found: the loops found cover only {} of the time; mark the loop "
                                        "(profile_iteration_begin, MPI_Pcontrol; docs/getting-started.md)",
                                        percent(covered)));
    else if (shown != 0)
        sentences.push_back("if that is not the time loop, mark it (profile_iteration_begin, MPI_Pcontrol), or name a function or a call that occurs "
                            "once per pass (LIBPROFILE_ITERATION=FUNCTION, =FUNCTION:LINE, =FUNCTION/MPI_Call; docs/iterations.md); "
                            "LIBPROFILE_ITERATION=none switches the search off");
    return sentences;
}

} // namespace libprofile::tools
