// The Begins block of one iterated phase.
// Contract: as for serializer.hpp.
#pragma once

#include "format/begins.hpp"
#include "libprofile/output/phase_blocks.hpp"

namespace libprofile {

inline void write_begins(Encoder& encoder, std::uint32_t thread, const Phase& phase) noexcept {
    const std::uint64_t iterations = iterations_of(phase);
    BeginsRecord record{thread, phase.number, phase.begins.first()};
    describe(encoder, record);
    std::uint64_t left = (phase.begins.size() < iterations ? phase.begins.size() : iterations) * GapCode::bytes;
    encoder.number(left);
    phase.begins.for_each_piece([&](const unsigned char* bytes, std::size_t size) {
        const std::size_t whole = size < left ? size : static_cast<std::size_t>(left);
        encoder.raw(bytes, whole);
        left -= whole;
    });
}

} // namespace libprofile
