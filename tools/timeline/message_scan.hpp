// How many messages and bytes go from rank to rank in a selected part of the timeline, of events that were left in their files: all of them are counted,
// which takes its time, so it goes on step by step.
// Contract: one thread, which starts others; keeps references; memory in proportion to the pairs of ranks; throws ReadError where files are damaged, and
// std::bad_alloc.
//
// A message counts where its sender is, when its call begins; one that has no sender counts where it is received, when its call ends. Which ones these are is
// known only if all_have_senders() (message_senders.hpp). viewer/src/events/shares.ts says the same of the page.
#pragma once

#include "tools/timeline/message_senders.hpp"
#include "tools/timeline/passing_calls.hpp"
#include "tools/timeline/selected_times.hpp"
#include "tools/timeline/timeline_index.hpp"

#include <chrono>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace libprofile::tools {

class MessageScan {
  public:
    struct Sum {
        std::uint64_t messages = 0, bytes = 0;
    };
    /// By sender and receiver; TracedMessage::unknown_rank is one that is not known.
    using Sums = std::map<std::pair<std::uint32_t, std::uint32_t>, Sum>;

    /// @param passing only messages of calls that pass are counted; null: all
    MessageScan(const Profile& profile, const IndexedRows& rows, SelectedTimes times, const PassingCalls* passing = nullptr);

    /// Counts on: about so long, one step at least.
    void go_on(std::chrono::milliseconds time);
    bool is_done() const { return next_unit_ == units_.size(); }
    double share() const { return units_.empty() ? 1 : static_cast<double>(next_unit_) / static_cast<double>(units_.size()); }
    const Sums& sums() const { return sums_; }

  private:
    struct Unit {
        std::uint32_t location = 0, group = 0;
    };
    Sums sums_of(const Unit& unit) const;

    const Profile& profile_;
    const IndexedRows& rows_;
    const MessageSenders senders_;
    const SelectedTimes times_;
    const PassingCalls* passing_;
    std::vector<Unit> units_;
    std::size_t next_unit_ = 0;
    Sums sums_;
};

} // namespace libprofile::tools
