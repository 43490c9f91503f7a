#include "libprofile/order/sequence_table.hpp"

#include <new>

namespace libprofile {

/// The place of a hash, or the free one where it belongs.
std::uint32_t* SequenceTable::place(const SequenceHash& hash) noexcept {
    auto i = static_cast<std::uint32_t>(hash.part[0]) & mask_;
    while (places_[i] != 0 && sequences_[places_[i] - 1].hash != hash) i = (i + 1) & mask_;
    return &places_[i];
}

bool SequenceTable::grow(OrderMemory& memory, Arena& arena) noexcept {
    const std::uint32_t wanted = mask_ == 0 ? 16 : (mask_ + 1) * 2;
    if (!memory.takes_hash(wanted * sizeof(std::uint32_t))) return false;
    auto* places = arena.array<std::uint32_t>(wanted);
    if (places == nullptr) return false;
    places_ = places;
    mask_ = wanted - 1;
    for (std::uint32_t i = 0; i < size(); ++i) *place(sequences_[i].hash) = i + 1;
    return true;
}

Sequence* SequenceTable::insert(const SequenceHash& hash, const EventBuffer& buffer, OrderMemory& memory, Arena& arena) noexcept {
    if (!memory.takes_hash(sizeof(Sequence))) return nullptr;
    Sequence* sequence = sequences_.append(arena);
    if (sequence == nullptr) return nullptr;
    new (sequence) Sequence{hash};
    sequence->is_too_long = buffer.is_too_long();
    const std::size_t bytes = buffer.size() * sizeof(TimelineEvent);
    if (buffer.is_too_long() || !memory.takes_timeline(bytes)) return sequence;
    sequence->events = arena.array<TimelineEvent>(buffer.size());
    if (sequence->events == nullptr && buffer.size() != 0) return sequence;
    sequence->size = buffer.size();
    sequence->has_timeline = true;
    for (std::uint32_t i = 0; i < buffer.size(); ++i) {
        sequence->events[i].key = buffer[i].key;
        sequence->events[i].count = buffer.count(i);
    }
    return sequence;
}

std::uint32_t SequenceTable::add(const SequenceHash& hash, const EventBuffer& buffer, std::uint64_t begin, OrderMemory& memory, Arena& arena) noexcept {
    if (last_ == 0 || sequences_[last_ - 1].hash != hash) {
        if (size() * 4 >= std::uint64_t{mask_} * 3 && !grow(memory, arena) && places_ == nullptr) return 0;
        std::uint32_t* const at = place(hash);
        if (*at == 0) {
            if (size() * 4 >= std::uint64_t{mask_} * 3 || insert(hash, buffer, memory, arena) == nullptr) return 0;
            *at = size();
        }
        last_ = *at;
    }
    Sequence& sequence = sequences_[last_ - 1];
    ++sequence.iterations;
    if (!sequence.has_timeline || sequence.size != buffer.size()) {
        ++untimed_;
        return last_;
    }
    for (std::uint32_t i = 0; i < sequence.size; ++i) {
        TimelineEvent& sum = sequence.events[i];
        const EventBuffer::Event& event = buffer[i];
        const std::uint64_t at = event.begin > begin ? event.begin - begin : 0, longest = buffer.longest(i);
        sum.begin_sum += at;
        sum.begin_most = at > sum.begin_most ? at : sum.begin_most;
        sum.length_sum += event.length;
        sum.length_most = longest > sum.length_most ? longest : sum.length_most;
    }
    return last_;
}

} // namespace libprofile
