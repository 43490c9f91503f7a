// Which calls and tasks of events that were left in their files pass a filter, one at a time. viewer/src/events/filter.ts says the same of the page, and
// event_filter.hpp of exports.
// Contract: constant after construction and then thread-safe; refers to what it was made of; memory in proportion to the call paths; throws std::bad_alloc.
#pragma once

#include "tools/timeline/event_filter.hpp"
#include "tools/timeline/followed_tasks.hpp"
#include "tools/timeline/run_types.hpp"
#include "tools/timeline/state_pieces.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace libprofile::tools {

/// What is chosen. Numbers from one up to another one, both included; empty: all.
struct CallFilter {
    using Ranges = std::vector<std::pair<std::uint32_t, std::uint32_t>>;
    EventFilter::Kind only = EventFilter::Kind::All;
    std::string with = {}, inside = {};
    std::uint64_t least_ns = 0, most_ns = EventFilter::no_most;
    Ranges ranks = {}, threads = {}, nodes = {}; // nodes: NUMA nodes of processors on which they ended

    bool operator==(const CallFilter&) const = default;
    /// All or nothing of a thread passes.
    bool is_of_threads() const;
    bool is_active() const { return !is_of_threads() || !ranks.empty() || !threads.empty(); }
    bool has_limits() const { return least_ns != 0 || most_ns != EventFilter::no_most; }
    bool takes_tasks() const { return only == EventFilter::Kind::All || only == EventFilter::Kind::Tasks; }
    bool takes_calls() const { return only == EventFilter::Kind::All || only == EventFilter::Kind::Calls; }
};

class PassingCalls {
  public:
    PassingCalls(const Profile& profile, const IndexedRows& rows, const RunTypes& types, CallFilter filter);

    const CallFilter& filter() const { return filter_; }
    /// The thread is one of those that are chosen.
    bool has_thread(std::size_t location) const { return has_thread_[location]; }
    /// The thread, where it is in no call.
    bool outside(std::size_t location) const { return has_thread_[location] && filter_.is_of_threads(); }
    /// A call, or a stretch of a task; the own time of a task is not known.
    bool has(std::size_t location, const StateCall& call) const;
    /// A task of which all is known, if its type does: one of its stretches is enough.
    bool has(const FollowedTasks::Told& task) const;
    bool has_type(const TaskPlace& type) const;
    /// No call of a group or leaf is as long as is wanted. @param longest of it
    bool has_none(std::size_t location, std::uint64_t longest) const;
    /// Nor has a name that is wanted. In a group without calls the thread may pass, as it is in none.
    bool has_none(std::size_t location, const LeafGroup& group) const {
        return has_none(location, group.longest) || ((group.nodes & nodes_[location]) == 0 && !filter_.is_of_threads());
    }

  private:
    bool is_there(std::size_t location, std::uint16_t processor) const;
    bool is_as_long(std::uint64_t ns) const { return ns >= filter_.least_ns && ns <= filter_.most_ns; }
    bool is_named(std::uint32_t path) const { return is_with_[path] && is_inside_[path]; }

    const Profile& profile_;
    const IndexedRows& rows_;
    const CallFilter filter_;
    std::uint64_t nodes_of(std::size_t location) const;
    std::vector<bool> has_thread_;                // by location
    std::vector<std::uint64_t> nodes_;            // node_bit() of those that may pass, by location; where it is in none, too: all
    std::vector<bool> is_with_, is_inside_;       // by path
    std::vector<std::vector<bool>> is_type_with_; // by location, then position in RowIndex::run_paths
};

} // namespace libprofile::tools
