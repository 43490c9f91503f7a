// The Events block of one thread.
// Contract: as for serializer.hpp. Of a thread that runs, only parts that are over.
#pragma once

#include "format/events.hpp"
#include "libprofile/trace/event_trace.hpp"

namespace libprofile {

inline void write_events(Encoder& encoder, std::uint32_t thread, const EventTrace& trace) noexcept {
    const PartStore& store = trace.store();
    std::uint64_t parts = 0, events = 0, all_events = 0;
    for (std::size_t i = 0; i < store.parts(); ++i) all_events += store.part(i).events;
    const auto for_each_kept = [&](auto&& visit) {
        for (std::size_t i = 0; i < store.parts(); ++i)
            if (trace.reasons_of(store.part(i)) != 0) visit(store.part(i));
    };
    for_each_kept([&](const Part& part) { ++parts, events += part.events; });
    // Those that only wait for room to be needed are dropped here.
    const std::uint64_t dropped_parts = store.dropped_parts() + store.parts() - parts;
    const std::uint64_t dropped_events = store.dropped_events() + all_events - events;
    EventsRecord record{thread, store.stride(), EventTrace::window_ns, dropped_parts, store.too_large(), dropped_events, parts};
    describe(encoder, record);
    std::uint64_t end = 0;
    for_each_kept([&](const Part& part) {
        EventPartRecord head{static_cast<std::uint64_t>(part.key.kind),
                             part.key.phase,
                             part.key.number,
                             trace.reasons_of(part),
                             part.begin - end,
                             part.end - part.begin,
                             part.events,
                             part.processor};
        describe(encoder, head);
        encoder.raw(store.bytes(part), part.size);
        end = part.end;
    });
}

} // namespace libprofile
