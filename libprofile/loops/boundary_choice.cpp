#include "libprofile/loops/boundary_choice.hpp"

#include "libprofile/session/scratch.hpp"

#include <algorithm>

namespace libprofile {

namespace {

constexpr std::uint32_t least_passes = LoopSearch::least_passes;

/// The occurrences of one MPI call path in the loop; `site`: the call site of the loop's function. Or those of such a call site itself:
/// its entries with a call that is no chance.
struct Calls : Entries {
    std::uint64_t entry = 0; // of the function into one of its call sites, at the last one
    bool is_inner = false;   // came more than once in such an entry; of a call site: twice without another in between
};

struct Range {
    std::uint64_t from = UINT64_MAX;
    std::uint64_t to = 0;
    bool is_known() const { return from <= to; }
    void include(const Node& place) {
        if (place.kind != NodeKind::Frame) return;
        from = std::min(from, place.b);
        to = std::max(to, place.b);
    }
};

/// By how many occurrences of another call two successive ones of a call are apart.
struct Distances {
    std::uint64_t least = UINT64_MAX;
    std::uint64_t most = 0;
};

class Choice {
  public:
    Choice(const EventLog& log, const CallTree& tree, const LoopCandidate& candidate, const FunctionTraits& functions,
           const ExcludedCalls& excluded) noexcept
        : log_(&log), tree_(&tree), candidate_(&candidate), functions_(&functions), excluded_(&excluded), nodes_(tree.size()),
          calls_(nodes_), entries_(nodes_), code_(functions.find_code) {
        known_from_ = std::max(log.known_from(candidate.level), candidate.entries.first_at);
    }

    bool choose(Loop& loop) noexcept {
        if (!calls_.is_there() || !entries_.is_there()) return false;
        count(loop);
        if (loop.sites == 0) return false;
        std::uint64_t frequent = next_group(UINT64_MAX);
        loop.caller = candidate_->caller;
        loop.level = candidate_->level;
        loop.first_at = candidate_->entries.first_at;
        loop.last_at = candidate_->entries.last_at;
        if (frequent == 0 && !enters_calls_) return false; // who does nothing but poll
        if (frequent == 0) { // nothing is made once in a pass
            loop.place = candidate_->entries.site;
            loop.boundary = 0;
            loop.passes = candidate_->entries.count;
            return is_known_from_begin() || entries_[loop.place] > least_passes;
        }
        for (std::uint64_t rare = next_group(frequent); rare != 0; rare = next_group(rare)) {
            bool is_ambiguous = false;
            const NodeId other = best_of(rare);
            const NodeId own = best_of(frequent);
            const bool is_nest = is_inside(loop, frequent, rare, is_ambiguous);
            if (is_nest) frequent = rare;
            if (is_nest || (is_ambiguous && loop.other == 0)) {
                if (!is_ambiguous || loop.is_ambiguous) continue; // once in doubt, always
                loop.is_ambiguous = true;
                loop.other = is_nest ? own : other;
                loop.other_place = calls_[loop.other].site;
                loop.other_passes = calls_[loop.other].count;
            }
        }
        loop.boundary = best_of(frequent);
        loop.place = calls_[loop.boundary].site;
        loop.passes = calls_[loop.boundary].count;
        const std::uint64_t entries = entries_[candidate_->entries.site]; // as many as passes, or several in each
        if (!is_known_from_begin() && entries != 0 && candidate_->entries.count > entries)
            loop.passes += loop.passes * (candidate_->entries.count - entries) / entries;
        if (is_entry(loop.boundary)) loop.boundary = 0;
        for (NodeId node = 0; node < nodes_ && loop.witnesses < Loop::most_witnesses; ++node) {
            if (calls_[node].count == 0 || is_entry(node) || !is_in_group(calls_[node].count, frequent)) continue;
            const auto has_place = [&](const Loop::Witness& other) { return calls_[other.node].site == calls_[node].site; };
            if (calls_[node].site != loop.place && std::none_of(loop.witness, loop.witness + loop.witnesses, has_place))
                loop.witness[loop.witnesses++].node = node;
        }
        return true;
    }

  private:
    bool is_known_from_begin() const { return known_from_ == candidate_->entries.first_at; }

