#include "libprofile/output/polled_messages.hpp"

#include "libprofile/session/clock.hpp"

#include <ctime>
#include <sched.h>

namespace libprofile {

bool poll(const MpiServices& mpi, std::uint64_t until) noexcept {
    for (std::uint64_t polls = 0;; ++polls) {
        int done = 0;
        if (mpi.test(&done) != 0) return false;
        if (done != 0) return true;
        if (Clock::monotonic() > until) return false;
        // Waiting ranks must not take the processor from those that still compute.
        if (polls < 1000) {
            sched_yield();
        } else {
            const timespec pause{0, polls < 10000 ? 100000 : 1000000};
            nanosleep(&pause, nullptr);
        }
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
