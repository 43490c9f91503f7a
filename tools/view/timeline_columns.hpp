// The events of chosen parts as columns for the page, one row after the other.
// Contract: one thread; allocates in proportion to the events; throws std::bad_alloc only.
#pragma once

#include "tools/timeline/message_pairs.hpp"
#include "tools/view/named_columns.hpp"
#include "tools/view/page_tables.hpp"
#include "tools/view/ran_on_column.hpp"
#include "tools/view/timeline_parts.hpp"
#include "tools/view/timeline_stretches.hpp"

#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <vector>

namespace libprofile::tools {

class TimelineColumns {
  public:
    TimelineColumns(const Profile& profile, const PageTables& tables, const MessagePairs& pairs, const ChosenParts& parts,
                    const std::vector<std::vector<SummedStretch>>& stretches, NamedColumns& columns);

    struct Counts {
        std::size_t parts = 0, intervals = 0, messages = 0, inners = 0, stretches = 0;
    };
    /// By location.
    const std::vector<Counts>& counts() const { return counts_; }
    /// Of an interval in its row of the page; nothing if it was left out.
    std::optional<std::uint32_t> place(std::size_t location, std::size_t interval) const {
        const std::uint32_t at = position_[location][interval];
        return at == nowhere ? std::nullopt : std::optional(at);
    }

  private:
    NumberColumn& column(const char* list, const char* name) { return columns_.column(list, name); }
    void add_parts(const Location& location, const std::vector<bool>& is_in);
    void add_intervals(std::size_t l, const std::vector<bool>& is_in);
    void add_messages(std::size_t l);
    void add_inners(const Location& location, const std::vector<bool>& is_in);
    void add_stretches(const std::vector<SummedStretch>& stretches);

    const Profile& profile_;
    const PageTables& tables_;
    const MessagePairs& pairs_;
    static constexpr std::uint32_t nowhere = UINT32_MAX;
    std::vector<std::vector<std::uint32_t>> position_;   // of intervals in the page, by location; nowhere if left out
    std::vector<std::vector<bool>> has_message_;         // by location
    std::map<std::uint32_t, std::size_t> communicators_; // numbers from 0 on
    std::vector<Counts> counts_;
    NamedColumns& columns_;
    RanOnColumn ran_on_;
};

} // namespace libprofile::tools