    /// Calls visit(event, path, entry) for the events of the loop.
    template <class Visit> void for_each_event(Visit visit) const noexcept {
        EventLog::Reader reader(*log_, log_->begin());
        LogRecord kind{};
        SitePath path;
        std::uint64_t entry = 0;
        while (reader.next(kind)) {
            if (kind != LogRecord::Event) continue;
            const LoggedEvent& event = reader.event;
            if (event.common <= candidate_->level) ++entry;
            if (event.at < known_from_ || event.at > candidate_->entries.last_at) continue;
            if (!path.find(*tree_, event.node) || path.size < candidate_->level ||
                path.caller_of(candidate_->level) != candidate_->caller)
                continue;
            visit(event, path, entry);
        }
    }

    void count(Loop& loop) noexcept {
        NodeId entered_before = 0;
        for_each_event([&](const LoggedEvent& event, const SitePath& path, std::uint64_t entry) {
            const NodeId site = path.at(candidate_->level);
            loop.add_site(site);
            const auto add = [&](Calls& calls, bool is_inner) {
                if (calls.count == 0) {
                    calls.begin(site, event.at);
                } else {
                    calls.add(event.at);
                    calls.is_inner = calls.is_inner || is_inner;
                }
                calls.entry = entry;
            };
            if (event.common <= candidate_->level) ++entries_[site];
            if (calls_[site].entry != entry && !functions_->is_chance((*tree_)[event.node].a)) {
                add(calls_[site], entered_before == site);
                entered_before = site;
            }
            add(calls_[event.node], calls_[event.node].entry == entry);
            calls_[event.node].is_inner = calls_[event.node].is_inner || event.comes_again;
        });
        // What cannot be a boundary is as if it were not there.
        const std::uint64_t span = candidate_->entries.last_at > known_from_ ? candidate_->entries.last_at - known_from_ : 0;
        for (NodeId node = 0; node < nodes_; ++node) {
            Calls& calls = calls_[node];
            if (calls.count == 0 || is_entry(node)) continue;
            enters_calls_ = enters_calls_ || (calls.site == candidate_->entries.site && !functions_->is_chance((*tree_)[node].a));
            const bool is_possible = !calls.is_inner && calls.are_passes(least_passes - 1) && calls.span() >= span / 4 * 3 &&
                                     !functions_->is_chance((*tree_)[node].a) &&
                                     !excluded_->has(node);
            if (!is_possible) calls.count = 0;
        }
        leave_useful_entries(span);
    }

    /// A call site of the function, not an MPI call: its entries.
    bool is_entry(NodeId node) const noexcept { return !is_call((*tree_)[node].kind); }

    /// Entries of a call site are asked only where they come more often than each call that comes once in a pass: then that misses passes.
    /// Unless they are those of an inner loop.
    void leave_useful_entries(std::uint64_t span) noexcept {
        std::uint64_t most = 0;
        for (NodeId node = 0; node < nodes_; ++node)
            if (!is_entry(node)) most = std::max<std::uint64_t>(most, calls_[node].count);
        const NodeId call = most == 0 ? 0 : best_of(most);
        for (NodeId node = 0; node < nodes_; ++node) {
            Calls& calls = calls_[node];
            if (calls.count == 0 || !is_entry(node)) continue;
            // Of the call's own site there may be more entries where the function that is entered ends by jumping to MPI.
            bool is_useful = most != 0 && node != calls_[call].site && calls.count > most + 1 && calls.count == entries_[node] &&
                             calls.are_passes(least_passes - 1) && calls.span() >= span / 4 * 3;
            if (is_useful) {
                const Nesting nesting = nesting_of_sites(node, calls_[call].site).nesting;
                is_useful = nesting == Nesting::Same || (nesting == Nesting::Unknown && !calls.is_inner && calls.count < most * 2);
            }
            if (!is_useful) calls.count = 0;
        }
    }

    /// Calls that come once in a pass may have one more or less: of the pass that was cut off.
    static bool is_in_group(std::uint64_t count, std::uint64_t group) { return count + 1 >= group && count <= group; }

    /// The largest count below the group of `count`; 0: there is none.
    std::uint64_t next_group(std::uint64_t count) const noexcept {
        std::uint64_t largest = 0;
        for (NodeId node = 0; node < nodes_; ++node)
            if (calls_[node].count < count && !is_in_group(calls_[node].count, count))
                largest = std::max<std::uint64_t>(largest, calls_[node].count);
        return largest;
    }

