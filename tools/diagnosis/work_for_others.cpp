#include "tools/diagnosis/work_for_others.hpp"

namespace libprofile::tools {

bool works_for_others(const Suspect& suspect, const Evidence& e) {
    constexpr double as_usual = 0.5;  // of what it receives; if others receive so much, it is an exchange
    constexpr double slowest = 0.001; // bytes a ns, 1 MB/s: whoever works longer on them does something else
    if (suspect.kind != SuspectKind::FewRanks || suspect.rows.size() != 1 || e.excess() <= 0) return false;
    const double received = e.received_here - e.received_there;
    return e.received_there <= as_usual * e.received_here && e.received_by_others <= as_usual * e.received_here && received >= slowest * e.excess();
}

Gain gain_if_shared_out(const Gain& without, std::size_t ranks) {
    const double others = 1 - 1 / static_cast<double>(ranks);
    return {without.value * others, without.low * others, without.high};
}

} // namespace libprofile::tools
