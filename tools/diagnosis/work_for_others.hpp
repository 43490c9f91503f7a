// One rank that works on what the others send it, while they wait: output that is gathered, for example.
// Contract: thread-safe (no state); allocates nothing; throws nothing.
//
// Source: the serialised output that Wei and Mellor-Crummey (ICS 2018, section 5.1, Algorithm 4) find in PFLOTRAN.
#pragma once

#include "tools/diagnosis/evidence.hpp"

namespace libprofile::tools {

/// In its iterations the rank receives more than before, and more than the others do there: so much that its work may be on that.
bool works_for_others(const Suspect& suspect, const Evidence& evidence);

/// Each rank would do its part of the work itself. At most, none of it is needed.
Gain gain_if_shared_out(const Gain& without, std::size_t ranks);

} // namespace libprofile::tools
