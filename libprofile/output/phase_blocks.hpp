// One phase of one thread as a block of the profile file.
// Contract: as write_block(); reads the phase only, which does not change meanwhile.
#pragma once

#include "libprofile/output/byte_buffer.hpp"
#include "libprofile/session/thread.hpp"

#include <cstdint>

namespace libprofile {

/// Iterations whose time and cluster are both known.
std::uint64_t iterations_of(const Phase& phase) noexcept;

/// Time inside libprofile of one phase, from its clusters and its rest.
std::uint64_t overhead_of(Phase& phase, NodeId overhead) noexcept;

/// `now`: of a thread that runs, else 0.
bool write_phase(ByteBuffer& buffer, std::uint32_t rank, const Thread& thread, Phase& phase, std::uint64_t now) noexcept;

} // namespace libprofile
