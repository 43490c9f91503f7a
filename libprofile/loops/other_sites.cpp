#include "libprofile/loops/other_sites.hpp"

#include "libprofile/loops/certain_calls.hpp"

namespace libprofile {

namespace {

/// Whether a pass may enter the site and leave out the start.
bool may_miss_passes(SiteCode& code, const Loop& loop, NodeId site) noexcept {
    if (loop.is_confirmed) return false;
    AlternativeSites begins;
    begins.add(loop.site);
    for (const NodeId alternative : loop.alternatives) begins.add(alternative);
    return code.may_enter_instead(site, begins);
}

} // namespace

const Entries* enter_other_site(const CallTree& tree, Loop& loop, NodeId site, const Entries& before, std::uint64_t at,
                                const FunctionTraits& functions) noexcept {
    if (loop.elsewhere.has(site)) return nullptr;
    if (loop.around.has(site)) return loop.around.enter(site, at, loop.first_at);
    SiteCode code(tree, functions);
    if (!loop.around.is_full() && code.lies_around(site, loop.site)) {
        loop.around.watch(site, before);
        return loop.around.enter(site, at, loop.first_at);
    }
    const bool is_elsewhere = code.is_understood(loop.site) && code.is_in_loop(site) && code.nesting(site, loop.site).nesting == Nesting::Unknown;
    if (is_elsewhere) return loop.elsewhere.add(site), nullptr;
    loop.sites.add(site);
    if ((loop.other == 0 || loop.is_copied) && may_miss_passes(code, loop, site)) {
        loop.is_ambiguous = true;
        loop.is_copied = false;
        loop.other = loop.other_site = site;
        loop.other_passes = 1;
    }
    return nullptr;
}

Loop loop_around(const CallTree& tree, const Loop& inner, const Entries& entries, const FunctionTraits& functions) noexcept {
    SiteCode code(tree, functions);
    Loop loop;
    loop.begin_at_entries(inner.caller, inner.level, entries);
    --loop.passes; // the last pass begins only now
    loop.sites = inner.sites;
    inner.around.for_each_site([&](NodeId site) {
        if (site != loop.site && code.lies_around(site, loop.site))
            loop.around.watch(site, {});
        else
            loop.sites.add(site);
    });
    loop.is_nested = code.is_nested(loop.site);
    loop.is_confirmed = !code.may_leave_out(loop.site, loop.site, loop.site) && CertainCalls(tree, functions, code).are_made_at(loop.site);
    loop.may_miss = !loop.is_confirmed;
    return loop;
}

} // namespace libprofile
