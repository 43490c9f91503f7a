// Which events pass a filter (event_filter.hpp): for exports, reports and data frames.
// Contract: constant after construction and then thread-safe; n log n of the events if something is filtered; allocates a bit for each event; throws
// FilterError where the profile has nothing of a name or number, and std::bad_alloc.
#pragma once

#include "tools/reader/model.hpp"
#include "tools/timeline/event_filter.hpp"
#include "tools/timeline/task_graph.hpp"

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace libprofile::tools {

/// what() is one sentence that says what the profile has.
struct FilterError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

class PassingEvents {
  public:
    /// All must outlive this.
    PassingEvents(const Profile& profile, const EventFilter& filter);

    bool is_active() const { return filter_.is_active(); }
    /// By position in Profile::locations, and in KeptEvents::intervals, runs and tasks. A creation passes as the task's stretches do.
    bool interval(std::size_t location, std::size_t at) const { return intervals_.empty() || intervals_[location][at]; }
    bool run(std::size_t location, std::size_t at) const { return runs_.empty() || runs_[location][at]; }
    bool creation(std::size_t location, std::size_t at) const { return creations_.empty() || creations_[location][at]; }
    /// By position in TaskGraph::tasks.
    std::vector<bool> tasks(const TaskGraph& graph) const;
    /// A thread, where it is in no call.
    bool outside(std::size_t location) const;
    /// That a filter left something out, of `all` things.
    std::string left_out(std::uint64_t passed, std::uint64_t all, const char* things) const;

  private:
    using Bits = std::vector<std::vector<bool>>; // by location; empty: all pass
    const EventFilter filter_;
    const Profile& profile_;
    Bits intervals_, runs_, creations_;
};

} // namespace libprofile::tools
