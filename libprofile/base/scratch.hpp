// An array for the duration of one piece of work: pages under the quota that are returned afterwards.
// Contract: belongs to one thread; async-signal-safe (mmap and munmap are plain system calls); allocates nothing else. Each array has
// pages of its own, so do not use it for small or frequent data. `T` must be valid when zero-filled and trivially destructible.
#pragma once

#include "libprofile/base/memory.hpp"

#include <type_traits>

namespace libprofile {

template <class T> class Scratch {
    static_assert(std::is_trivially_destructible_v<T>);

  public:
    Scratch() noexcept = default;
    explicit Scratch(std::size_t count) noexcept { make(count); }
    ~Scratch() noexcept { release(); }
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;

    /// Replaces the contents by `count` zero-filled elements. Returns false, and is empty, if the quota or the kernel refuses.
    bool make(std::size_t count) noexcept {
        release();
        bytes_ = count * sizeof(T);
        all_ = static_cast<T*>(memory_quota.map(bytes_));
        return all_ != nullptr;
    }
    void release() noexcept {
        if (all_ != nullptr) memory_quota.unmap(all_, bytes_);
        all_ = nullptr;
    }

    bool is_there() const { return all_ != nullptr; }
    T& operator[](std::size_t i) noexcept { return all_[i]; }
    const T& operator[](std::size_t i) const noexcept { return all_[i]; }

  private:
    T* all_ = nullptr;
    std::size_t bytes_ = 0;
};

} // namespace libprofile
