// The kept events (LIBPROFILE_TRACE=events) of the chosen ranks, phase and iterations, for exports that show what happened when.
// Contract: constant after construction and then thread-safe; allocates in proportion to the messages; throws std::bad_alloc only.
#pragma once

#include "tools/analysis/selection.hpp"
#include "tools/timeline/message_pairs.hpp"

#include <cstdint>
#include <vector>

namespace libprofile::tools {

/// A call of MPI, a construct of OpenMP, a visit to a named region, or an iteration inside another one.
struct EventSlice {
    static constexpr std::uint32_t no_interval = UINT32_MAX;
    std::uint64_t begin_ns = 0; // since the clock of its rank began
    std::uint64_t end_ns = 0;
    std::uint32_t interval = no_interval; // position in KeptEvents::intervals
    std::uint32_t phase = 0;              // of an iteration: position in Profile::phases
    std::uint64_t number = 0;             // of an iteration, from 0
};

class ChosenEvents {
  public:
    /// All must outlive this.
    ChosenEvents(const Profile& profile, const TableChoice& choice);

    bool is_chosen(const EventPart& part) const;
    /// The first chosen part; nullptr if there is none.
    const EventPart* first_part(const KeptEvents& events) const;
    /// What a part has: what lies inside another one comes after it.
    std::vector<EventSlice> slices(const KeptEvents& events, const EventPart& part) const;
    /// The other end of a chosen message, if that is known and chosen, too.
    MessagePairs::End other_end(std::size_t location, std::size_t message) const;

  private:
    const Profile& profile_;
    const TableChoice& choice_;
    MessagePairs pairs_;
    std::vector<std::vector<bool>> is_message_chosen_; // by location and message
};

/// It is one of the main thread's iterations, and its phase is there.
bool is_iteration(const EventPart& part);

} // namespace libprofile::tools
