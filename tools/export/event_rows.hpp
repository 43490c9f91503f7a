// The threads that an export of kept events (LIBPROFILE_TRACE=events) shows, on one axis of time.
// Contract: constant after construction and then thread-safe; allocates in proportion to the messages. Throws ExportError and std::bad_alloc.
#pragma once

#include "tools/analysis/clock_axis.hpp"
#include "tools/export/chosen_events.hpp"
#include "tools/export/event_names.hpp"
#include "tools/timeline/collective_operations.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace libprofile::tools {

class EventRows {
  public:
    static constexpr std::uint32_t most_ranks = 1u << 24; // of a file that says the truth

    /// All must outlive this.
    /// @throws ExportError when nothing that is chosen has events
    EventRows(const Profile& profile, const TableChoice& choice);

    const ChosenEvents& chosen() const { return chosen_; }
    const EventNames& names() const { return names_; }
    const Profile& profile() const { return profile_; }
    /// Those with a chosen part, in the profile's order.
    const std::vector<const Location*>& locations() const { return locations_; }
    /// In Profile::locations.
    std::uint32_t position(const Location& location) const { return static_cast<std::uint32_t>(&location - profile_.locations.data()); }
    /// Of a time in a chosen part: ns since the first chosen part of all began.
    std::uint64_t time(const Location& location, std::uint64_t own_ns) const;
    /// When the last chosen part is over.
    std::uint64_t end() const { return end_; }
    /// What the filter left out, and what limits comparisons of times.
    std::vector<std::string> remarks() const;
    /// The machine of a rank.
    std::string host(std::uint32_t rank) const;

    /// What both ends of a message have in common; 0 if the other end is not shown.
    std::uint64_t pair(const Location& location, const TracedMessage& message) const;
    const CollectiveOperations& collectives() const { return collectives_; }
    /// The operation that a slice is a call of; nullptr if it is none, or nothing is known of it.
    const CollectiveOperation* collective(const Location& location, const EventSlice& slice) const;
    const Location& location(std::size_t position) const { return profile_.locations[position]; }
    /// From the begin of a call to that of the last one of its operation, in ns of the axis.
    std::uint64_t until_last(const Location& location, const EventSlice& slice, const CollectiveOperation& operation) const;
    /// The thread that created a task; nullptr if that is not shown.
    const Location* creator(std::uint32_t rank, std::uint64_t task) const;

  private:
    const Profile& profile_;
    ChosenEvents chosen_;
    EventNames names_;
    ClockAxis axis_;
    CollectiveOperations collectives_;
    std::vector<const Location*> locations_;
    std::uint64_t begin_ = ~std::uint64_t{0}, end_ = 0;
};

} // namespace libprofile::tools
