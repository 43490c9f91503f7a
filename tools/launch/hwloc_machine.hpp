// The machine as hwloc sees it, as the payload of a Machine block (format/machine.hpp).
// Contract: for a process of its own: hwloc and its plugins may leave memory and threads, and crash. hwloc is opened when it is needed: what has no
// libhwloc.so.15 has no Machine block. HWLOC_SYNTHETIC and HWLOC_XMLFILE work as everywhere. Throws std::bad_alloc only.
#pragma once

#include <vector>

namespace libprofile::tools {

/// Empty: there is no hwloc 2, or it does not tell.
std::vector<unsigned char> hwloc_machine();

} // namespace libprofile::tools
