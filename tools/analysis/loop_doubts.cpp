#include "tools/analysis/loop_doubts.hpp"

#include "tools/analysis/site_calls.hpp"
#include "tools/names/labels.hpp"
#include "tools/names/loop_names.hpp"
#include "tools/reader/same_module.hpp"
#include "tools/text/layout.hpp"
#include "tools/text/phrases.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <iterator>
#include <set>

namespace libprofile::tools {

namespace {

/// What is done at every second step looks like a step when there were but a dozen.
constexpr std::uint64_t least_sure_passes = 16;

struct Doubt {
    LoopFlag flag;
    const char* text;
};
constexpr Doubt doubts_by_flag[] = {
    {LoopHasNoMarks, "without marks (LIBPROFILE_MARKS) it may be two loops, one inside the other"},
    {LoopIsRecursion, "the function calls itself for the next pass, but recursive searches and divide-and-conquer do that, too"},
    {LoopIsOpaque, "the code of that function is not understood; if it is an interpreter, one call in it may stand for many in the program"},
    {LoopIsNested, "the time loop may be another one around it, in the same function, that makes no MPI call of its own"},
    {LoopMayMiss, "a pass may skip this call, and such passes are not seen"},
    {LoopIsCostly, "later ones are not told apart, since they became so short that ending them took a fifth of the time; mark an outer loop"},
    {LoopIsCutShort, "later ones lie too deep in the stack to be told apart"},
};

constexpr const char* doubt_of_python = "code of Python is not examined: a pass that skips this call is not seen";

/// The lines of a call site: of the function, and of what is inlined there. Empty if unknown.
std::vector<std::string> lines_of(const Site* site) {
    if (site == nullptr || site->name.line == 0) return {};
    std::vector<std::string> lines{fmt::format("{}:{}", site->name.file, site->name.line)};
    for (const SiteName& inlined : site->inlined) lines.push_back(fmt::format("{}:{}", inlined.file, inlined.line));
    return lines;
}

/// The sites that make or lead to the loop's call, by their lines: its own site, and copies that the compiler made.
std::set<std::uint64_t> sites_on_lines(const Profile& profile, const FoundLoop& loop, const std::vector<std::string>& lines) {
    std::set<std::uint64_t> offsets;
    for (const CallPath& path : profile.paths) {
        if (path.kind != NodeKind::Mpi || (!loop.call.empty() && profile.functions[path.target].name != loop.call)) continue;
        for (std::uint32_t at = path.parent; at != 0; at = profile.paths[at].parent) {
            if (profile.paths[at].kind != NodeKind::Frame) continue;
            const Site& site = profile.sites[profile.paths[at].target];
            if (is_same_module(profile.modules[site.module], loop.module) && lines_of(&site) == lines) offsets.insert(site.offset);
        }
    }
    return offsets;
}

/// As LIBPROFILE_ITERATION takes them, so that each begins an iteration; empty: it would not take that.
std::string as_iteration_points(const FoundLoop& loop, const std::set<std::uint64_t>& offsets) {
    const std::string module = base_name(loop.module.path);
    constexpr std::size_t most = 16; // iteration points of one name
    if (offsets.size() > most || module.find_first_of(",|= \t'\"") != std::string::npos) return "";
    std::string list;
    for (const std::uint64_t offset : offsets) list += fmt::format("{}{}+{:#x}", list.empty() ? "" : ",", module, offset);
    return "pass=" + list;
}

/// The same calls come several times in a pass. Copies that the compiler made have the same lines.
void doubt_copies(const Profile& profile, const FoundLoop& loop, std::vector<std::string>& doubts) {
    const std::uint64_t times = loop.passes == 0 ? 0 : loop.other_passes / loop.passes;
    std::string text = fmt::format("the same calls occur {} times in each iteration", times);
    const std::vector<std::string> lines = lines_of(site_at(profile, loop.module, loop.offset));
    if (lines.empty()) {
        doubts.push_back(text + "; if the compiler has unrolled the loop (-funroll-loops), each iteration is that many passes");
        return;
    }
    const std::set<std::uint64_t> offsets = sites_on_lines(profile, loop, lines);
    if (offsets.size() < 2) return;
    text += ", from the same line: the compiler may have unrolled the loop, so that each iteration is that many passes, or only a loop inside it";
    if (const std::string points = as_iteration_points(loop, offsets); times != 0 && offsets.size() % times == 0 && !points.empty())
        text += fmt::format("; LIBPROFILE_ITERATION={} makes each an iteration", printable(points));
    doubts.push_back(std::move(text));
}

/// Ranks that are killed are not all at the same pass.
std::uint64_t most_difference(const LoopOfRanks& found) { return found.was_cut_off ? std::max<std::uint64_t>(2, found.most / 100) : 0; }

/// The call below a site whose number is nearest to `share` times that of the iterations; nullptr if there is none.
const SiteCall* nearest(const std::vector<SiteCall>& calls, double share, double iterations) {
    const SiteCall* best = nullptr;
    const auto distance = [&](const SiteCall& call) { return std::abs(static_cast<double>(call.visits) - share * iterations); };
    for (const SiteCall& call : calls)
        if (best == nullptr || distance(call) < distance(*best)) best = &call;
    return best;
}

/// The calls at a site, in the iterations of the first rank that found the loop. All numbers are in the call tree, too.
struct CallsOfRank {
    CallsOfRank(const Profile& profile, const LoopOfRanks& found, std::uint64_t offset)
        : calls(calls_at(profile, *found.loop, offset, found.ranks.front())),
          rank(profile.job.ranks > 1 ? fmt::format(" on rank {}", found.ranks.front()) : "") {}
    std::vector<SiteCall> calls;
    std::string rank;
};

std::string times(const SiteCall& call) { return plural(call.visits, "time"); }

/// Passes may begin at another call site.
std::string doubt_of_other(const Profile& profile, const LoopOfRanks& found) {
    const FoundLoop& loop = *found.loop;
    std::string site = site_text(profile, loop, loop.other_offset);
    if (site == site_text(profile, loop, loop.offset)) // two calls on one line, or in a function without lines
        site += fmt::format(" ({})", place_text(loop, loop.other_offset));
    const CallsOfRank at(profile, found, loop.other_offset);
    const double share = static_cast<double>(loop.other_passes) / static_cast<double>(std::max<std::uint64_t>(loop.passes, 1));
    const SiteCall* call = nearest(at.calls, share, static_cast<double>(found.most));
    if (call == nullptr) return fmt::format("passes may begin in {} instead", site);
    return fmt::format("passes may begin with {} in {} instead, which is called {} in these iterations{}", printable(call->function), site, times(*call),
                       at.rank);
}

/// The function called at the site may make the loop's call in some passes only.
std::string doubt_of_site(const Profile& profile, const LoopOfRanks& found) {
    const FoundLoop& loop = *found.loop;
    CallsOfRank at(profile, found, loop.offset);
    const auto most = std::max_element(at.calls.begin(), at.calls.end(), [](const SiteCall& a, const SiteCall& b) { return a.visits < b.visits; });
    std::vector<SiteCall> its;
    std::copy_if(at.calls.begin(), at.calls.end(), std::back_inserter(its), [&](const SiteCall& call) { return call.function == loop.call; });
    const SiteCall* own = nearest(its, 1, static_cast<double>(found.most));
    if (own == nullptr || most->visits <= own->visits) return "the function called there may make this call in some passes only";
    return fmt::format("the function called there may make this call in some passes only: {} comes {} there, {} {}{}", printable(own->function), times(*own),
                       printable(most->function), times(*most), at.rank);
}

} // namespace

std::vector<std::string> doubts_about(const Profile& profile, const LoopOfRanks& found) {
    const FoundLoop& loop = *found.loop;
    std::vector<std::string> doubts;
    if (found.missed != 0)
        doubts.push_back(plural(found.missed, "iteration") + " before it was found could not be told apart");
    else if (found.is(LoopIsLate))
        doubts.push_back("iterations before it was found could not be told apart");
    if (loop.other_passes != 0 && loop.is(LoopIsCopied))
        doubt_copies(profile, loop, doubts);
    else if (loop.other_passes != 0)
        doubts.push_back(loop.other_offset == loop.offset ? doubt_of_site(profile, found) : doubt_of_other(profile, found));
    for (const Doubt& doubt : doubts_by_flag)
        if (found.is(doubt.flag)) doubts.emplace_back(doubt.flag == LoopIsOpaque && found.is(LoopIsPython) ? doubt_of_python : doubt.text);
    if (found.fewest < least_sure_passes) doubts.emplace_back(fmt::format("fewer than {} iterations are too few to be sure", least_sure_passes));
    if (loop.moves != 0) doubts.emplace_back("the first iterations may each join several passes");
    if (found.most - found.fewest > most_difference(found)) doubts.emplace_back("ranks have different numbers of iterations");
    if (found.share < 0.5) doubts.emplace_back("most of the time is spent elsewhere");
    return doubts;
}

} // namespace libprofile::tools
