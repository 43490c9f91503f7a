// Time loops that are written as recursion: a function that calls itself for its next pass, so that the stack grows by one activation
// a pass and none of them returns before the last.
//
// Contract: belong to one thread, used with its in-tool flag set; async-signal-safe, allocate nothing; a few comparisons per event.
//
// Recursion of other kinds (walks over trees, divide and conquer, descents of grammars, cycles over multigrid levels) goes down and up
// again. So one whose inner activation has returned while an outer one goes on is no loop any more, whatever it does afterwards; and
// each activation must have made a call, else it is no pass. A function that reaches itself through another one is not recognised.
#pragma once

#include "libprofile/loops/site_path.hpp"

#include <cstdint>

namespace libprofile {

/// Both nodes are the same place in the code, on call paths of their own.
inline bool is_same_site(const CallTree& tree, NodeId one, NodeId other) noexcept {
    const Node &a = tree[one], &b = tree[other];
    return a.kind == b.kind && a.a == b.a && a.b == b.b;
}

/// The activations of one function that has called itself from one place, seen from the calls below it.
struct Recursion {
    NodeId caller = 0;         // call path of the outermost activation
    std::uint32_t level = 0;   // of that; 0: there is none
    NodeId site = 0;           // the call site in it by which the function calls itself
    NodeId innermost = 0;      // call path of the innermost activation that was seen
    std::uint32_t deepest = 0; // its level; 0: none was seen

    void begin(NodeId called_on, std::uint32_t at_level, NodeId at_site) { *this = {called_on, at_level, at_site, 0, 0}; }
    bool is_known() const { return deepest != 0; }
    void forget() { deepest = 0; }
    bool is_on(const SitePath& path) const { return path.size >= level && path.caller_of(level) == caller; }
    /// `path` goes through the innermost activation.
    bool is_innermost(const SitePath& path) const { return deepest != 0 && path.size >= deepest && path.caller_of(deepest) == innermost; }
    /// `path`, which is_innermost(), goes through a further one.
    bool grows(const CallTree& tree, const SitePath& path) const { return path.size > deepest && is_same_site(tree, path.at(deepest), site); }
    void grow(const SitePath& path) { innermost = path.at(deepest++); }
    /// `path`, which is_on(), goes through the innermost activation; `is_new`: so is the outermost.
    void follow(const CallTree& tree, const SitePath& path, bool is_new) {
        if (is_new || !is_known()) {
            innermost = caller;
            deepest = level;
        }
        while (grows(tree, path)) grow(path);
    }
};

} // namespace libprofile
