#include "libprofile/thread/counting.hpp"

#include <unistd.h>

namespace libprofile {

namespace {

/// Asking for the thread's number is a system call. A thread that is ending no longer has its location.
bool is_own(const Thread& thread) noexcept { return &thread == thread_local_block.thread || gettid() == thread.counters.id(); }

bool read(Thread& thread, std::uint64_t* increments) noexcept { return thread.counters.read(increments, is_own(thread)); }

void add(Row& row, const std::uint64_t* increments) noexcept {
    for (std::size_t i = 0; i < most_counters; ++i)
        if (increments[i] != 0) row.counter(i) += increments[i];
}

} // namespace

void count_for_phase(Thread& thread) noexcept {
    if (thread.phases.time().is_paused()) return count_apart(thread, thread.phases.row(thread.tree.not_recorded()));
    std::uint64_t increments[most_counters];
    if (!read(thread, increments)) return;
    for (std::size_t i = 0; i < most_counters; ++i) thread.phases.top().outside.counted[i] += increments[i];
}

void count_for(Thread& thread, Row& row) noexcept {
    std::uint64_t increments[most_counters];
    if (read(thread, increments)) add(row, increments);
}

void count_apart(Thread& thread, Row& row) noexcept {
    std::uint64_t increments[most_counters];
    if (thread.counters.read_apart(increments, is_own(thread))) add(row, increments);
}

} // namespace libprofile
