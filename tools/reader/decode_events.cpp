#include "tools/reader/decode_events.hpp"

namespace libprofile::tools {

namespace {

/// The events of one part after the other.
class PartDecoder {
  public:
    PartDecoder(Decoder& d, KeptEvents& out) : d_(d), out_(out) {}

    bool decode(EventPart& part, std::uint64_t events) {
        part.intervals_at = size(out_.intervals);
        part.messages_at = size(out_.messages);
        part.inners_at = size(out_.inners);
        at_ = part.begin_ns;
        path_ = 0;
        for (std::uint64_t i = 0; i < events; ++i) {
            EventRecord event;
            describe(d_, event);
            if (d_.failed() || !take(event, part)) return false;
        }
        part.intervals = size(out_.intervals) - part.intervals_at;
        part.messages = size(out_.messages) - part.messages_at;
        part.inners = size(out_.inners) - part.inners_at;
        return true;
    }

  private:
    template <class T> static std::uint32_t size(const std::vector<T>& list) { return static_cast<std::uint32_t>(list.size()); }

    bool take(const EventRecord& event, const EventPart& part) {
        switch (event.type) {
        case EventType::Interval: return take_interval(event);
        case EventType::Message: return take_message(event, part);
        case EventType::Inner: return take_inner(event);
        }
        return false;
    }

    /// The begin; at_ becomes the end.
    bool take_times(const EventRecord& event, std::uint64_t& begin) {
        begin = at_ + static_cast<std::uint64_t>(event.gap);
        const bool is_before = event.gap < 0;
        if (is_before ? begin >= at_ : begin < at_) return false;
        at_ = begin + event.length;
        return at_ >= begin;
    }

    bool take_interval(const EventRecord& event) {
        const std::uint64_t difference = (event.rest >> 1) ^ (~(event.rest & 1) + 1);
        path_ += difference;
        TracedInterval interval;
        if (path_ > max_id || !take_times(event, interval.begin_ns)) return false;
        interval.end_ns = at_;
        interval.path = static_cast<std::uint32_t>(path_);
        out_.intervals.push_back(interval);
        return true;
    }

    bool take_message(const EventRecord& event, const EventPart& part) {
        constexpr std::uint64_t all_flags = MessageIsReceived | MessageHasPartner | MessageHasNumber;
        const bool has_interval = out_.intervals.size() > part.intervals_at;
        if (!has_interval || event.rest > all_flags || event.partner > max_id || event.communicator > UINT32_MAX || event.tag < INT32_MIN ||
            event.tag > INT32_MAX)
            return false;
        TracedMessage message;
        message.interval = size(out_.intervals) - 1;
        message.direction = (event.rest & MessageIsReceived) != 0 ? MessageDirection::Received : MessageDirection::Sent;
        if ((event.rest & MessageHasPartner) != 0) message.partner = static_cast<std::uint32_t>(event.partner);
        message.communicator = static_cast<std::uint32_t>(event.communicator);
        message.tag = static_cast<std::int32_t>(event.tag);
        message.bytes = event.bytes;
        message.number = event.number;
        out_.messages.push_back(message);
        return true;
    }

    bool take_inner(const EventRecord& event) {
        TracedInner inner;
        if (event.rest > max_id || !take_times(event, inner.begin_ns)) return false;
        inner.end_ns = at_;
        inner.phase = static_cast<std::uint32_t>(event.rest);
        inner.number = event.number;
        out_.inners.push_back(inner);
        return true;
    }

    Decoder& d_;
    KeptEvents& out_;
    std::uint64_t at_ = 0;
    std::uint64_t path_ = 0;
};

} // namespace

bool decode_events(Decoder d, RawRank& out) {
    constexpr std::uint64_t least_bytes_of_part = 7, least_bytes_of_event = 3;
    EventsRecord r;
    describe(d, r);
    if (d.failed() || r.thread > max_id || r.stride == 0 || r.parts > d.remaining() / least_bytes_of_part) return false;
    KeptEvents events{r.stride, r.window_ns, r.dropped_parts, r.too_large, r.dropped_events, {}, {}, {}, {}};
    events.parts.reserve(r.parts);
    PartDecoder parts(d, events);
    std::uint64_t end = 0;
    for (std::uint64_t i = 0; i < r.parts; ++i) {
        EventPartRecord p;
        describe(d, p);
        if (d.failed() || p.kind > static_cast<std::uint64_t>(PartKind::Iteration) || p.phase > max_id || p.reasons > UINT8_MAX ||
            p.events > d.remaining() / least_bytes_of_event)
            return false;
        EventPart part;
        part.kind = static_cast<PartKind>(p.kind);
        part.phase = static_cast<std::uint32_t>(p.phase);
        part.number = p.number;
        part.reasons = static_cast<std::uint8_t>(p.reasons);
        part.begin_ns = end + p.left_out;
        end = part.end_ns = part.begin_ns + p.length;
        if (part.begin_ns < p.left_out || part.end_ns < part.begin_ns || !parts.decode(part, p.events)) return false;
        events.parts.push_back(part);
    }
    return d.remaining() == 0 && out.events.emplace(static_cast<std::uint32_t>(r.thread), std::move(events)).second;
}

} // namespace libprofile::tools
