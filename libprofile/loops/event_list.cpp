#include "libprofile/loops/event_list.hpp"

namespace libprofile {

EventList::EventList(const EventLog& log) noexcept : log_(&log), events_(log.events() + 1) {
    if (!events_.is_there()) return;
    LogRecord kind{};
    for (EventLog::Reader reader(log, log.begin()); reader.next(kind);) {
        if (kind != LogRecord::Event) continue;
        const LoggedEvent& event = reader.event;
        events_[count_++] = {event.node, event.common & 0x7fffffff, event.comes_again, event.at};
    }
}

} // namespace libprofile
