#include "libprofile/loops/boundary_choice.hpp"

#include "libprofile/loops/alternatives.hpp"
#include "libprofile/loops/call_pattern.hpp"
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
          calls_(nodes_), entries_(nodes_), own_calls_(nodes_), code_(tree, functions) {
        known_from_ = std::max(log.known_from(candidate.level), candidate.entries.first_at);
    }

    bool choose(Loop& loop) noexcept {
        if (!find(loop)) return false;
        doubt(loop);
        return true;
    }

  private:
    bool find(Loop& loop) noexcept {
        if (!calls_.is_there() || !entries_.is_there() || !own_calls_.is_there()) return false;
        count(loop);
        if (loop.sites.size() == 0) return false;
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
            const bool has_passes = is_known_from_begin() || entries_[loop.place] > least_passes;
            ask_alternatives(loop);
            return has_passes;
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
        if (ask_alternatives(loop)) return true; // nothing needs to bear witness
        for (NodeId node = 0; node < nodes_ && loop.witnesses < Loop::most_witnesses; ++node) {
            if (calls_[node].count == 0 || is_entry(node) || !is_in_group(calls_[node].count, frequent)) continue;
            const auto has_place = [&](const Loop::Witness& other) { return calls_[other.node].site == calls_[node].site; };
            if (calls_[node].site != loop.place && std::none_of(loop.witness, loop.witness + loop.witnesses, has_place))
                loop.witness[loop.witnesses++].node = node;
        }
        return true;
    }

    /// What the machine code says against the choice, or does not say for it.
    void doubt(Loop& loop) noexcept {
        loop.is_opaque = !code_.is_understood(loop.place);
        if (loop.is_opaque) return;
        loop.is_nested = code_.is_nested(loop.place);
        const Alternatives& all = alternatives_of(loop, loop.place);
        const std::uint64_t passes = loop.boundary == 0 ? entries_of(all.sites) : calls_[loop.boundary].count;
        loop.may_miss = !all.is_complete && !loop.is_confirmed && !is_confirmed_by_others(loop, loop.place, passes);
        const CallPattern calls = loop.boundary != 0 ? calls_of_pass(passes) : functions_of_pass(passes);
        // Functions that are called there may make their calls in some passes only; hardly several of them in the same ones.
        loop.may_miss = loop.may_miss || (loop.boundary != 0 && calls.sites() == 1 && code_.may_return_without(loop.place, loop.boundary));
        if (loop.alternatives.size() == 0) doubt_copies(loop, calls);
        // What is entered there more often than it makes the call may make it in some passes only.
        const std::uint64_t entered = entries_[loop.place] - own_calls_[loop.place];
        if (loop.boundary == 0 || loop.is_ambiguous || entered < passes + passes / 2) return;
        loop.is_ambiguous = true;
        loop.other = loop.other_place = loop.place;
        loop.other_passes = entered;
    }

    /// Those that came as often as there are passes.
    CallPattern calls_of_pass(std::uint64_t passes) const noexcept {
        CallPattern calls;
        for (NodeId node = 0; node < nodes_; ++node) {
            const bool is_one = calls_[node].count + 1 >= passes && calls_[node].count <= passes + 1 && calls_[node].count != 0 && !is_entry(node);
            if (is_one && (*tree_)[calls_[node].site].kind == NodeKind::Frame) calls.add(*tree_, calls_[node].site, node);
        }
        return calls;
    }

    /// Those that are called from sites which were entered as often as there are passes, whatever calls they make.
    CallPattern functions_of_pass(std::uint64_t passes) const noexcept {
        CallPattern functions;
        for (NodeId node = 0; node < nodes_; ++node) {
            const NodeId site = (*tree_)[node].parent;
            if (entries_[site] + 1 < passes || entries_[site] > passes + 1 || (*tree_)[site].kind != NodeKind::Frame || functions.has(site)) continue;
            functions.add(site, (*tree_)[site].b, is_call((*tree_)[node].kind) ? (*tree_)[node].a : code_.function_of(node));
        }
        return functions;
    }

    void doubt_copies(Loop& loop, const CallPattern& calls) const noexcept {
        const std::uint32_t times = calls.repetitions();
        if (times == 1 || loop.is_ambiguous) return;
        loop.is_copied = loop.is_ambiguous = true;
        loop.other = loop.other_place = calls.second() == loop.place ? calls.first() : calls.second();
        loop.other_passes = loop.passes * times;
    }

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
            loop.sites.add(site);
            const auto add = [&](Calls& calls, bool is_inner) {
                if (calls.count == 0) {
                    calls.begin(site, event.at, 0);
                } else {
                    calls.add(event.at, 0);
                    calls.is_inner = calls.is_inner || is_inner;
                }
                calls.entry = entry;
            };
            if (event.common <= candidate_->level) {
                ++entries_[site];
                if (path.size == candidate_->level) ++own_calls_[site];
            }
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
                const Nesting nesting = code_.nesting(node, calls_[call].site).nesting;
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

    /// What the code of the function says. Where one call of the frequent group is in the same loop as the rare one, that loop's passes are what
    /// the group counts.
    NestingAnswer nesting(std::uint64_t frequent, std::uint64_t rare) noexcept {
        const NodeId seldom = calls_[best_of(rare)].site;
        NestingAnswer answer = code_.nesting(calls_[best_of(frequent)].site, seldom);
        NodeId asked[8] = {calls_[best_of(frequent)].site};
        std::uint32_t count = 1;
        for (NodeId node = 0; node < nodes_ && count < 8 && (answer.nesting == Nesting::Around || answer.nesting == Nesting::Sometimes); ++node) {
            const Calls& calls = calls_[node];
            if (calls.count == 0 || !is_in_group(calls.count, frequent) || std::find(asked, asked + count, calls.site) != asked + count) continue;
            asked[count++] = calls.site;
            const NestingAnswer its = code_.nesting(calls.site, seldom);
            if (its.nesting == Nesting::Same) answer = its;
        }
        return answer;
    }

    /// Where a pass may leave out `place`, what it enters instead, of the sites that were entered.
    const Alternatives& alternatives_of(const Loop& loop, NodeId place) noexcept {
        if (alternatives_.sites.size() == 0 || alternatives_.sites[0] != place) alternatives_ = find_alternatives(code_, loop, place, entries_);
        return alternatives_;
    }
    std::uint64_t entries_of(const AlternativeSites& sites) const noexcept {
        std::uint64_t entries = 0;
        for (const NodeId site : sites) entries += entries_[site];
        return entries;
    }
    /// The function itself makes the call at each of them.
    bool are_own(const AlternativeSites& sites) const noexcept {
        return std::all_of(sites.begin(), sites.end(), [&](NodeId site) { return own_calls_[site] == entries_[site]; });
    }

    /// Others of the function's call sites cannot be left out, one or two together, and came as often as there are passes with `place`.
    bool is_confirmed_by_others(const Loop& loop, NodeId place, std::uint64_t passes) noexcept {
        std::uint32_t asked = 0;
        for (std::uint32_t i = 0; i < loop.sites.size(); ++i) {
            for (std::uint32_t k = i; k < loop.sites.size(); ++k) {
                const NodeId one = loop.sites[i], other = loop.sites[k];
                const std::uint64_t count = entries_[one] + (i == k ? 0 : entries_[other]);
                if (one == place || other == place || count + 1 < passes || count > passes + 1 || ++asked > 16) continue;
                if (!code_.may_leave_out(place, one, other)) return true;
            }
        }
        return false;
    }

    /// A pass may leave out the place that was chosen. If it then enters one of others, all of these are the boundary: true. Otherwise that
    /// may be a pass that is missed.
    bool ask_alternatives(Loop& loop) noexcept {
        const Alternatives& all = alternatives_of(loop, loop.place);
        if (all.open == 0 && !all.is_exact) return false;
        // Each call there an entry: else it is not known what is one.
        const bool are_entries = loop.boundary == 0 || entries_[loop.place] + 1 >= calls_[loop.boundary].count;
        if (!all.is_exact || !are_entries) {
            const std::uint64_t passes = loop.boundary == 0 ? entries_[loop.place] : calls_[loop.boundary].count;
            loop.is_confirmed = is_confirmed_by_others(loop, loop.place, passes);
            if (loop.is_ambiguous || loop.is_confirmed) return false;
            loop.is_ambiguous = true;
            loop.other = loop.other_place = all.open != 0 ? all.open : all.sites[1];
            loop.other_passes = loop.passes + entries_[loop.other];
            return false;
        }
        loop.boundary = 0;
        loop.passes = loop.passes * entries_of(all.sites) / std::max<std::uint64_t>(entries_[loop.place], 1);
        loop.place = all.sites[0];
        for (std::uint32_t i = 1; i < all.sites.size(); ++i) { // the first in the code is the same on all ranks
            NodeId site = all.sites[i];
            if ((*tree_)[site].b < (*tree_)[loop.place].b) std::swap(site, loop.place);
            loop.alternatives.add(site);
        }
        return true;
    }

    /// Whether something else confirms that the group `frequent` misses no pass: the function itself makes the call, and cannot leave it out;
    /// or another of its call sites, or two of them together (a step with a new neighbour list, and one without), cannot be left out, and came as
    /// often. That a call site cannot be left out is not enough: what it leads to need not call MPI each time.
    bool is_confirmed(const Loop& loop, std::uint64_t frequent) noexcept {
        const NodeId call = best_of(frequent), place = calls_[call].site;
        if ((*tree_)[call].parent == place && !is_entry(call) && !code_.may_leave_out(place, place, place)) return true;
        const Alternatives& all = alternatives_of(loop, place);
        if (all.is_exact && all.is_complete && are_own(all.sites)) return true;
        return is_confirmed_by_others(loop, place, frequent);
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
    std::uint64_t known_from_;         // the log knows what happened in the loop
    Scratch<Calls> calls_;             // by node
    Scratch<std::uint64_t> entries_;   // by call site of the function
    Scratch<std::uint64_t> own_calls_; // the same: the function itself makes the call
    SiteCode code_;                    // of the function
    Alternatives alternatives_;        // those that were asked for last
    bool enters_calls_ = false;        // other than tests and probes, at the call site that the candidate enters
};

} // namespace

bool choose_boundary(const EventLog& log, const CallTree& tree, const LoopCandidate& candidate, const FunctionTraits& functions,
                     const ExcludedCalls& excluded, Loop& loop) noexcept {
    return Choice(log, tree, candidate, functions, excluded).choose(loop);
}

} // namespace libprofile
