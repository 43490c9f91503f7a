// Keeps values of its own and turns them into values of call paths when a segment of the thread's wall time ends
// (phase_stack.hpp), so that they go to the phase they belong to: regions, without the phases knowing of them.
// Contract: book() runs on the thread that the phases belong to, or on the one that closes it, with the in-tool flag set; it may
// use PhaseStack::row() of what is still the innermost open phase, and nothing else of the stack that changes it.
#pragma once

#include <cstdint>

namespace libprofile {

class PhaseStack;

struct SegmentSource {
    void (*book)(SegmentSource& self, PhaseStack& phases, std::uint64_t now) noexcept = nullptr;
};

} // namespace libprofile
