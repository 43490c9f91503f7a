// The memory that a thread may use for what it keeps of the order of events (LIBPROFILE_ORDER_MEMORY), part of the process's quota.
// Contract: belongs to one thread; plain numbers. Buffers of running iterations are not counted: there is one at each level of nesting.
//
// Timelines get no more when three quarters are used, hashes when seven eighths are, numbers of iterations when all is.
#pragma once

#include <cstddef>
#include <cstdint>

namespace libprofile {

class OrderMemory {
  public:
    explicit OrderMemory(std::uint64_t limit) : limit_(limit) {}
    bool takes_timeline(std::size_t bytes) noexcept { return takes(bytes, limit_ - limit_ / 4); }
    bool takes_hash(std::size_t bytes) noexcept { return takes(bytes, limit_ - limit_ / 8); }
    bool takes_numbers(std::size_t bytes) noexcept { return takes(bytes, limit_); }
    std::uint64_t used() const { return used_; }

  private:
    bool takes(std::size_t bytes, std::uint64_t most) noexcept {
        if (used_ + bytes > most) return false;
        used_ += bytes;
        return true;
    }
    std::uint64_t limit_;
    std::uint64_t used_ = 0;
};

} // namespace libprofile
