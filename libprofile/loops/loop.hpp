// A loop that was found, and where its passes begin.
// Contract: plain data of one thread; async-signal-safe.
#pragma once

#include "libprofile/loops/loop_around.hpp"
#include "libprofile/loops/loop_search.hpp"
#include "libprofile/loops/node_list.hpp"

#include <cstdint>

namespace libprofile {

struct Loop {
    NodeId caller = 0;       // call path of the loop's function
    std::uint32_t level = 0; // of that function, 1: the outermost
    NodeId site = 0;         // the call site in it at which a pass begins
    NodeId start = 0;        // the MPI call below `site` that comes once in a pass; 0: every entry of `site` begins one
    // Branches: call sites of which each pass enters one instead of `site`. Then `start` is 0.
    static constexpr std::uint32_t most_alternatives = 8;
    NodeList<most_alternatives> alternatives;
    bool begins_at(NodeId node) const { return node == site || alternatives.has(node); }
    std::uint64_t passes = 0; // when it was found
    std::uint64_t first_at = 0;
    std::uint64_t last_at = 0;
    bool is_confirmed = false;     // each pass enters `site`: no pass can leave it out, or sites that cannot be left out came as often
    bool is_ambiguous = false;     // another start in the same function is as good: `other`
    bool is_opaque = false;        // the code of its function is not understood: one call in it may be many in the program (interpreters)
    bool is_nested = false;        // it lies in another loop of its function that makes no calls itself; that one may be the time loop
    bool may_miss = false;         // passes may leave out the site or, below it, the start; no evidence says that none does
    bool is_start_certain = false; // by the code, each entry of `site` makes the call `start`
    bool is_copied = false;        // a pass makes the same calls several times, the second time from `other`: the compiler may have unrolled the loop
    NodeId other = 0;
    NodeId other_site = 0;
    std::uint64_t other_passes = 0;

    // Other calls that came as often as `start`. One that comes twice between two starts shows that a pass was missed: then `start` is in code
    // that some passes skip.
    struct Witness {
        NodeId node = 0;
        std::uint32_t absent = 0; // passes without it
        std::uint32_t twice = 0;  // passes with more than one
    };
    static constexpr std::uint32_t most_witnesses = 4;
    Witness witness[most_witnesses];
    std::uint32_t witnesses = 0;

    NodeList<64> sites;    // call sites of the function that a pass enters
    LoopAround around;     // call sites in a loop around it
    NodeList<8> elsewhere; // call sites in other loops of the function, such as one after it
    /// By the code no pass is missed or joined with another, and the loop lies in no other one of its function.
    bool is_certain() const {
        return is_confirmed && !may_miss && is_start_certain && !is_ambiguous && !is_opaque && !is_nested && !is_recursion && around.is_empty() &&
               alternatives.size() == 0;
    }
    /// Each entry of one call site begins a pass.
    void begin_at_entries(NodeId of, std::uint32_t at_level, const Entries& entries) {
        caller = of;
        level = at_level;
        site = entries.site;
        passes = entries.count;
        first_at = entries.first_at;
        last_at = entries.last_at;
    }
    /// Whether both are parts of one loop, which looked like two because some of its calls came and went.
    bool continues_in(const Loop& later) const { return caller == later.caller && level == later.level && site == later.site && start == later.start; }
    void include(const Loop& later) {
        passes += later.passes;
        last_at = later.last_at;
        for (const NodeId its : later.sites) sites.add(its);
    }

    // Recursion: the function calls itself from `site` for its next pass. A pass is an activation, and begins at its first call.
    bool is_recursion = false;
    Recursion recursion;
    bool is_cut_short = false; // some passes lay too deep in the stack to be seen
    void set_recursion(const LoopCandidate& candidate) {
        begin_at_entries(candidate.caller, candidate.level, candidate.entries);
        is_recursion = true;
        is_cut_short = candidate.is_cut_short;
        recursion.begin(caller, level, site);
        sites.add(site);
    }

    /// Whether `path` goes through the loop's function.
    bool is_on(const SitePath& path) const { return path.size >= level && path.caller_of(level) == caller; }
    /// Whether a pass begins with the call `node` on `path`; `common` as in LoggedEvent.
    bool begins_pass(const CallTree& tree, const SitePath& path, NodeId node, std::uint32_t common) const {
        if (!is_on(path)) return false;
        if (is_recursion) return common < level || (recursion.is_innermost(path) && recursion.grows(tree, path));
        return start != 0 ? node == start : begins_at(path.at(level)) && common <= level;
    }
    bool has_entered = false; // a call site since the running pass began, if calls were followed
    void note_entry(std::uint32_t common, bool begins) { has_entered = !begins && (has_entered || common <= level); }
    /// The start comes again, but the function called at the site has not returned since the pass began: it now makes the call several times.
    bool is_again_in_entry(const SitePath& path, NodeId node, std::uint32_t common) const {
        return start != 0 && node == start && !is_recursion && !has_entered && common > level && is_on(path);
    }
    /// Whether the call stays in the running pass, and calls like it begin no other.
    bool stays_in_pass(const CallTree& tree, const SitePath& path, NodeId node) const {
        if (!is_on(path)) return false;
        if (is_recursion) return recursion.is_innermost(path) && !recursion.grows(tree, path);
        return sites.has(path.at(level)) && (start != 0 ? node != start : !begins_at(path.at(level)));
    }
    /// Whether the call stays in the running pass as long as the function called at the site, at level + 1, has not returned.
    bool stays_in_entry(const SitePath& path) const { return start == 0 && !is_recursion && is_on(path) && path.size > level && begins_at(path.at(level)); }
};

} // namespace libprofile
