#include "libprofile/loops/start_choice.hpp"

#include "libprofile/loops/loop_calls.hpp"
#include "libprofile/loops/pass_evidence.hpp"
#include "libprofile/loops/start_doubts.hpp"

#include <algorithm>

namespace libprofile {

namespace {

constexpr std::uint32_t least_passes = LoopSearch::least_passes;

struct Range {
    std::uint64_t from = UINT64_MAX;
    std::uint64_t to = 0;
    bool is_known() const { return from <= to; }
    void include(const Node& site) {
        if (!is_call_site(site)) return;
        from = std::min(from, place_in_code(site));
        to = std::max(to, place_in_code(site));
    }
};

/// The number of occurrences of another call between two successive ones of a call.
struct Distances {
    std::uint64_t least = UINT64_MAX;
    std::uint64_t most = 0;
};

class Choice {
  public:
    Choice(LoopCalls& calls, PassEvidence& evidence, const ExcludedCalls& excluded) noexcept
        : calls_(calls), evidence_(evidence), code_(evidence.code()), tree_(calls.tree()), candidate_(calls.candidate()), functions_(calls.functions()),
          excluded_(excluded) {}

    /// Returns false if the log knows too few passes.
    bool find(Loop& loop) noexcept {
        calls_.count(loop.sites);
        for (const NodeId site : loop.sites) // more than tests and probes
            if (calls_[site].count + 1 >= calls_.entries(site)) speaking_.add(site);
        drop_others();
        if (loop.sites.size() == 0) return false;
        loop.caller = candidate_.caller;
        loop.level = candidate_.level;
        loop.first_at = candidate_.entries.first_at;
        loop.last_at = candidate_.entries.last_at;
        const std::uint64_t most = calls_.next_group(UINT64_MAX);
        const bool is_found = most == 0 ? enters_calls_ && find_entries(loop) : (find_call(loop, outermost_group(loop, most)), true);
        if (is_found) watch_around(loop);
        return is_found;
    }

  private:
    /// No call comes once in a pass: each entry of the candidate's call site begins one.
    bool find_entries(Loop& loop) noexcept {
        loop.site = candidate_.entries.site;
        loop.start = 0;
        loop.passes = candidate_.entries.count;
        const bool has_passes = calls_.is_known_from_begin() || calls_.entries(loop.site) > least_passes;
        if (!begin_in_each_pass(loop, calls_.entries(loop.site))) ask_alternatives(loop);
        return has_passes;
    }

    /// Returns the first group, from `frequent` on, whose calls are made in no loop inside that of another group.
    std::uint64_t outermost_group(Loop& loop, std::uint64_t frequent) noexcept {
        for (std::uint64_t rare = calls_.next_group(frequent); rare != 0; rare = calls_.next_group(rare)) {
            bool is_ambiguous = false;
            const NodeId other = calls_.best_of(rare);
            const NodeId own = calls_.best_of(frequent);
            const bool is_nest = is_inside(loop, frequent, rare, is_ambiguous);
            if (is_nest) frequent = rare;
            if (is_nest || (is_ambiguous && loop.other == 0)) {
                if (!is_ambiguous || loop.is_ambiguous) continue; // one doubt is enough
                loop.is_ambiguous = true;
                loop.other = is_nest ? own : other;
                loop.other_site = calls_[loop.other].site;
                loop.other_passes = calls_[loop.other].count;
            }
        }
        return frequent;
    }

    /// Returns the call of the group to start passes with. A call in an inner loop may have come once in each pass until now and come more often later,
    /// like messages to neighbours; so an outer one is preferred.
    NodeId outermost_of(std::uint64_t group) noexcept {
        NodeId call = calls_.best_of(group);
        for (std::uint32_t levels = 0; levels < most_levels; ++levels) {
            const NodeId around = calls_.best_if([&](NodeId node) {
                const bool is_other = calls_.has_in_group(node, group) && calls_[node].site != calls_[call].site && !calls_.is_entry(node);
                return is_other && code_.lies_around(calls_[node].site, calls_[call].site);
            });
            if (around == 0) break;
            call = around;
        }
        return call;
    }

