// Markers that did not nest and were repaired: how many, and what the first was, for the message at the end.
// Contract: plain data of one thread's phase stack; async-signal-safe where snprintf() of "%s" is (glibc).
#pragma once

#include <cstdint>
#include <cstdio>

namespace libprofile {

class NestingRepairs {
  public:
    void note(const char* what, const char* name) noexcept {
        if (count_++ == 0) std::snprintf(first_, sizeof first_, "%s \"%.64s\"", what, name);
    }
    std::uint64_t count() const { return count_; }
    /// Empty if there is none.
    const char* first() const { return first_; }

  private:
    std::uint64_t count_ = 0;
    char first_[160] = {};
};

} // namespace libprofile
