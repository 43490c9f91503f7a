// Both ends of the messages whose events were kept (LIBPROFILE_TRACE=events).
// Contract: constant after construction and then thread-safe; allocates in proportion to the messages; throws std::bad_alloc only.
//
// MPI's order (MPI 4.0, 3.5, "Nonovertaking"): messages from one process to another on a communicator with the same tag are received in the order in which
// they were sent. Each end has its number in that order, so what was dropped in between does not matter. Receives are numbered as they complete: if a
// program completes them in another order than it posted them, two messages of the same kind may change places. Communicators of the same ranks count as
// one, and so do all between groups. Where the bytes at both ends of any pair of a kind differ, none of that kind is a pair.
#pragma once

#include "tools/reader/model.hpp"

#include <cstdint>
#include <vector>

namespace libprofile::tools {

class MessagePairs {
  public:
    static constexpr std::uint32_t nowhere = UINT32_MAX;
    struct End {
        std::uint32_t location = nowhere; // position in Profile::locations
        std::uint32_t message = nowhere;  // position in its KeptEvents::messages
        bool is_known() const { return location != nowhere; }
    };

    explicit MessagePairs(const Profile& profile);

    /// Where a message came from or went to; not known if that end was not kept, or has no number.
    End other_end(std::size_t location, std::size_t message) const { return ends_[location][message]; }
    /// Of a message that is received and whose sender's end is not known: that may be one of those whose receiver's end is not known.
    bool may_have_sender(std::size_t location, std::size_t message) const { return may_have_sender_[location][message]; }
    std::uint64_t pairs() const { return pairs_; }
    /// The thread that an end belongs to.
    std::uint32_t thread(const End& end) const { return threads_[end.location]; }

  private:
    std::vector<std::vector<End>> ends_;
    std::vector<std::vector<bool>> may_have_sender_;
    std::vector<std::uint32_t> threads_; // of the locations
    std::uint64_t pairs_ = 0;
};

} // namespace libprofile::tools
