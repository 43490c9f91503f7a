// When the iterations of a phase began: two bytes each, next to their wall times.
// Contract: belongs to one thread; memory from its pool; nothing throws. When memory runs out, later begins are not known.
#pragma once

#include "format/begins.hpp"
#include "libprofile/clustering/byte_chain.hpp"

#include <cstdint>

namespace libprofile {

class BeginTimes {
  public:
    /// How many are known, from the first iteration on.
    std::uint64_t size() const { return size_; }
    /// When the first one began.
    std::uint64_t first() const { return first_; }
    /// The next iteration lasted from `begin` for `wall` ns.
    void append(std::uint64_t begin, std::uint64_t wall, Pool& pool) noexcept {
        if (chain_.failed()) return;
        if (size_ == 0) first_ = end_ = begin;
        const std::uint16_t code = GapCode::encode(begin > end_ ? begin - end_ : 0);
        chain_.put(static_cast<unsigned char>(code), pool);
        chain_.put(static_cast<unsigned char>(code >> 8), pool);
        if (chain_.failed()) return; // what is there of it stays unread
        end_ += GapCode::decode(code) + wall;
        ++size_;
    }
    /// Calls visit(bytes, size) for pieces with the gaps before all of them; maybe more bytes follow.
    template <class Visit> void for_each_piece(Visit visit) const { chain_.for_each_piece(visit); }

  private:
    ByteChain chain_;
    std::uint64_t first_ = 0;
    std::uint64_t end_ = 0; // of the last iteration, as a reader knows it
    std::uint64_t size_ = 0;
};

} // namespace libprofile