    /// Moves the start to a call site that no pass leaves out, in the same loop, if the code says that there is one.
    bool begin_in_each_pass(Loop& loop, std::uint64_t least) noexcept {
        const NodeId site = evidence_.best_in_each_pass(speaking_, loop.site, least);
        if (site == 0) return false;
        if (site != loop.site || (loop.start != 0 && !calls_.is_in_group(calls_[loop.start].count, calls_.entries(site)))) {
            loop.site = site;
            loop.start = calls_.best_at(site);
            loop.passes = with_earlier(loop.start == 0 ? calls_.entries(site) : calls_[loop.start].count);
        }
        loop.is_confirmed = true;
        if (!evidence_.is_start_certain(loop.site, loop.start)) prefer_certain_call(loop, least);
        if (loop.is_ambiguous && evidence_.is_in_loop_of(site, loop.other_site)) { // that is done in some of these passes
            loop.is_ambiguous = false;
            loop.other = loop.other_site = 0;
            loop.other_passes = 0;
        }
        return true;
    }

    /// A call below the site was made in each pass until now, but the functions called there may leave it out. One that the loop's function makes itself
    /// is made in each pass, and so is one that they cannot leave out.
    void prefer_certain_call(Loop& loop, std::uint64_t least) noexcept {
        const NodeId site = evidence_.best_own_in_each_pass(speaking_, loop.site, least);
        const NodeId start = site != 0 ? calls_.best_at(site) : evidence_.best_certain_at(loop.site);
        if (start == 0) return;
        loop.site = calls_[start].site;
        loop.start = start;
        loop.passes = with_earlier(calls_[start].count);
    }

    /// Takes sites that lie around the loop in the code out of its call sites. They came too seldom to be asked about.
    void watch_around(Loop& loop) noexcept {
        NodeList<64> own;
        for (const NodeId site : loop.sites) {
            const bool is_asked = calls_.entries(site) < loop.passes / 2 && !loop.around.is_full();
            if (!is_asked || !code_.lies_around(site, loop.site)) {
                own.add(site);
                continue;
            }
            Entries entries = calls_[site];
            entries.count = static_cast<std::uint32_t>(calls_.entries(site));
            loop.around.watch(site, entries);
        }
        loop.sites = own;
    }

    /// Adds the passes before the log knew the loop.
    std::uint64_t with_earlier(std::uint64_t passes) const noexcept {
        const std::uint64_t entries = calls_.entries(candidate_.entries.site); // as many as passes, or several in each
        const bool is_more = !calls_.is_known_from_begin() && entries != 0 && candidate_.entries.count > entries;
        return passes + (is_more ? passes * (candidate_.entries.count - entries) / entries : 0);
    }

    void find_call(Loop& loop, std::uint64_t group) noexcept {
        loop.start = outermost_of(group);
        loop.site = calls_[loop.start].site;
        loop.passes = with_earlier(calls_[loop.start].count);
        const bool is_in_each = begin_in_each_pass(loop, calls_[loop.start].count);
        if (calls_.is_entry(loop.start)) loop.start = 0;
        if (is_in_each || ask_alternatives(loop)) return; // no witness is needed
        for (NodeId node = 0; node < calls_.size() && loop.witnesses < Loop::most_witnesses; ++node) {
            if (calls_.is_entry(node) || !calls_.has_in_group(node, group)) continue;
            const auto has_its_site = [&](const Loop::Witness& other) { return calls_[other.node].site == calls_[node].site; };
            if (calls_[node].site != loop.site && std::none_of(loop.witness, loop.witness + loop.witnesses, has_its_site))
                loop.witness[loop.witnesses++].node = node;
        }
    }

    /// Drops the calls that cannot be a start.
    void drop_others() noexcept {
        for (NodeId node = 0; node < calls_.size(); ++node) {
            LoopCalls::Calls& calls = calls_[node];
            if (calls.count == 0 || calls_.is_entry(node)) continue;
            enters_calls_ = enters_calls_ || (calls.site == candidate_.entries.site && !functions_.is_poll(tree_[node].a));
            const bool is_possible =
                !calls.is_inner && calls_.may_come_again(node) && has_passes(calls) && !functions_.is_poll(tree_[node].a) && !excluded_.has(node);
            if (!is_possible) calls.count = 0;
        }
        leave_useful_entries();
    }

    /// Whether it came in most of the known time.
    bool has_passes(const LoopCalls::Calls& calls) const noexcept { return calls.are_passes(least_passes - 1) && calls.span() >= calls_.span() / 4 * 3; }

