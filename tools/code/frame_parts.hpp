// The code that has unwind information, from .eh_frame (elfutils; Linux Standard Base, "Exception Frames").
// Contract: no state; allocates in proportion to the entries; broken entries are left out; throws std::bad_alloc only.
#pragma once

#include "tools/code/code_part.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace libprofile::tools {

/// @param table the bytes of .eh_frame, or from there to the end of its segment
/// @param address of the first of them
/// @param identity the first bytes of the ELF file
/// @return in the file's order, unchecked
std::vector<CodePart> frame_parts(std::span<const unsigned char> table, std::uint64_t address, const unsigned char* identity);

} // namespace libprofile::tools
