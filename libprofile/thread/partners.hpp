// Who one thread sent messages to and received them from: per call path and direction, over the whole run.
// Contract: belongs to one thread, used with that thread's in-tool flag set or after its end; memory from the thread's arena; what finds none is
// counted. Not for signal handlers. A message costs a few ns.
//
// A path keeps its first partners; all later ones share a row.
#pragma once

#include "format/partners.hpp"
#include "libprofile/base/memory.hpp"
#include "libprofile/callpath/call_tree.hpp"

#include <cstddef>
#include <cstdint>

namespace libprofile {

class Partners {
  public:
    static constexpr std::uint32_t unknown = UINT32_MAX; // instead of a rank

    struct Sum {
        std::uint64_t messages = 0;
        std::uint64_t bytes = 0;
    };
    /// One line of the cache has all that a message of the first partner needs.
    struct alignas(64) Row {
        std::uint32_t ranks[most_partners] = {}; // of MPI_COMM_WORLD
        std::uint32_t size = 0;
        std::uint32_t last = 0; // the one of these that had the last message
        Sum sums[most_partners + 2] = {};
    };
    static constexpr std::uint32_t others_at = most_partners, unknown_at = most_partners + 1;

    /// @param partner its rank in MPI_COMM_WORLD, or `unknown`
    void count(NodeId node, MessageDirection direction, std::uint32_t partner, std::uint64_t bytes, Arena& arena) noexcept {
        const std::size_t at = std::size_t{node} * message_directions + static_cast<std::size_t>(direction);
        Row* row = at < index_size_ ? index_[at] : nullptr;
        if (row == nullptr && (row = new_row(at, arena)) == nullptr) [[unlikely]] {
            ++lost_;
            return;
        }
        std::uint32_t slot = row->last;
        if (row->ranks[slot] != partner) slot = find(*row, partner);
        Sum& sum = row->sums[slot];
        ++sum.messages;
        sum.bytes += bytes;
    }

    std::uint64_t lost() const { return lost_; }
    std::uint64_t rows() const { return rows_; }
    bool is_empty() const { return rows_ == 0 && lost_ == 0; }
    /// Calls visit(node, direction, row) in the order of the nodes.
    template <class Visit> void for_each(Visit&& visit) const {
        for (std::size_t at = 0; at < index_size_; ++at)
            if (index_[at] != nullptr) visit(static_cast<NodeId>(at / message_directions), static_cast<MessageDirection>(at % message_directions), *index_[at]);
    }

  private:
    static std::uint32_t find(Row& row, std::uint32_t partner) noexcept;
    Row* new_row(std::size_t at, Arena& arena) noexcept;

    Row** index_ = nullptr; // by node and direction
    std::size_t index_size_ = 0;
    std::uint64_t rows_ = 0;
    std::uint64_t lost_ = 0;
};

} // namespace libprofile
