// One phase of one thread as blocks of the profile file: its structure, and its cells by metric.
// Contract: as for BlockBuffer. Only reads the phase, which must not change meanwhile.
#pragma once

#include "libprofile/output/block_writer.hpp"
#include "libprofile/thread/thread.hpp"

#include <cstdint>

namespace libprofile {

/// The number of iterations whose time and cluster are both known.
std::uint64_t iterations_of(const Phase& phase) noexcept;

/// The time of `node` in one phase, from its clusters and its rest.
std::uint64_t time_of(Phase& phase, NodeId node) noexcept;

/// `number`: the phase's number in its thread. `now`: for a running thread, else 0.
bool write_phase(BlockBuffer& buffer, std::uint32_t rank, const Thread& thread, std::uint32_t number, Phase& phase, std::uint64_t now) noexcept;

} // namespace libprofile
