// The Inside block of one iterated phase.
// Contract: as for serializer.hpp.
#pragma once

#include "format/profile_file.hpp"
#include "libprofile/phases/phase.hpp"

namespace libprofile {

inline void write_inside(Encoder& encoder, std::uint32_t thread, const Phase& phase) noexcept {
    InsideRecord record{thread, phase.number, phase.inside.known(phase.iteration_walls.size()), phase.inside.records()};
    describe(encoder, record);
    std::uint64_t left = phase.inside.bytes();
    phase.inside.for_each_piece([&](const unsigned char* bytes, std::size_t size) {
        const std::size_t whole = size < left ? size : left;
        encoder.raw(bytes, whole);
        left -= whole;
    });
}

} // namespace libprofile
