// The Sequences block of one iterated phase.
// Contract: as for serializer.hpp.
#pragma once

#include "format/sequences.hpp"
#include "libprofile/output/phase_blocks.hpp"

namespace libprofile {

inline void write_sequence(Encoder& encoder, const Sequence& sequence) noexcept {
    const std::uint64_t flags =
        (sequence.has_timeline ? std::uint64_t{SequenceHasTimeline} : 0) | (sequence.is_too_long ? std::uint64_t{SequenceIsTooLong} : 0);
    SequenceRecord record{{sequence.hash.part[0], sequence.hash.part[1]}, sequence.iterations, flags, sequence.size};
    describe(encoder, record);
    for (std::uint32_t i = 0; i < sequence.size; ++i) {
        const TimelineEvent& event = sequence.events[i];
        const std::uint64_t what = event.key.is_inner() ? 2 * std::uint64_t{event.key.phase()} + 1 : 2 * std::uint64_t{event.key.node()};
        SequenceEventRecord out{what, event.key.sequence(), event.count, event.begin_sum, event.begin_most, event.length_sum, event.length_most};
        describe(encoder, out);
    }
}

inline void write_sequences(Encoder& encoder, std::uint32_t thread, const Phase& phase) noexcept {
    const PhaseOrder& order = *phase.order;
    const std::uint64_t iterations = iterations_of(phase), known = order.numbers.size() < iterations ? order.numbers.size() : iterations;
    SequencesRecord record{thread, phase.number, known, order.unnumbered, order.sequences.untimed(), order.sequences.size()};
    describe(encoder, record);
    for (std::uint32_t i = 0; i < order.sequences.size(); ++i) write_sequence(encoder, order.sequences[i]);
    unsigned char tail[SequenceNumbers::most_held_back];
    const std::size_t held_back = order.numbers.held_back(tail);
    encoder.number(order.numbers.bytes() + held_back);
    order.numbers.for_each_piece([&](const unsigned char* bytes, std::size_t size) { encoder.raw(bytes, size); });
    encoder.raw(tail, held_back);
}

} // namespace libprofile
