// Writes the coded series of a phase as the payload of a Series block.
// Contract: the serializer calls it twice per block (to measure, to write); allocates and changes nothing.
#pragma once

#include "format/profile_file.hpp"
#include "libprofile/phases/phase.hpp"

namespace libprofile {

void write_series(Encoder& encoder, std::uint32_t thread, const Phase& phase) noexcept;

} // namespace libprofile