    /// By the place in the code of the function, which is the same on all ranks. Which came first is not: it depends on where in a pass
    /// the log begins.
    bool comes_before(const Calls& one, const Calls& other) const noexcept {
        const Node& place = (*tree_)[one.site];
        const Node& its = (*tree_)[other.site];
        const bool have_places = place.kind == NodeKind::Frame && its.kind == NodeKind::Frame && place.a == its.a;
        return have_places && place.b != its.b ? place.b < its.b : one.first_at < other.first_at;
    }

    NodeId best_of(std::uint64_t group) const noexcept {
        NodeId best = 0;
        for (NodeId node = 0; node < nodes_; ++node) {
            const Calls& calls = calls_[node];
            if (calls.count == 0 || !is_in_group(calls.count, group)) continue;
            if (best == 0) {
                best = node;
                continue;
            }
            const unsigned rank = preference(node), best_rank = preference(best);
            if (rank != best_rank ? rank > best_rank : comes_before(calls, calls_[best])) best = node;
        }
        return best;
    }
    unsigned preference(NodeId node) const noexcept {
        if (is_entry(node)) return 0;
        return functions_->is_collective((*tree_)[node].a) ? 2 : 1;
    }

    /// The range, in the code of the function, of the call sites that are entered about as often as `group` says: those of one loop, where
    /// some may be in a branch.
    Range range_about(std::uint64_t group) const noexcept {
        Range range;
        for (NodeId node = 0; node < nodes_; ++node)
            if (entries_[node] >= (group + 1) / 2 && entries_[node] <= group * 2) range.include((*tree_)[node]);
        return range;
    }

    /// The range of a group's call sites in the code of the function.
    Range range_of(std::uint64_t group) const noexcept {
        Range range;
        for (NodeId node = 0; node < nodes_; ++node)
            if (calls_[node].count != 0 && is_in_group(calls_[node].count, group)) range.include((*tree_)[calls_[node].site]);
        return range;
    }

    Distances distances(NodeId rare, NodeId frequent) const noexcept {
        Distances found;
        std::uint64_t between = 0;
        bool is_after_first = false;
        const auto is_one = [&](NodeId node, const LoggedEvent& event, const SitePath& path) {
            return is_entry(node) ? path.at(candidate_->level) == node && event.common <= candidate_->level : event.node == node;
        };
        for_each_event([&](const LoggedEvent& event, const SitePath& path, std::uint64_t) {
            if (is_one(frequent, event, path)) ++between;
            if (!is_one(rare, event, path)) return;
            if (is_after_first) {
                found.least = std::min(found.least, between);
                found.most = std::max(found.most, between);
            }
            is_after_first = true;
            between = 0;
        });
        return found;
    }

    std::uintptr_t address_of(NodeId site) const noexcept { return functions_->address_of((*tree_)[site]); }
    NestingAnswer nesting_of_sites(NodeId often, NodeId seldom) noexcept {
        const std::uintptr_t first = address_of(often), second = address_of(seldom);
        return first == 0 || second == 0 || (*tree_)[often].a != (*tree_)[seldom].a ? NestingAnswer() : code_.nesting(first, second);
    }
    /// Whether passes of the innermost loop with the call site `in` may enter neither of two others.
    bool may_leave_out(NodeId in, NodeId one, NodeId other) noexcept {
        const std::uintptr_t loop = address_of(in), first = address_of(one), second = address_of(other);
        return loop == 0 || first == 0 || second == 0 || code_.may_pass_without(loop, first, second);
    }

    /// What the code of the function says. Where one call of the frequent group is in the same loop as the rare one, that loop's passes are what
    /// the group counts.
    NestingAnswer nesting(std::uint64_t frequent, std::uint64_t rare) noexcept {
        const NodeId seldom = calls_[best_of(rare)].site;
        NestingAnswer answer = nesting_of_sites(calls_[best_of(frequent)].site, seldom);
        NodeId asked[8] = {calls_[best_of(frequent)].site};
        std::uint32_t count = 1;
        for (NodeId node = 0; node < nodes_ && count < 8 && (answer.nesting == Nesting::Around || answer.nesting == Nesting::Sometimes); ++node) {
            const Calls& calls = calls_[node];
            if (calls.count == 0 || !is_in_group(calls.count, frequent) || std::find(asked, asked + count, calls.site) != asked + count) continue;
            asked[count++] = calls.site;
            const NestingAnswer its = nesting_of_sites(calls.site, seldom);
            if (its.nesting == Nesting::Same) answer = its;
        }
        return answer;
    }

