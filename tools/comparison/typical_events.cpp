#include "tools/comparison/typical_events.hpp"

#include "tools/processes/typical_iteration.hpp"
#include "tools/structure/tree_changes.hpp"

#include <algorithm>
#include <array>

namespace libprofile::tools {

namespace {

/// By event of a tree; those that follow another one in its row have a count of 0.
std::vector<TypicalCall> calls_by_event(const Profile& profile, const EventSequence& sequence) {
    std::vector<TypicalCall> calls;
    for (const TypicalCall& call : typical_calls(profile, sequence)) {
        if (call.path == 0 || call.count == 0) continue; // as ordered_tree() does
        calls.push_back(call);
        calls.resize(calls.size() + call.count - 1, {call.path, 0, call.begin, 0});
    }
    return calls;
}

/// By node: which event it is.
std::vector<std::uint32_t> event_numbers(const OrderedTree& tree) {
    std::vector<std::uint32_t> numbers;
    std::uint32_t next = 0;
    for (const OrderedNode& node : tree.nodes) numbers.push_back(node.own != 0 ? next++ : no_partner);
    return numbers;
}

} // namespace

TypicalEvents typical_events(const SequencePairs& pairs) {
    TypicalEvents result;
    if (pairs.pairs.empty()) return result;
    const SequencePair& pair = pairs.pairs.front();
    result.iterations = pair.iterations;
    for (const PairOnRank& part : pair.ranks)
        if (result.ranks.empty() || result.ranks.back() != part.rank) result.ranks.push_back(part.rank);
    const std::vector<std::uint32_t> partner = tree_changes(pair.before, pair.after).alignment.partner;
    const std::vector<std::uint32_t> number_before = event_numbers(pair.before), number_after = event_numbers(pair.after);
    std::vector<std::array<std::uint32_t, 2>> numbers; // of the events in both trees
    for (std::uint32_t node = 1; node < partner.size(); ++node)
        if (partner[node] != no_partner && number_before[node] != no_partner && number_after[partner[node]] != no_partner) {
            const OrderedNode& of = pair.before.nodes[node];
            numbers.push_back({number_before[node], number_after[partner[node]]});
            result.events.push_back({pairs.paths.name(of.path), of.parent == 0 ? "" : pairs.paths.name(pair.before.nodes[of.parent].path)});
        }
    std::vector<bool> is_first(numbers.size(), true); // in its row, in both runs and on all ranks
    for (const PairOnRank& part : pair.ranks) {
        const std::vector<TypicalCall> before = calls_by_event(*pairs.profiles[0], *part.before), after = calls_by_event(*pairs.profiles[1], *part.after);
        const double weight = static_cast<double>(part.iterations.size()) / static_cast<double>(pair.iterations);
        double end_before = 0, begin_later = 0, end_later = 0; // of the event before
        for (std::size_t e = 0; e < numbers.size(); ++e) {
            const TypicalCall &a = before[numbers[e][0]], &b = after[numbers[e][1]];
            TypicalEvent& event = result.events[e];
            is_first[e] = is_first[e] && a.count != 0 && b.count != 0;
            if (!is_first[e]) continue;
            event.count = a.count;
            event.begin_before += weight * a.begin;
            event.begin_after += weight * b.begin;
            event.length_before += weight * a.length;
            event.length_after += weight * b.length;
            const double later = b.begin - a.begin;
            const double added = later - (a.begin >= end_before ? end_later : begin_later); // it may lie inside the other one
            event.least_added = &part == &pair.ranks.front() ? added : std::min(event.least_added, added);
            event.most_added = &part == &pair.ranks.front() ? added : std::max(event.most_added, added);
            end_before = a.begin + a.length;
            begin_later = later;
            end_later = later + b.length - a.length;
        }
    }
    std::size_t kept = 0;
    for (std::size_t e = 0; e < numbers.size(); ++e)
        if (is_first[e]) std::swap(result.events[kept++], result.events[e]);
    result.events.resize(kept);
    return result;
}

} // namespace libprofile::tools
