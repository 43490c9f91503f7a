// What a thread knows of the tasks of OpenMP while it keeps a trace of events: which one it executes, its open taskgroups, and numbers for new ones.
// Contract: part of EventTrace, and used as that is; async-signal-safe, never allocates. A number costs one shared atomic operation in 1024.
#pragma once

#include "libprofile/base/own_cost.hpp"

#include <atomic>
#include <cstdint>

namespace libprofile {

class TaskState {
  public:
    /// A number that no other task of the process has, from 1 on.
    std::uint64_t next_number() noexcept {
        if (left_ == 0) [[unlikely]] {
            last_ = taken.fetch_add(block, std::memory_order_relaxed);
            left_ = block;
        }
        --left_;
        return ++last_;
    }

    /// The task that the thread executes; 0: an implicit one.
    std::uint64_t current() const { return current_; }
    /// The thread goes on with another one. Returns the one that it has left.
    std::uint64_t enter(std::uint64_t task) noexcept {
        const std::uint64_t before = current_;
        current_ = task;
        return before;
    }

    /// A taskgroup of `task` begins. `frame`: of its wrapper, if the thread's groups are told by frames; 0 otherwise. Groups of frames that are gone are.
    void begin_group(std::uint64_t task, std::uintptr_t frame, std::uint64_t now) noexcept {
        while (groups_ != 0 && open_[groups_ - 1].frame < frame) --groups_;
        if (groups_ == most_groups) { // the outermost one is given up
            for (std::uint32_t i = 1; i < most_groups; ++i) open_[i - 1] = open_[i];
            --groups_;
        }
        open_[groups_++] = {task, frame, now};
    }
    /// The innermost one of `task` is over. Returns when it began, `no_group` if that is not known.
    static constexpr std::uint64_t no_group = ~std::uint64_t{0};
    std::uint64_t end_group(std::uint64_t task) noexcept {
        std::uint32_t at = groups_;
        while (at != 0 && open_[at - 1].task != task) --at;
        if (at == 0) return no_group;
        groups_ = at - 1;
        return open_[groups_].begin;
    }

    /// Another thread, with nothing begun. Numbers go on.
    void begin_again() noexcept { current_ = groups_ = 0; }

    OwnCost creation, begin, end; // of what is done for a task

  private:
    static constexpr std::uint64_t block = 1024;
    static std::atomic<std::uint64_t> taken; // numbers, by all threads
    static constexpr std::uint32_t most_groups = 32;
    struct Group {
        std::uint64_t task = 0;
        std::uintptr_t frame = 0;
        std::uint64_t begin = 0;
    };

    std::uint64_t current_ = 0;
    std::uint64_t last_ = 0;
    std::uint64_t left_ = 0;
    std::uint32_t groups_ = 0;
    Group open_[most_groups];
};

} // namespace libprofile
