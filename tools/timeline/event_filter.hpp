// What a user chooses of kept events (LIBPROFILE_TRACE=events): calls, tasks or regions, by name, length and place.
// Contract: plain data; words() allocates; throws std::bad_alloc only.
//
// A call, region or stretch has its length; a stretch of a task has the task's own time, as libprofile report --tasks says, or that of the stretches that
// are there. Upper and lower case are alike. viewer/src/events/filter.ts says the same of the page.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace libprofile::tools {

struct EventFilter {
    enum class Kind : std::uint8_t { All, Calls, Tasks, Regions };
    static constexpr std::uint64_t no_most = std::numeric_limits<std::uint64_t>::max();
    Kind only = Kind::All;
    std::string with;   // in the name of the function; of a task: of its type, or where it is created
    std::string inside; // in the name of a function of the call path
    std::uint64_t least_ns = 0, most_ns = no_most;
    std::vector<std::uint32_t> threads;       // sorted, as all lists; empty: all
    std::vector<std::uint32_t> processors;    // on which it ended
    std::vector<std::uint32_t> nodes;         // NUMA nodes of these
    std::vector<std::uint32_t> reads, writes; // NUMA nodes of the data in depend clauses of a task

    bool is_active() const;
    /// "tasks, with "block", of 1 ms and longer".
    std::string words() const;
};

} // namespace libprofile::tools
