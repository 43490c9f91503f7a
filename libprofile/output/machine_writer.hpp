// The Machine block (format/machine.hpp): what `libprofile run` found, copied from its file. None where the program was started in another way.
// Contract: as for serializer.hpp. The file is one of this user and of this machine, or it is not read.
#pragma once

#include "libprofile/output/block_writer.hpp"

#include <cstdint>

namespace libprofile {

bool write_machine(BlockBuffer& buffer, std::uint32_t rank) noexcept;

} // namespace libprofile