    /// Keeps the entries of a call site only if they come more often than each call that comes once in a pass: then such calls miss passes. Entries
    /// of an inner loop do not count.
    void leave_useful_entries() noexcept {
        std::uint64_t most = 0;
        for (NodeId node = 0; node < calls_.size(); ++node)
            if (!calls_.is_entry(node)) most = std::max<std::uint64_t>(most, calls_[node].count);
        const NodeId call = most == 0 ? 0 : calls_.best_of(most);
        for (NodeId node = 0; node < calls_.size(); ++node) {
            LoopCalls::Calls& calls = calls_[node];
            if (calls.count == 0 || !calls_.is_entry(node)) continue;
            // If the function entered there ends by jumping to MPI, the call's own site may have more entries.
            bool is_useful = most != 0 && node != calls_[call].site && calls.count > most + candidate_.entries.activations &&
                             calls.count == calls_.entries(node) && has_passes(calls);
            if (is_useful) {
                const Nesting nesting = code_.nesting(node, calls_[call].site).nesting;
                is_useful = nesting == Nesting::Same || (nesting == Nesting::Unknown && !calls.is_inner && calls.count < most * 2);
            }
            if (!is_useful) calls.count = 0;
        }
    }

    /// Returns the range in the function's code of the call sites entered about as often as `group`: those of one loop, some perhaps in a branch.
    Range range_about(std::uint64_t group) const noexcept {
        Range range;
        for (NodeId node = 0; node < calls_.size(); ++node)
            if (calls_.entries(node) >= (group + 1) / 2 && calls_.entries(node) <= group * 2) range.include(tree_[node]);
        return range;
    }

    /// Returns the range in the function's code of a group's call sites.
    Range range_of(std::uint64_t group) const noexcept {
        Range range;
        for (NodeId node = 0; node < calls_.size(); ++node)
            if (calls_.has_in_group(node, group)) range.include(tree_[calls_[node].site]);
        return range;
    }

