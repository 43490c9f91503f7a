#include "tools/processes/process_words.hpp"

#include "tools/analysis/kinds.hpp"
#include "tools/names/labels.hpp"
#include "tools/text/layout.hpp"
#include "tools/text/phrases.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace libprofile::tools {

namespace {

constexpr std::array by_level = {"by function pairs", "by call paths", "by visits", "by sequence of iterations"};

std::string times(std::uint64_t visits) { return visits == 1 ? "once" : visits == 0 ? "never" : fmt::format("{} times", count(static_cast<double>(visits))); }

std::string iterations_words(std::uint64_t first, std::uint64_t last) {
    return first == last ? fmt::format("iteration {}", first + 1) : fmt::format("iterations {}-{}", first + 1, last + 1);
}

} // namespace

std::string group_name(std::size_t group) { return kind_letters(static_cast<std::uint32_t>(group)); }

ProcessWords::ProcessWords(const Profile& profile, const ComparedProcesses& processes, bool are_threads)
    : profile_(profile), processes_(processes), are_threads_(are_threads), spots_(spot_table(profile)) {}

std::string ProcessWords::row(const Location& location) const {
    return are_threads_ ? fmt::format("rank {} thread {}", location.rank, location.thread) : fmt::format("rank {}", location.rank);
}

std::string ProcessWords::rows(std::span<const std::uint32_t> rows) const {
    std::set<std::uint64_t> ranks;
    for (const std::uint32_t r : rows) ranks.insert(processes_.locations[r]->rank);
    const std::string words = rank_words(std::vector<std::uint64_t>(ranks.begin(), ranks.end()));
    return are_threads_ ? fmt::format("{} of {}", plural(rows.size(), "thread"), words) : words;
}

std::string ProcessWords::event(std::uint32_t event) const {
    if (processes_.events.is_phase(event)) return printable("phase " + profile_.phases[processes_.events.phase_of(event)].name);
    const Spot& spot = spots_.spots[spots_.of_path[event]];
    const std::string where = where_text(spot.source, spot.caller, spot.through);
    return printable(spot.name + (where.empty() ? "" : " (" + where + ")"));
}

std::string ProcessWords::levels() const {
    std::string text;
    for (std::size_t level = 0; level < structure_levels; ++level)
        text += fmt::format("{}{}{}", text.empty() ? "" : ", ",
                            text.empty() ? plural(processes_.groups.levels[level].size(), "group")
                                         : count(static_cast<double>(processes_.groups.levels[level].size())),
                            std::string(" ") + by_level[level]);
    return text;
}

std::string ProcessWords::parting(std::size_t group) const {
    if (!processes_.partings[group]) return "";
    const StructureParting& p = *processes_.partings[group];
    std::string text = fmt::format("{}: {}, group A {}", event(p.event), times(p.here), times(p.there));
    if (p.level == StructureLevel::Iterations) text = fmt::format("in iteration {} of {}: {}", p.iteration + 1, printable(profile_.phases[p.phase].name), text);
    if (p.events > 1) text += fmt::format("; {} in all", plural(p.events, "call path"));
    return fmt::format("{}: {}", by_level[static_cast<std::size_t>(p.level)], text);
}

