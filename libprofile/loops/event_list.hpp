// The events of an EventLog, read once: settling on a loop looks at all of them a dozen times.
// Contract: belongs to one thread, for one decision; async-signal-safe; scratch memory under the quota, 16 bytes an event. The log must not change.
#pragma once

#include "libprofile/base/scratch.hpp"
#include "libprofile/loops/event_log.hpp"

namespace libprofile {

/// As LoggedEvent, without what was booked.
struct ListedEvent {
    NodeId node;
    std::uint32_t common : 31;
    std::uint32_t comes_again : 1;
    std::uint64_t at;
};

class EventList {
  public:
    explicit EventList(const EventLog& log) noexcept;

    /// Memory was not short. Else the list is empty.
    bool is_there() const { return events_.is_there(); }
    const ListedEvent* begin() const { return events_.is_there() ? &events_[0] : nullptr; }
    const ListedEvent* end() const { return begin() + count_; }
    /// As EventLog::known_from().
    std::uint64_t known_from(std::uint32_t level) const { return log_->known_from(level); }

  private:
    const EventLog* log_;
    Scratch<ListedEvent> events_;
    std::size_t count_ = 0;
};

} // namespace libprofile
