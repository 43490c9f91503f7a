// What kept events (LIBPROFILE_TRACE=events) are called in exports.
// Contract: constant after construction and then thread-safe; allocates in proportion to the tasks; throws std::bad_alloc only. Names are as the profile
// has them, not made printable.
#pragma once

#include "tools/export/chosen_events.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <utility>

namespace libprofile::tools {

class EventNames {
  public:
    /// Must outlive this.
    explicit EventNames(const Profile& profile);

    /// The function of a call or a task, the construct, the region; of an iteration its phase and number, from 1.
    std::string name(const Location& location, const EventSlice& slice) const;
    std::string iteration(std::uint32_t phase, std::uint64_t number) const;
    /// "mpi", "openmp", "region" ... (kind_name), "iteration", "task", "creation".
    const char* category(const Location& location, const EventSlice& slice) const;
    /// The call path of an interval, of the function that a task runs, or of a creation; 0 if it is not known.
    std::uint32_t path(const Location& location, const EventSlice& slice) const;
    struct Creation {
        const Location* location = nullptr;
        std::uint32_t at = 0; // position in KeptEvents::tasks
    };
    /// Where a task was created; no location if that was not kept.
    Creation creation(std::uint32_t rank, std::uint64_t task) const;

  private:
    const Profile& profile_;
    std::map<std::pair<std::uint32_t, std::uint64_t>, Creation> creations_; // by rank and number
};

/// The number of the task that a slice runs or creates; 0 for what is no task.
std::uint64_t task_of(const KeptEvents& events, const EventSlice& slice);

} // namespace libprofile::tools
