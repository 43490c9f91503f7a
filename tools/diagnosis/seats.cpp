#include "tools/diagnosis/seats.hpp"

#include "tools/names/labels.hpp"
#include "tools/text/layout.hpp"
#include "tools/text/phrases.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace libprofile::tools {

namespace {

/// "core 5 of node3"; without the core if the rank went from one to another.
std::string seat(const RankInfo& info) {
    constexpr std::uint64_t seldom = 20; // looks, for one move
    const std::string host = printable(info.host);
    const ThreadAffinity* thread = info.affinity ? info.affinity->thread(0) : nullptr;
    if (thread == nullptr || !thread->last || thread->looks == 0) return host;
    if (thread->moves * seldom > thread->looks) return fmt::format("{}, on one core and another", host);
    const Processor* processor = info.affinity->processor(*thread->last);
    return processor != nullptr && processor->core ? fmt::format("core {} of {}", *processor->core, host)
                                                   : fmt::format("processor {} of {}", *thread->last, host);
}

} // namespace

std::string seats_text(const Profile& profile, const std::vector<std::uint32_t>& ranks) {
    if (ranks.empty() || !profile.ranks.contains(ranks[0])) return "";
    const RankInfo& first = profile.ranks.at(ranks[0]);
    std::size_t there = 0, slow = 0; // on the host of the first
    for (const auto& [rank, info] : profile.ranks) {
        if (info.host != first.host) continue;
        ++there;
        slow += std::binary_search(ranks.begin(), ranks.end(), rank) ? 1 : 0;
    }
    if (first.host.empty() || slow != ranks.size()) return "";
    if (ranks.size() > 1 && slow == there) return fmt::format("they are all {} on {}", plural(there, "rank"), printable(first.host));
    const std::string others = there == slow ? "; no other rank is there"
                                             : fmt::format("; {} there {} not longer", plural(there - slow, "other rank"), there - slow == 1 ? "is" : "are");
    if (ranks.size() > 1) return fmt::format("they are on {}{}", printable(first.host), others);
    return fmt::format("it ran on {}{}", seat(first), others);
}

} // namespace libprofile::tools