std::string ProcessWords::changes(std::size_t group) const {
    constexpr std::size_t most = 3;
    const std::vector<std::vector<std::uint32_t>>& rows = processes_.rows_of_group;
    if (!processes_.typical || group == 0 || rows[0].empty() || rows[group].empty()) return "";
    const TypicalIteration &first = processes_.typical->of(rows[0].front()), &other = processes_.typical->of(rows[group].front());
    if (first.tree.nodes.empty() || other.tree.nodes.empty()) return "";
    const TreeChanges found = processes_.typical->changes(rows[0].front(), rows[group].front());
    const TypicalIterations& typical = *processes_.typical;
    // "MPI_Send in exchange" of an event and of what has no other one in it, else "exchange (3 calls)".
    const auto place = [&](const OrderedTree& tree, std::uint32_t at) {
        std::uint32_t event = at;
        while (event + 1 < tree.nodes[at].end && tree.nodes[event].own == 0) ++event;
        const bool is_one = tree.nodes[at].events <= 1;
        const OrderedNode& node = tree.nodes[is_one ? event : at];
        const std::string around = node.parent == 0 ? "" : " in " + typical.name(tree.nodes[node.parent].path);
        return typical.name(node.path) + around + (is_one ? "" : fmt::format(" ({})", plural(tree.nodes[at].events, "call")));
    };
    std::vector<std::pair<std::string, std::uint64_t>> phrases; // and how often
    for (const TreeChange& change : found.changes) {
        const bool in_a = change.kind == TreeChangeKind::Removed || change.kind == TreeChangeKind::Inlined || change.kind == TreeChangeKind::LessOften;
        std::string phrase = in_a ? place(first.tree, change.node_a) : place(other.tree, change.node_b);
        if (change.kind == TreeChangeKind::Renamed) phrase = typical.name(first.tree.nodes[change.node_a].path) + " as " + phrase;
        phrase += fmt::format(" {}", tree_change_name(change.kind));
        const auto known = std::find_if(phrases.begin(), phrases.end(), [&](const auto& one) { return one.first == phrase; });
        if (known != phrases.end())
            known->second += change.times;
        else
            phrases.emplace_back(phrase, change.times);
    }
    std::string text;
    for (std::size_t c = 0; c < std::min(most, phrases.size()); ++c)
        text += fmt::format("{}{}{}", text.empty() ? "" : ", ", phrases[c].first, phrases[c].second == 1 ? "" : fmt::format(" ({})", times(phrases[c].second)));
    if (phrases.size() > most) text += fmt::format(" and {}", plural(phrases.size() - most, "other change"));
    return printable(text);
}

std::string ProcessWords::cell(const PlacedCell& placed) const {
    const HotCell& cell = placed.cell;
    const double ratio = cell.median > 0 ? cell.excess / cell.median : 0;
    std::string text = fmt::format("{} computes {} the median rank in {} ({} more in all)", row(*processes_.map.locations[cell.row]),
                                   ratio == 0  ? "longer than"
                                   : ratio < 2 ? percent(ratio) + " longer than"
                                               : fmt::format("{:.1f} times as long as", ratio + 1),
                                   iterations_words(cell.first, cell.last), duration(cell.excess, {}));
    if (!placed.function.empty()) text += fmt::format(", in {}{}", placed.function, placed.source.empty() ? "" : " (" + placed.source + ")");
    if (!placed.host.empty()) text += " on " + placed.host;
    return printable(text);
}

std::vector<std::string> ProcessWords::distances() const {
    std::vector<std::string> sentences;
    const RankTimelines& t = processes_.timelines;
    if (t.rows.empty()) return sentences;
    const auto name = [&](std::size_t r) { return row(*processes_.states.locations[r]); };
    const std::string reference = name(t.reference);
    std::size_t other = 0, most = t.reference, slowest = t.reference, fastest = t.reference;
    for (std::size_t r = 0; r < t.rows.size(); ++r) {
        other += t.rows[r].different != 0 || t.rows[r].alone_here + t.rows[r].alone_there != 0 ? 1 : 0;
        if (t.rows[r].dissimilarity > t.rows[most].dissimilarity) most = r;
        if (t.rows[r].skew_ns > t.rows[slowest].skew_ns) slowest = r;
        if (t.rows[r].skew_ns < t.rows[fastest].skew_ns) fastest = r;
    }
    if (other == 0)
        sentences.push_back(fmt::format("all call the same in every iteration as {}", reference));
    else
        sentences.push_back(fmt::format("{} call the same in every iteration as {}, {} do not", count(static_cast<double>(t.rows.size() - other)), reference,
                                        count(static_cast<double>(other))));
    if (t.rows[most].different != 0)
        sentences.push_back(fmt::format("{} differs most: {} of the calls in {} have no partner, first in iteration {}", name(most),
                                        percent(t.rows[most].dissimilarity), plural(t.rows[most].different, "iteration"), *t.rows[most].first_other + 1));
    std::string skew;
    if (slowest != t.reference) skew = fmt::format("{} {} more", name(slowest), duration(t.rows[slowest].skew_ns, {}));
    if (fastest != t.reference) skew += fmt::format("{}{} {} less", skew.empty() ? "" : ", ", name(fastest), duration(-t.rows[fastest].skew_ns, {}));
    if (!skew.empty()) sentences.push_back(fmt::format("computing in all iterations, against {}: {}", reference, skew));
    for (std::string& sentence : sentences) sentence = printable(sentence);
    return sentences;
}

} // namespace libprofile::tools
