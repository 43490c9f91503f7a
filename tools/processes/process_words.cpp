#include "tools/processes/process_words.hpp"

#include "tools/analysis/kinds.hpp"
#include "tools/analysis/totals.hpp"
#include "tools/names/labels.hpp"
#include "tools/text/layout.hpp"
#include "tools/text/phrases.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace libprofile::tools {

namespace {

constexpr std::size_t most_threads = 8; // that are listed one by one
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

std::string ProcessWords::rows(std::span<const std::uint32_t> rows, bool all) const {
    std::set<std::uint64_t> ranks;
    for (const std::uint32_t r : rows) ranks.insert(processes_.locations[r]->rank);
    const std::string words = rank_words(std::vector<std::uint64_t>(ranks.begin(), ranks.end()), all ? rows.size() : 8);
    if (!are_threads_) return words;
    if (rows.size() > most_threads && !all) return fmt::format("{} of {}", plural(rows.size(), "thread"), words);
    std::string text;
    for (const std::uint32_t r : rows) text += (text.empty() ? "" : ", ") + row(*processes_.locations[r]);
    return text;
}

std::string ProcessWords::median() const {
    if (processes_.map.locations.size() == 2) return "the mean of both";
    return are_threads_ ? "the median thread" : "the median rank";
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
    return text + (processes_.groups.are_iterations_known ? "" : " as far as the calls of iterations were kept");
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
    const auto place = [&](const OrderedTree& tree, std::uint32_t at, bool is_function) {
        const bool is_one = !is_function && tree.nodes[at].events <= 1;
        const OrderedNode& node = tree.nodes[is_function ? at : named_node(tree, at)];
        const std::string around = node.parent == 0 ? "" : " in " + typical.name(tree.nodes[node.parent].path);
        return typical.name(node.path) + around + (is_one ? "" : fmt::format(" ({})", plural(tree.nodes[at].events, "call")));
    };
    std::vector<std::pair<std::string, std::uint64_t>> phrases; // and how often
    for (const TreeChange& change : found.changes) {
        const bool in_a = change.kind == TreeChangeKind::Removed || change.kind == TreeChangeKind::Inlined || change.kind == TreeChangeKind::LessOften;
        const bool is_function = change.kind == TreeChangeKind::Renamed || change.kind == TreeChangeKind::Inlined || change.kind == TreeChangeKind::Outlined;
        std::string phrase = in_a ? place(first.tree, change.node_a, is_function) : place(other.tree, change.node_b, is_function);
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
    if (text.empty()) return "";
    return printable(fmt::format("in its most frequent iteration ({} of {}): {}", count(static_cast<double>(other.iterations)),
                                 count(static_cast<double>(other.all)), text));
}

std::string ProcessWords::cell(const PlacedCell& placed) const {
    const HotCell& cell = placed.cell;
    const double ratio = cell.median > 0 ? cell.excess / cell.median : 0;
    std::string text = fmt::format("{} computes {} {} in {} ({} more in all)", row(*processes_.map.locations[cell.row]),
                                   ratio == 0  ? "longer than"
                                   : ratio < 2 ? percent(ratio) + " longer than"
                                               : fmt::format("{:.1f} times as long as", ratio + 1),
                                   median(), iterations_words(cell.first, cell.last), duration(cell.excess, {}));
    if (!placed.function.empty()) text += fmt::format(", in {}{}", placed.function, placed.source.empty() ? "" : " (" + placed.source + ")");
    if (!placed.host.empty()) text += " on " + placed.host;
    return printable(text);
}

bool ProcessWords::has_sums_inside() const {
    if (processes_.states.untold != 0) return true;
    for (const Location* location : processes_.states.locations)
        if (const PhaseData* data = find_phase(location, *processes_.phase); data->inside)
            for (const InsideData::Entry& entry : data->inside->entries)
                if (profile_.phases[entry.phase].kind != PhaseKind::Iterations) return true;
    return false;
}

namespace {

/// Of a job whose order of calls should have been recorded, why no iteration has one; empty of others.
std::string missing_order(const RankStates& states) {
    bool was_asked = false, has_sequences = false;
    for (const Location* location : states.locations) {
        const PhaseData* data = find_phase(location, states.phase);
        was_asked = was_asked || (data != nullptr && data->sequences);
        has_sequences = has_sequences || (data != nullptr && data->sequences && !data->sequences->sequences.empty());
    }
    if (!was_asked) return "";
    return has_sequences
               ? "the order of calls has no timeline to compare: there was no memory for one; raise LIBPROFILE_ORDER_MEMORY"
               : "the order of calls is known of no iteration: the loop was found when they were over; mark it in the program, or measure a longer run";
}

} // namespace

std::vector<std::string> ProcessWords::remarks() const {
    std::vector<std::string> sentences;
    const RankStates& states = processes_.states;
    if (states.untold != 0)
        sentences.push_back(fmt::format("of {} of the ranks nothing but the time is known, since other phases lie inside: they are left out of strips and "
                                        "imbalance",
                                        plural(states.untold, "iteration")));
    if (states.is_estimated) sentences.emplace_back("some iterations have no values of their own; those of the mean iteration of their cluster stand for them");
    if (const std::string order = missing_order(states); !order.empty() && !processes_.typical) sentences.push_back(order);
    return sentences;
}

std::vector<std::string> ProcessWords::distances() const {
    std::vector<std::string> sentences;
    const RankTimelines& t = processes_.timelines;
    if (t.rows.empty()) return sentences;
    const auto name = [&](std::size_t r) { return row(*processes_.states.locations[r]); };
    const std::string reference = name(t.reference);
    std::size_t same = 0, other = 0, unknown = 0, most = t.reference, slowest = t.reference, fastest = t.reference, alone = 0;
    for (std::size_t r = 0; r < t.rows.size(); ++r) {
        const RankDistance& d = t.rows[r];
        if (r != t.reference) ++(d.different != 0 || d.alone_here + d.alone_there != 0 ? other : d.unknown != 0 ? unknown : same);
        alone += d.alone_here + d.alone_there != 0 ? 1 : 0;
        if (d.different != 0 && (t.rows[most].different == 0 || d.dissimilarity > t.rows[most].dissimilarity)) most = r;
        if (d.skew_ns > t.rows[slowest].skew_ns) slowest = r;
        if (d.skew_ns < t.rows[fastest].skew_ns) fastest = r;
    }
    if (t.rows.size() > 1) {
        std::string text;
        const auto add = [&](std::size_t n, const char* words) {
            if (n != 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count(static_cast<double>(n)), words);
        };
        add(same, same == 1 ? "other makes the same calls in every iteration" : "others make the same calls in every iteration");
        add(other, other == 1 ? "other does not" : "others do not");
        if (same == 0 && other != 0) text = "no other makes the same calls in every iteration";
        add(unknown, "are not known to, since the calls of iterations were not kept");
        if (has_sums_inside()) text += ", as far as it is known: phases without iterations lie inside, which have sums of the whole run only";
        sentences.push_back(fmt::format("compared with {}: {}", reference, text));
    }
    if (t.rows[most].different != 0)
        sentences.push_back(fmt::format("{} differs most: in {} some calls have no partner, on average {} of them; first in iteration {}", name(most),
                                        plural(t.rows[most].different, "iteration"), percent(t.rows[most].of_different), *t.rows[most].first_other + 1));
    if (alone != 0) {
        std::uint64_t least = ~std::uint64_t{0}, largest = 0;
        for (const Location* location : processes_.states.locations) {
            const std::uint64_t made = find_phase(location, *processes_.phase)->cluster_of_iteration.size();
            least = std::min(least, made);
            largest = std::max(largest, made);
        }
        sentences.push_back(fmt::format("ranks made {} to {} iterations; some have no partner on {}", count(static_cast<double>(least)),
                                        count(static_cast<double>(largest)), plural(alone, "rank")));
    }
    if (processes_.typical) {
        const auto hash_of = [&](std::size_t r) {
            const OrderedTree& tree = processes_.typical->of(static_cast<std::uint32_t>(r)).tree;
            return tree.nodes.empty() ? 0 : tree.nodes.front().hash;
        };
        std::size_t differ = 0;
        for (std::size_t r = 0; r < t.rows.size(); ++r) differ += hash_of(r) != 0 && hash_of(t.reference) != 0 && hash_of(r) != hash_of(t.reference) ? 1 : 0;
        if (differ != 0)
            sentences.push_back(fmt::format("{} other calls, or the same in another order, in the most frequent iteration",
                                            differ == 1 ? "1 other has" : fmt::format("{} others have", count(static_cast<double>(differ)))));
    }
    std::string skew;
    if (slowest != t.reference) skew = fmt::format("{} {} more", name(slowest), duration(t.rows[slowest].skew_ns, {}));
    if (fastest != t.reference) skew += fmt::format("{}{} {} less", skew.empty() ? "" : ", ", name(fastest), duration(-t.rows[fastest].skew_ns, {}));
    if (!skew.empty()) sentences.push_back(fmt::format("computing in the iterations that both have, against {}: {}", reference, skew));
    for (std::string& sentence : sentences) sentence = printable(sentence);
    return sentences;
}

} // namespace libprofile::tools
