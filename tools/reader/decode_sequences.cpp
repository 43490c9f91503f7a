#include "tools/reader/decode_sequences.hpp"

#include "format/sequences.hpp"

namespace libprofile::tools {

namespace {

/// With node ids and numbers of phases of the file.
bool decode_event(Decoder& d, SequenceEvent& event) {
    SequenceEventRecord r;
    describe(d, r);
    if (d.failed() || r.what / 2 > max_id || r.sequence > max_id || r.count == 0) return false;
    event.is_inner = r.is_inner();
    if (event.is_inner) {
        event.phase = static_cast<std::uint32_t>(r.what / 2);
        if (r.sequence != 0) event.sequence = static_cast<std::uint32_t>(r.sequence - 1);
    } else {
        event.path = static_cast<std::uint32_t>(r.what / 2);
    }
    event.count = r.count;
    event.begin_sum = r.begin_sum;
    event.begin_most = r.begin_most;
    event.length_sum = r.length_sum;
    event.length_most = r.length_most;
    return true;
}

bool decode_sequence(Decoder& d, EventSequence& sequence) {
    SequenceRecord r;
    describe(d, r);
    if (d.failed() || r.events > d.remaining() / 6 || r.flags > (SequenceHasTimeline | SequenceIsTooLong)) return false;
    sequence.hash[0] = r.hash[0];
    sequence.hash[1] = r.hash[1];
    sequence.iterations = r.iterations;
    sequence.has_timeline = (r.flags & SequenceHasTimeline) != 0;
    sequence.is_too_long = (r.flags & SequenceIsTooLong) != 0;
    if (r.events != 0 && !sequence.has_timeline) return false;
    sequence.events.resize(r.events);
    for (SequenceEvent& event : sequence.events)
        if (!decode_event(d, event)) return false;
    return true;
}

} // namespace

bool decode_sequences(Decoder d, RawRank& out) {
    SequencesRecord r;
    describe(d, r);
    if (d.failed() || r.thread > max_id || r.phase > max_id || r.sequences > d.remaining() / 5) return false;
    RawSequences raw;
    raw.thread = static_cast<std::uint32_t>(r.thread);
    raw.phase = static_cast<std::uint32_t>(r.phase);
    raw.iterations = r.iterations;
    raw.data.unnumbered = r.unnumbered;
    raw.data.untimed = r.untimed;
    raw.data.sequences.resize(r.sequences);
    for (EventSequence& sequence : raw.data.sequences)
        if (!decode_sequence(d, sequence)) return false;
    Text numbers;
    d.text(numbers);
    if (d.failed() || d.remaining() != 0) return false;
    raw.numbers.assign(numbers.data, numbers.data + numbers.size);
    out.sequences.push_back(std::move(raw));
    return true;
}

std::optional<std::vector<std::uint32_t>> decode_sequence_numbers(const RawSequences& sequences, std::uint64_t iterations) {
    if (sequences.iterations > iterations) return std::nullopt;
    std::vector<std::uint32_t> numbers;
    numbers.reserve(sequences.iterations);
    RangeDecoder decoder(sequences.numbers.data(), sequences.numbers.size());
    SequenceCode code;
    while (numbers.size() < sequences.iterations) {
        const std::uint32_t number = code.code(decoder, 0);
        if (decoder.failed() || number > sequences.data.sequences.size()) return std::nullopt;
        numbers.push_back(number);
    }
    return numbers;
}

} // namespace libprofile::tools
