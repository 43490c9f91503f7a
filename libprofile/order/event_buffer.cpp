#include "libprofile/order/event_buffer.hpp"

namespace libprofile {

EventBuffer* EventBuffer::create(Arena& arena) noexcept {
    auto* events = arena.array<Event>(most);
    auto* buffer = events == nullptr ? nullptr : arena.make<EventBuffer>();
    if (buffer == nullptr) return nullptr;
    buffer->events_ = events;
    buffer->arena_ = &arena;
    return buffer;
}

[[gnu::cold, gnu::noinline]] void EventBuffer::add_folded(OrderKey key, std::uint64_t begin, std::uint64_t length) noexcept {
    if (is_too_long_) return;
    if (!is_folded()) {
        if (folded_ == nullptr) folded_ = arena_->array<Folded>(most);
        if (folded_ == nullptr) {
            is_too_long_ = true;
            return;
        }
        room_ = 0;
        size_ = 0;
        for (std::uint32_t i = 0; i < most; ++i) { // each position is read before it is written
            const Event event = events_[i];
            append_folded(event.key, event.begin, event.length);
        }
    }
    append_folded(key, begin, length);
}

void EventBuffer::append_folded(OrderKey key, std::uint64_t begin, std::uint64_t length) noexcept {
    if (size_ != 0 && events_[size_ - 1].key == key) {
        Folded& last = folded_[size_ - 1];
        events_[size_ - 1].length += length;
        if (length > last.longest) last.longest = length;
        ++last.count;
        return;
    }
    if (size_ == most) {
        is_too_long_ = true;
        return;
    }
    events_[size_] = {key, begin, length};
    folded_[size_++] = {length, 1};
}

} // namespace libprofile
