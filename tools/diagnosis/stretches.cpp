#include "tools/diagnosis/stretches.hpp"

#include <algorithm>

namespace libprofile::tools {

Stretch longest_stretch(std::span<const std::uint64_t> iterations) {
    Stretch best, now;
    std::uint64_t of_cause = 0; // in it
    for (const std::uint64_t i : iterations) {
        const std::uint64_t others = i - now.begin - of_cause;
        if (of_cause == 0 || others > (i - now.begin) / 10) {
            now.begin = i;
            of_cause = 0;
        }
        ++of_cause;
        now.end = i + 1;
        if (now.length() > best.length()) best = now;
    }
    return best;
}

Stretch stretch_beside(const Stretch& own, std::span<const std::uint64_t> iterations, const Stretch& all) {
    std::uint64_t taken = 0, of_cause = 0;
    const auto may_take = [&](std::uint64_t i) {
        if (taken == own.length()) return false;
        of_cause += std::binary_search(iterations.begin(), iterations.end(), i) ? 1 : 0;
        return of_cause * 10 <= ++taken;
    };
    Stretch after{own.end, own.end};
    while (after.end < all.end && may_take(after.end)) ++after.end;
    taken = of_cause = 0;
    Stretch before{own.begin, own.begin};
    while (before.begin > all.begin && may_take(before.begin - 1)) --before.begin;
    return before.length() > after.length() ? before : after;
}

} // namespace libprofile::tools
