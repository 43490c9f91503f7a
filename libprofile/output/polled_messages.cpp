#include "libprofile/output/polled_messages.hpp"

#include "libprofile/base/clock.hpp"

#include <algorithm>
#include <ctime>
#include <sched.h>

namespace libprofile {

namespace {

/// Waiting ranks must not take the processor from those that still compute: where there are many of them, also looking often is too much. So
/// they sleep an eighth of what they have waited, which prolongs waiting by that at most.
void let_others_run(std::uint64_t polls, std::uint64_t waited_ns) {
    constexpr std::uint64_t polls_without_sleep = 20, shortest_ns = 50000, longest_ns = 5000000;
    if (polls < polls_without_sleep) {
        sched_yield();
        return;
    }
    const std::uint64_t sleep_ns = std::clamp(waited_ns / 8, shortest_ns, longest_ns);
    const timespec pause{0, static_cast<long>(sleep_ns)};
    nanosleep(&pause, nullptr);
}

} // namespace

bool poll(const MpiServices& mpi, std::uint64_t until) noexcept {
    const std::uint64_t begin = Clock::monotonic();
    for (std::uint64_t polls = 0;; ++polls) {
        int done = 0;
        if (mpi.test(&done) != 0) return false;
        if (done != 0) return true;
        const std::uint64_t now = Clock::monotonic();
        if (now > until) return false;
        let_others_run(polls, now - begin);
    }
}

PolledMessages::PolledMessages(const MpiServices& mpi) noexcept : mpi_(&mpi), open_(mpi.open_private() == 0) {}

PolledMessages::~PolledMessages() {
    // With a message under way the communicator is MPI's until its end.
    if (open_ && !left_some_) mpi_->close_private();
}

bool PolledMessages::complete(int started, std::uint64_t until) noexcept {
    if (started != 0) return false;
    if (poll(*mpi_, until)) return true;
    left_some_ = true;
    return false;
}

bool PolledMessages::send(const void* bytes, std::size_t size, std::uint64_t to, int tag, std::uint64_t until) noexcept {
    if (!open_ || size > 0x7fffffffu) return false;
    return complete(mpi_->start_send(bytes, static_cast<int>(size), static_cast<int>(to), tag), until);
}

bool PolledMessages::receive(void* bytes, std::size_t size, std::uint64_t from, int tag, std::uint64_t until) noexcept {
    if (!open_ || size > 0x7fffffffu) return false;
    return complete(mpi_->start_receive(bytes, static_cast<int>(size), static_cast<int>(from), tag), until);
}

} // namespace libprofile
