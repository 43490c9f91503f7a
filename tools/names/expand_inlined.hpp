// Gives functions that the compiler inlined call-path nodes of their own, so that every analysis sees them.
// Contract: one call per profile, after resolve_names; allocates in proportion to the call paths; throws std::bad_alloc only.
#pragma once

#include "tools/reader/model.hpp"

namespace libprofile::tools {

/// Where functions were inlined at a frame's address, the frame gets a chain of nodes of kind Inlined below it. Its values,
/// its samples and its callees move to the innermost one, so sums stay what they were. Time off the processor stays below the
/// function itself. Call paths get new numbers; parents still come before their children.
/// @return by old number: the call path that has the values now
std::vector<std::uint32_t> expand_inlined(Profile& profile);

} // namespace libprofile::tools
