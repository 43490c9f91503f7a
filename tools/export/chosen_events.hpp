// The kept events (LIBPROFILE_TRACE=events) of the chosen ranks, phase and iterations that pass the filter, for exports that show what happened when.
// Iterations inside others are there whatever the filter takes.
// Contract: constant after construction and then thread-safe; allocates in proportion to the messages; throws FilterError and
// std::bad_alloc.
#pragma once

#include "tools/export/call_table.hpp"
#include "tools/timeline/message_pairs.hpp"
#include "tools/timeline/passing_events.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace libprofile::tools {

/// What takes time in a kept part: a call of MPI, a construct of OpenMP or a visit to a named region; an iteration inside another one; a stretch of a
/// task's execution. And the creation of a task, which takes none.
struct EventSlice {
    enum class Kind : std::uint8_t { Interval, Iteration, TaskRun, TaskCreation };
    Kind kind = Kind::Interval;
    std::uint32_t at = 0;       // position in KeptEvents::intervals, inners, runs or tasks
    std::uint64_t begin_ns = 0; // since the clock of its rank began
    std::uint64_t end_ns = 0;
    std::uint64_t own_ns = 0; // its length, however it is cut
};

class ChosenEvents {
  public:
    /// All must outlive this.
    ChosenEvents(const Profile& profile, const TableChoice& choice);

    bool is_chosen(const EventPart& part) const;
    /// The first chosen part; nullptr if there is none.
    const EventPart* first_part(const KeptEvents& events) const;
    /// A filter takes what a thread does outside of calls.
    bool is_outside_chosen(const Location& location) const { return passing_.outside(position(location)); }
    /// How many slices a part has.
    std::uint64_t count(const Location& location, const EventPart& part) const;
    /// What the filter left out of the chosen parts: a sentence, or nothing.
    std::vector<std::string> remarks() const;
    /// What a part has: what lies inside another one comes after it.
    std::vector<EventSlice> slices(const Location& location, const EventPart& part) const;
    /// Calls enter(slice) and leave(slice) for what a part has, as it is nested; begins and ends are cut so that they lie within the part.
    template <class Enter, class Leave> void visit(const Location& location, const EventPart& part, Enter enter, Leave leave) const {
        std::vector<EventSlice> open;
        const auto close = [&] {
            leave(open.back());
            open.pop_back();
        };
        for (EventSlice slice : slices(location, part)) {
            while (!open.empty() && open.back().end_ns <= slice.begin_ns) close();
            slice.end_ns = std::min(slice.end_ns, open.empty() ? part.end_ns : open.back().end_ns);
            slice.begin_ns = std::min(std::max(slice.begin_ns, part.begin_ns), slice.end_ns);
            enter(slice);
            open.push_back(slice);
        }
        while (!open.empty()) close();
    }
    /// Of a position in KeptEvents::tasks.
    bool is_task_chosen(const Location& location, std::uint32_t at) const;
    /// Whether what a counter was read for passes.
    bool is_count_chosen(const Location& location, const TracedCount& count) const;
    /// The messages of a slice: a part of KeptEvents::messages.
    static std::span<const TracedMessage> messages(const KeptEvents& events, const EventSlice& slice);
    /// The other end of a chosen message, if that is known and chosen, too.
    MessagePairs::End other_end(std::size_t location, std::size_t message) const;

  private:
    std::size_t position(const Location& location) const { return static_cast<std::size_t>(&location - profile_.locations.data()); }
    template <class Visit> void visit_passing(const Location& location, const EventPart& part, Visit visit) const;

    const Profile& profile_;
    const TableChoice& choice_;
    PassingEvents passing_;
    MessagePairs pairs_;
    std::vector<std::vector<bool>> is_message_chosen_; // by location and message
};

/// It is one of the main thread's iterations, and its phase is there.
bool is_iteration(const EventPart& part);

} // namespace libprofile::tools
