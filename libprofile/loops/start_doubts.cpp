#include "libprofile/loops/start_doubts.hpp"

#include "libprofile/loops/call_pattern.hpp"

namespace libprofile {

namespace {

/// Calls that came as often as there are passes.
CallPattern calls_of_pass(const LoopCalls& calls, std::uint64_t passes) noexcept {
    const CallTree& tree = calls.tree();
    CallPattern found;
    for (NodeId node = 0; node < calls.size(); ++node) {
        const NodeId site = calls[node].site;
        if (calls.is_once_a_pass(calls[node].count, passes) && !calls.is_entry(node) && tree[site].kind == NodeKind::Frame) found.add(tree, site, node);
    }
    return found;
}

/// Functions called from sites that were entered as often as there are passes, whatever calls they make.
CallPattern functions_of_pass(const LoopCalls& calls, const SiteCode& code, std::uint64_t passes) noexcept {
    const CallTree& tree = calls.tree();
    CallPattern found;
    for (NodeId node = 0; node < calls.size(); ++node) {
        const NodeId site = tree[node].parent;
        if (!calls.is_once_a_pass(calls.entries(site), passes) || tree[site].kind != NodeKind::Frame || found.has(site)) continue;
        found.add(site, tree[site].b, is_call(tree[node].kind) ? tree[node].a : code.function_of(node));
    }
    return found;
}

void doubt_copies(Loop& loop, const CallPattern& pattern) noexcept {
    const std::uint32_t times = pattern.repetitions();
    if (times == 1 || loop.is_ambiguous) return;
    loop.is_copied = loop.is_ambiguous = true;
    loop.other = loop.other_site = pattern.another(loop.site);
    loop.other_passes = loop.passes * times;
}

} // namespace

void doubt_start(const LoopCalls& calls, PassEvidence& evidence, Loop& loop) noexcept {
    SiteCode& code = evidence.code();
    loop.is_opaque = !code.is_understood(loop.site);
    if (loop.is_opaque) return;
    loop.is_nested = code.is_nested(loop.site);
    loop.is_start_certain = evidence.is_start_certain(loop.site, loop.start);
    const Alternatives& all = evidence.alternatives_of(loop, loop.site);
    const bool is_by_call = loop.start != 0;
    const std::uint64_t passes = is_by_call ? calls[loop.start].count : evidence.entries_of(all.sites);
    const CallPattern pattern = is_by_call ? calls_of_pass(calls, passes) : functions_of_pass(calls, code, passes);
    // Functions called there may make their calls in some passes only, several of them in the same ones (output, say).
    const bool may_miss = !all.is_complete || !evidence.are_certain(all.sites);
    loop.may_miss = may_miss && !loop.is_confirmed && !evidence.is_confirmed_by_others(loop, loop.site, passes);
    if (loop.alternatives.size() == 0) doubt_copies(loop, pattern);
    // A site that is entered more often than it makes the call may make it in some passes only.
    const std::uint64_t entered = calls.entries(loop.site) - calls.own_calls(loop.site);
    if (!is_by_call || loop.is_ambiguous || entered < passes + passes / 2) return;
    loop.is_ambiguous = true;
    loop.other = loop.other_site = loop.site;
    loop.other_passes = entered;
}

} // namespace libprofile
