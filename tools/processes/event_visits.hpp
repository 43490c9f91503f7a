// Which events a process came to, and how often: the structure that processes are compared by.
// Contract: EventPaths is constant after construction and then thread-safe; functions without state; allocate; throw std::bad_alloc only.
//
// Events are calls of MPI, constructs of OpenMP and named regions. Tests and probes are none: how often they are made is chance.
#pragma once

#include "libprofile/base/hashing.hpp"
#include "tools/reader/model.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace libprofile::tools {

/// An event path, or a phase inside: its number in EventPaths, and how often.
struct EventCount {
    std::uint32_t event = 0;
    std::uint64_t visits = 0;
    bool operator==(const EventCount&) const = default;
};
using EventVisits = std::vector<EventCount>; // by ascending event, each once, none with 0

/// The events of a profile: its call paths, then as many numbers as it has phases, for those inside an iteration.
class EventPaths {
  public:
    explicit EventPaths(const Profile& profile);

    std::size_t size() const { return is_event_.size(); }
    bool is_event(std::uint32_t path) const { return is_event_[path]; }
    std::uint32_t event_of_phase(std::uint32_t phase) const { return static_cast<std::uint32_t>(first_phase_ + phase); }
    bool is_phase(std::uint32_t event) const { return event >= first_phase_; }
    std::uint32_t phase_of(std::uint32_t event) const { return static_cast<std::uint32_t>(event - first_phase_); }
    /// What a function and the one that it calls are known by, at the end of a call path; equal wherever it is called.
    std::uint64_t caller_pair(std::uint32_t path) const { return pair_[path]; }
    /// Visits of events among the cells; sums over equal paths.
    EventVisits visits_of(std::span<const Cell> cells) const;

  private:
    std::size_t first_phase_;
    std::vector<bool> is_event_;
    std::vector<std::uint64_t> pair_; // by call path
};

/// Sorted, and each event once.
void normalise(EventVisits& visits);

/// Calls visit(event, visits in a, visits in b) for every event of one of them.
template <class Visit> void for_each_event(const EventVisits& a, const EventVisits& b, Visit visit) {
    for (std::size_t i = 0, j = 0; i < a.size() || j < b.size();) {
        const bool in_a = i < a.size() && (j == b.size() || a[i].event <= b[j].event);
        const bool in_b = j < b.size() && (i == a.size() || b[j].event <= a[i].event);
        visit(in_a ? a[i].event : b[j].event, in_a ? a[i].visits : 0, in_b ? b[j].visits : 0);
        i += in_a ? 1 : 0;
        j += in_b ? 1 : 0;
    }
}

/// Events without a partner in the other visits, as a share of all of both; 0 to 1.
inline double share_alone(const EventVisits& a, const EventVisits& b) {
    double alone = 0, all = 0;
    for_each_event(a, b, [&](std::uint32_t, std::uint64_t here, std::uint64_t there) {
        alone += static_cast<double>(here > there ? here - there : there - here);
        all += static_cast<double>(here + there);
    });
    return all == 0 ? 0 : alone / all;
}

/// Equal for equal visits, whatever their order: a sum of mixed parts.
inline std::uint64_t hash_of_visits(const EventVisits& visits) {
    std::uint64_t hash = 0;
    for (const EventCount& count : visits) hash += mix(mix(count.event + golden) + count.visits);
    return hash;
}
inline std::uint64_t hash_of_events(const EventVisits& visits) {
    std::uint64_t hash = 0;
    for (const EventCount& count : visits) hash += mix(mix(count.event + golden));
    return hash;
}

} // namespace libprofile::tools