    Distances distances(NodeId rare, NodeId frequent) const noexcept {
        Distances found;
        std::uint64_t between = 0;
        bool is_after_first = false;
        const auto is_one = [&](NodeId node, const ListedEvent& event, const SitePath& path) {
            return calls_.is_entry(node) ? path.at(candidate_.level) == node && event.common <= candidate_.level : event.node == node;
        };
        calls_.for_each_event([&](const ListedEvent& event, const SitePath& path, const LoopCalls::Moment&) {
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

    /// Asks the function's code. If one call of the frequent group is in the same loop as the rare one, the group counts that loop's passes.
    NestingAnswer nesting(std::uint64_t frequent, std::uint64_t rare) noexcept {
        const NodeId seldom = calls_[calls_.best_of(rare)].site;
        NestingAnswer answer = code_.nesting(calls_[calls_.best_of(frequent)].site, seldom);
        NodeId asked[8] = {calls_[calls_.best_of(frequent)].site};
        std::uint32_t count = 1;
        for (NodeId node = 0; node < calls_.size() && count < 8 && (answer.nesting == Nesting::Around || answer.nesting == Nesting::Sometimes); ++node) {
            const LoopCalls::Calls& calls = calls_[node];
            if (calls.count == 0 || !calls_.is_in_group(calls.count, frequent) || std::find(asked, asked + count, calls.site) != asked + count) continue;
            asked[count++] = calls.site;
            const NestingAnswer its = code_.nesting(calls.site, seldom);
            if (its.nesting == Nesting::Same) answer = its;
        }
        return answer;
    }

    /// A pass may leave out the chosen site. Returns true if it then always enters one of others: all of these become the start. If not, passes may be
    /// missed.
    bool ask_alternatives(Loop& loop) noexcept {
        const Alternatives& all = evidence_.alternatives_of(loop, loop.site);
        if (all.open == 0 && !all.is_exact) return false;
        // Only if each call there is an entry is it known what an entry is.
        const bool are_entries = loop.start == 0 || calls_.entries(loop.site) + 1 >= calls_[loop.start].count;
        if (!all.is_exact || !are_entries) {
            const std::uint64_t passes = loop.start == 0 ? calls_.entries(loop.site) : calls_[loop.start].count;
            loop.is_confirmed = evidence_.is_confirmed_by_others(loop, loop.site, passes);
            if (loop.is_ambiguous || loop.is_confirmed) return false;
            loop.is_ambiguous = true;
            loop.other = loop.other_site = all.open != 0 ? all.open : all.sites[1];
            loop.other_passes = calls_.entries(loop.other);
            return false;
        }
        loop.start = 0;
        loop.passes = loop.passes * evidence_.entries_of(all.sites) / std::max<std::uint64_t>(calls_.entries(loop.site), 1);
        loop.site = all.sites[0];
        for (std::uint32_t i = 1; i < all.sites.size(); ++i) { // the first in the code is the same on all ranks
            NodeId site = all.sites[i];
            if (tree_[site].b < tree_[loop.site].b) std::swap(site, loop.site);
            loop.alternatives.add(site);
        }
        return true;
    }

    /// Whether the calls of the group `frequent` are made in a loop inside the one that makes those of `rare`. If not, those of `rare` are made in some
    /// of its passes only.
    bool is_inside(const Loop& loop, std::uint64_t frequent, std::uint64_t rare, bool& is_ambiguous) noexcept {
        const NestingAnswer code = nesting(frequent, rare);
        is_ambiguous = code.nesting == Nesting::Unknown ? calls_.is_entry(calls_.best_of(frequent)) : code.nesting == Nesting::Sometimes || !code.is_certain;
        if (code.nesting == Nesting::Same) {
            is_ambiguous = is_ambiguous || !evidence_.is_confirmed(loop, frequent);
            return false;
        }
        if (code.nesting == Nesting::Around) { // a function called there may leave out its MPI call
            const NodeId call = calls_.best_of(rare);
            is_ambiguous = is_ambiguous || calls_.is_entry(call) || tree_[call].parent != calls_[call].site;
            return true;
        }
        const Range often = range_about(frequent);
        const Range seldom = range_of(rare);
        const bool are_known = often.is_known() && seldom.is_known();
        const bool is_among_them = are_known && often.from < seldom.from && seldom.to < often.to;
        const bool surrounds_them = are_known && seldom.from < often.from && often.to < seldom.to;
        if (is_among_them) return false;
        const Distances apart = distances(calls_.best_of(rare), calls_.best_of(frequent));
        if (apart.least > apart.most) return false;
        if (surrounds_them && apart.least != 0) return true;
        if (apart.least == 0) return false; // passes without any: they are alternatives
        if (apart.least == 1 && frequent < rare * 2) return false;
        is_ambiguous = true;
        // Stages of a step, or work done in every fourth step: steps mostly have a call of all ranks.
        if (apart.most <= 4) return functions_.is_collective(tree_[calls_.best_of(rare)].a);
        // Compilers put rare code after the rest of a loop's body, and the beginning of a loop before the loops inside.
        if (are_known && often.to < seldom.from) return false;
        const auto is_of_all = [&](std::uint64_t group) {
            const NodeId call = calls_.best_of(group);
            return !calls_.is_entry(call) && functions_.is_collective(tree_[call].a);
        };
        if (is_of_all(frequent) && !is_of_all(rare)) return false;
        const std::uint64_t variation = apart.most - apart.least;
        return variation > std::max<std::uint64_t>(1, apart.most / 4); // else it is done every n-th time
    }

    LoopCalls& calls_;
    PassEvidence& evidence_;
    SiteCode& code_; // of the function
    const CallTree& tree_;
    const LoopCandidate& candidate_;
    const FunctionTraits& functions_;
    const ExcludedCalls& excluded_;
    NodeList<64> speaking_;                         // call sites at which each entry makes a call other than tests and probes
    static constexpr std::uint32_t most_levels = 4; // of nested loops in one function
    bool enters_calls_ = false;                     // a call other than tests and probes, at the candidate's call site
};

} // namespace

bool choose_start(const EventList& events, const CallTree& tree, const LoopCandidate& candidate, const FunctionTraits& functions, const ExcludedCalls& excluded,
                  Loop& loop) noexcept {
    LoopCalls calls(events, tree, candidate, functions);
    if (!calls.is_there()) return false;
    PassEvidence evidence(calls);
    if (!Choice(calls, evidence, excluded).find(loop)) return false;
    doubt_start(calls, evidence, loop);
    return true;
}

} // namespace libprofile
