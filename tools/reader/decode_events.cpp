#include "tools/reader/decode_events.hpp"

#include "tools/reader/event_decoder.hpp"

namespace libprofile::tools {

bool decode_events(Decoder d, RawRank& out) {
    constexpr std::uint64_t least_bytes_of_part = 8, least_bytes_of_event = 2;
    EventsRecord r;
    describe(d, r);
    if (d.failed() || r.thread > max_id || r.stride == 0 || r.parts > d.remaining() / least_bytes_of_part) return false;
    KeptEvents events;
    take_head(r, events);
    events.parts.reserve(r.parts);
    EventDecoder decoder(events);
    std::uint64_t end = 0;
    for (std::uint64_t i = 0; i < r.parts; ++i) {
        EventPartRecord p;
        describe(d, p);
        EventPart part;
        if (d.failed() || p.events > d.remaining() / least_bytes_of_event || !take_part(p, end, part)) return false;
        end = part.end_ns;
        if (!decoder.begin(part, p.processor)) return false;
        for (std::uint64_t k = 0; k < p.events; ++k) {
            EventRecord event;
            describe(d, event);
            if (d.failed() || !decoder.take(event, part)) return false;
        }
        decoder.end(part);
        events.parts.push_back(part);
    }
    return d.remaining() == 0 && out.events.emplace(static_cast<std::uint32_t>(r.thread), std::move(events)).second;
}

} // namespace libprofile::tools
