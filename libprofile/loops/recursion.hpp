// Time loops written as recursion: a function calls itself for its next pass, so each pass adds an activation to the stack. None of them returns
// before the last.
//
// Contract: belong to one thread, used with its in-tool flag set; async-signal-safe, allocate nothing; a few comparisons per event.
//
// Other recursions (tree walks, divide and conquer, grammars, multigrid cycles) go down and up again. So a recursion is no loop once an inner
// activation has returned while an outer one goes on, whatever it does later. Each activation must have made a call, else it is no pass. A
// function that reaches itself through another one is not recognised.
#pragma once

#include "libprofile/loops/site_path.hpp"

#include <cstdint>

namespace libprofile {

/// Whether both nodes are the same call site, on different call paths.
inline bool is_same_site(const CallTree& tree, NodeId one, NodeId other) noexcept {
    const Node &a = tree[one], &b = tree[other];
    return a.kind == b.kind && a.a == b.a && a.b == b.b;
}

/// The activations of a function that calls itself from one call site, seen from the calls below it.
struct Recursion {
    NodeId caller = 0;         // call path of the outermost activation
    std::uint32_t level = 0;   // of that activation, 0 if there is none
    NodeId site = 0;           // the call site by which the function calls itself
    NodeId innermost = 0;      // call path of the innermost activation seen
    std::uint32_t deepest = 0; // its level, 0 if none was seen

    void begin(NodeId called_on, std::uint32_t at_level, NodeId at_site) { *this = {called_on, at_level, at_site, 0, 0}; }
    bool is_known() const { return deepest != 0; }
    void forget() { deepest = 0; }
    bool is_on(const SitePath& path) const { return path.size >= level && path.caller_of(level) == caller; }
    /// Whether `path` goes through the innermost activation.
    bool is_innermost(const SitePath& path) const { return deepest != 0 && path.size >= deepest && path.caller_of(deepest) == innermost; }
    /// Whether `path`, which is_innermost(), goes through a further one.
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