    /// Whether something else confirms that the group `frequent` misses no pass: the function itself makes the call, and cannot leave it out;
    /// or another of its call sites, or two of them together (a step with a new neighbour list, and one without), cannot be left out, and came as
    /// often. That a call site cannot be left out is not enough: what it leads to need not call MPI each time.
    bool is_confirmed(const Loop& loop, std::uint64_t frequent) noexcept {
        const NodeId call = best_of(frequent), place = calls_[call].site;
        if ((*tree_)[call].parent == place && !is_entry(call) && !may_leave_out(place, place, place)) return true;
        std::uint32_t asked = 0;
        for (std::uint32_t i = 0; i < loop.sites; ++i) {
            for (std::uint32_t k = i; k < loop.sites; ++k) {
                const NodeId one = loop.site[i], other = loop.site[k];
                const std::uint64_t count = entries_[one] + (i == k ? 0 : entries_[other]);
                if (one == place || other == place || count + 1 < frequent || count > frequent + 1 || ++asked > 16) continue;
                if (!may_leave_out(place, one, other)) return true;
            }
        }
        return false;
    }

    /// Whether the calls of the group `frequent` are made in a loop inside the one that makes those of `rare`; else those are made in
    /// some of its passes only.
    bool is_inside(const Loop& loop, std::uint64_t frequent, std::uint64_t rare, bool& is_ambiguous) noexcept {
        const NestingAnswer code = nesting(frequent, rare);
        is_ambiguous = code.nesting == Nesting::Unknown ? is_entry(best_of(frequent)) : code.nesting == Nesting::Sometimes || !code.is_certain;
        if (code.nesting == Nesting::Same) {
            is_ambiguous = is_ambiguous || !is_confirmed(loop, frequent);
            return false;
        }
        if (code.nesting == Nesting::Around) { // a function that is called there need not make its call of MPI each time
            const NodeId call = best_of(rare);
            is_ambiguous = is_ambiguous || is_entry(call) || (*tree_)[call].parent != calls_[call].site;
            return true;
        }
        const Range often = range_about(frequent);
        const Range seldom = range_of(rare);
        const bool have_places = often.is_known() && seldom.is_known();
        const bool is_among_them = have_places && often.from < seldom.from && seldom.to < often.to;
        const bool surrounds_them = have_places && seldom.from < often.from && often.to < seldom.to;
        if (is_among_them) return false;
        const Distances apart = distances(best_of(rare), best_of(frequent));
        if (apart.least > apart.most) return false;
        if (surrounds_them && apart.least != 0) return true;
        if (apart.least == 0) return false; // passes without any: they are alternatives
        if (apart.least == 1 && frequent < rare * 2) return false;
        is_ambiguous = true;
        // Stages of a step, or something that is done at every fourth step: steps mostly have a call of all ranks.
        if (apart.most <= 4) return functions_->is_collective((*tree_)[best_of(rare)].a);
        // Compilers put what is rarely done behind the rest of a loop's body, and the beginning of a loop before those inside.
        if (have_places && often.to < seldom.from) return false;
        const std::uint64_t variation = apart.most - apart.least;
        return variation > std::max<std::uint64_t>(1, apart.most / 4); // else something that is done every n-th time
    }

    const EventLog* log_;
    const CallTree* tree_;
    const LoopCandidate* candidate_;
    const FunctionTraits* functions_;
    const ExcludedCalls* excluded_;
    std::size_t nodes_;
    std::uint64_t known_from_;       // the log knows what happened in the loop
    Scratch<Calls> calls_;           // by node
    Scratch<std::uint64_t> entries_; // by call site of the function
    CodeLoops code_;                 // of the function
    bool enters_calls_ = false;      // other than tests and probes, at the call site that the candidate enters
};

} // namespace

bool choose_boundary(const EventLog& log, const CallTree& tree, const LoopCandidate& candidate, const FunctionTraits& functions,
                     const ExcludedCalls& excluded, Loop& loop) noexcept {
    return Choice(log, tree, candidate, functions, excluded).choose(loop);
}

} // namespace libprofile
