#include "libprofile/loops/alternatives.hpp"

#include <algorithm>

namespace libprofile {

Alternatives find_alternatives(SiteCode& code, const Loop& loop, NodeId first, const LoopCalls& calls) noexcept {
    Alternatives found;
    found.sites.add(first);
    for (bool is_more = true; is_more;) {
        is_more = false;
        for (const NodeId site : loop.sites) {
            if (calls.entries(site) == 0 || found.sites.has(site) || !code.may_enter_instead(site, found.sites)) continue;
            const auto is_apart = [&](NodeId other) { return code.are_apart(other, site); };
            if (found.sites.is_full() || !std::all_of(found.sites.begin(), found.sites.end(), is_apart)) {
                found.open = site;
                return found;
            }
            found.sites.add(site);
            is_more = true;
        }
    }
    found.is_exact = found.sites.size() > 1;
    found.is_complete = !code.may_leave_out(found.sites);
    return found;
}

} // namespace libprofile
