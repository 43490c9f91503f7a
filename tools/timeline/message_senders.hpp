// Where messages count of which both ends were recorded: where they are sent. Of events that were left in their files.
// Contract: constant after construction and then thread-safe; memory in proportion to the ranks; throws std::bad_alloc only.
#pragma once

#include "tools/timeline/timeline_index.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace libprofile::tools {

class MessageSenders {
  public:
    MessageSenders(const Profile& profile, const IndexedRows& rows);

    /// A message that is received counts where it is sent; true only if all_have_senders().
    bool have(const TracedMessage& message) const { return message.partner != TracedMessage::unknown_rank && have_rank(message.partner); }
    bool have_rank(std::uint32_t rank) const { return std::binary_search(ranks_.begin(), ranks_.end(), rank); }

  private:
    std::vector<std::uint32_t> ranks_; // that have events, ascending
};

/// All received messages whose sender has events are its.
bool all_have_senders(const Profile& profile, const IndexedRows& rows);

} // namespace libprofile::tools
