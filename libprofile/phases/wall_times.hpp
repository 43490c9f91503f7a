// The wall times of a phase's iterations, in order: two or three bytes each, since neighbours resemble each other.
// Contract: belongs to one thread; memory from its pool; nothing throws. Read from the first to the last.
#pragma once

#include "libprofile/clustering/byte_chain.hpp"

#include <cstdint>

namespace libprofile {

class WallTimes {
  public:
    std::uint64_t size() const { return size_; }
    /// `wall`: ns. Returns false, and adds nothing, when memory is short.
    bool append(std::uint64_t wall, Pool& pool) noexcept {
        if (chain_.failed()) return false;
        const std::uint64_t difference = wall - last_;
        const std::uint64_t sign = 0 - (difference >> 63);
        chain_.put_number(difference << 1 ^ sign, pool); // small whether it is more or less
        if (chain_.failed()) return false;               // what is there of it stays unread
        last_ = wall;
        ++size_;
        return true;
    }
    /// Calls visit(ns) for the first `count`, at most size().
    template <class Visit> void for_each(std::uint64_t count, Visit visit) const {
        std::uint64_t wall = 0;
        std::uint64_t coded = 0;
        unsigned shift = 0;
        chain_.for_each_piece([&](const unsigned char* bytes, std::size_t size) {
            for (std::size_t i = 0; i < size && count != 0; ++i) {
                coded |= static_cast<std::uint64_t>(bytes[i] & 0x7f) << shift;
                shift += 7;
                if ((bytes[i] & 0x80) != 0) continue;
                wall += coded >> 1 ^ (0 - (coded & 1));
                coded = shift = 0;
                --count;
                visit(wall);
            }
        });
    }

  private:
    ByteChain chain_;
    std::uint64_t last_ = 0;
    std::uint64_t size_ = 0;
};

} // namespace libprofile
