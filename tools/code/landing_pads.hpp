// Where exceptions of calls land in the function itself (.gcc_except_table).
// Contract: no state; allocates the list; broken tables give fewer entries; throws std::bad_alloc only.
// Source: Itanium C++ ABI, exception handling tables; GCC's unwind-dw2 and libsupc++/eh_personality.cc describe the layout.
#pragma once

#include "tools/code/elf_code.hpp"

#include <vector>

namespace libprofile::tools {

/// Exceptions of calls in begin .. end go on at `pad`.
struct LandingPad {
    std::uint64_t begin, end, pad;
};

/// By address.
std::vector<LandingPad> landing_pads(const ElfCode& code, const CodePart& part);

} // namespace libprofile::tools
