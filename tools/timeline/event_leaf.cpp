#include "tools/timeline/event_leaf.hpp"

#include <algorithm>

namespace libprofile::tools {

namespace {

constexpr std::size_t most_bytes_of_record = 128; // 12 numbers

/// Whether a record belongs to the one before it.
bool is_of_the_one_before(unsigned char first) {
    const bool is_message = (first & 3) == static_cast<unsigned>(EventType::Message);
    const bool is_dependence = (first & 15) == (static_cast<unsigned>(TaskEvent::Depends) << 2 | static_cast<unsigned>(EventType::Task));
    const bool is_further = (first & 15) == (static_cast<unsigned>(TaskEvent::Further) << 2 | static_cast<unsigned>(EventType::Task));
    const bool is_count = is_further && (first >= 128 || first >> 4 >= static_cast<unsigned>(FurtherEvent::Count)); // from 128 on, the number goes on
    return is_message || is_dependence || is_count;
}

} // namespace

bool LeafReader::fail() {
    is_damaged_ = true;
    return false;
}

/// So many bytes, if the block has them.
bool LeafReader::fill(std::size_t wanted) {
    while (bytes_.size() - used_ < wanted && next_frame_ < frames_.places().size()) {
        const FrameCache::Frame frame = frames_.frame(next_frame_);
        if (frame->empty()) return fail();
        bytes_.erase(bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(used_));
        first_ += used_;
        used_ = 0;
        bytes_.insert(bytes_.end(), frame->begin(), frame->end());
        ++next_frame_;
    }
    return true;
}

bool LeafReader::begin(std::uint32_t thread, KeptEvents& head) {
    begin_at({});
    if (!fill(most_bytes_of_record)) return false;
    Decoder d = decoder();
    EventsRecord r;
    describe(d, r);
    if (d.failed() || r.thread != thread || r.stride == 0) return fail();
    take_head(r, head);
    take(d);
    cursor_.parts_left = r.parts;
    cursor_.raw_at = used_;
    return true;
}

void LeafReader::begin_at(const LeafCursor& cursor) {
    cursor_ = cursor;
    is_damaged_ = false;
    bytes_.clear();
    next_frame_ = frames_.frame_at(cursor.raw_at);
    first_ = cursor.raw_at;
    used_ = 0;
    if (next_frame_ == frames_.places().size()) return;
    const std::uint64_t before = cursor.raw_at - frames_.places()[next_frame_].raw_at;
    if (!fill(1)) return;
    first_ = frames_.places()[next_frame_ - 1].raw_at;
    used_ = static_cast<std::size_t>(std::min<std::uint64_t>(before, bytes_.size()));
}

bool LeafReader::next(KeptEvents& events) {
    LeafCursor& c = cursor_;
    if (is_damaged_ || c.is_end()) return false;
    EventDecoder take_event(events);
    EventPart part = c.part;
    bool is_open = c.events_left > 0;
    if (is_open) {
        const bool goes_on = !events.parts.empty() && events.parts.back().begin_ns == part.begin_ns && events.parts.back().number == part.number;
        take_event.begin_at(part, c.state);
        if (goes_on) {
            part = events.parts.back();
            events.parts.pop_back();
        }
    }
    const auto close = [&] {
        take_event.end(part);
        events.parts.push_back(part);
        is_open = false;
    };
    std::uint64_t records = 0;
    for (; !c.is_end(); ++records) {
        if (!fill(most_bytes_of_record)) return false;
        if (used_ == bytes_.size()) return fail();
        if (records >= size && (c.events_left == 0 || !is_of_the_one_before(bytes_[used_]))) break;
        Decoder d = decoder();
        if (c.events_left == 0) {
            EventPartRecord head;
            describe(d, head);
            const std::uint64_t end = part.end_ns;
            part = {};
            if (d.failed() || !take_part(head, end, part)) return fail();
            --c.parts_left;
            c.events_left = head.events;
            if (!take_event.begin(part, head.processor)) return fail();
            is_open = true;
        } else {
            EventRecord event;
            describe(d, event);
            if (d.failed() || !take_event.take(event, part)) return fail();
            --c.events_left;
        }
        take(d);
        c.time = std::max(c.time, c.events_left == 0 ? part.end_ns : take_event.state().at_ns);
        if (c.events_left == 0) close();
    }
    c.state = take_event.state();
    if (is_open) close();
    c.raw_at = first_ + used_;
    c.part = part;
    return true;
}

} // namespace libprofile::tools
