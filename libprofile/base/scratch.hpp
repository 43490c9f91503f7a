// An array for the length of a piece of work: pages under the quota that are given back when it is done.
//
// Contract: belongs to one thread; async-signal-safe (mmap and munmap are plain system calls), allocates nothing else; each array has pages of its
// own, so not for what is small or often needed. `T` must be fine when zero-filled, and have nothing to destroy.
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

    /// `count` zero-filled elements in the place of what it had. False: quota or kernel refused; then it has none.
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
