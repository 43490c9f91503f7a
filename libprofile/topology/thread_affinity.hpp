// The processors on which one thread was seen, and those that it may use.
// Contract: belongs to its thread. look() is async-signal-safe and costs a few ns (the kernel keeps the number where the thread can read it).
#pragma once

#include "libprofile/base/memory.hpp"
#include "libprofile/base/processor_number.hpp"

#include <cstdint>
#include <sys/types.h>

namespace libprofile {

class ThreadAffinity {
  public:
    /// Called at ends of iterations and at samples.
    void look() noexcept {
        const int now = processor_number();
        if (now < 0) return;
        if (looks_++ != 0 && now != last_) ++moves_;
        last_ = now;
    }
    std::int32_t last() const { return last_; } // -1 if look() was never called
    std::uint64_t looks() const { return looks_; }
    std::uint64_t moves() const { return moves_; }

    /// Stores the processors that the kernel permits now, for use after the thread's end.
    void remember_allowed(pid_t thread, Arena& arena) noexcept;
    /// Calls visit(processor) in the order of their numbers.
    template <class Visit> void for_each_allowed(Visit visit) const {
        for (std::uint32_t word = 0; word < words_; ++word)
            for (std::uint64_t left = allowed_[word]; left != 0; left &= left - 1) visit(word * 64 + static_cast<std::uint32_t>(__builtin_ctzll(left)));
    }

  private:
    std::int32_t last_ = -1;
    std::uint64_t looks_ = 0;
    std::uint64_t moves_ = 0;
    std::uint64_t* allowed_ = nullptr;
    std::uint32_t words_ = 0;
};

} // namespace libprofile
