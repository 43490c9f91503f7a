#include "libprofile/output/polled_collectives.hpp"

#include "libprofile/base/clock.hpp"
#include "libprofile/output/transport_warnings.hpp"

#include <algorithm>
#include <cstring>
#include <ctime>
#include <sched.h>

namespace libprofile {

namespace {

/// Waiting ranks must not take the processor from those that still compute. If there are many of them, frequent polling costs too much, too. So
/// they sleep an eighth of the time that they have waited, which prolongs the wait by at most that.
void let_others_run(std::uint64_t polls, std::uint64_t waited_ns, Polling polling) {
    constexpr std::uint64_t polls_without_sleep = 20, shortest_ns = 50000, longest_ns = 5000000, prompt_ns = 2000000;
    if (polls < polls_without_sleep || (polling == Polling::Prompt && waited_ns < prompt_ns)) {
        sched_yield();
        return;
    }
    const std::uint64_t sleep_ns = std::clamp(waited_ns / 8, shortest_ns, longest_ns);
    const timespec pause{0, static_cast<long>(sleep_ns)};
    nanosleep(&pause, nullptr);
}

/// Polls MPI until its current operation is complete. Returns false after an error, or after a wait of `patience_ns`. Between two polls at most
/// one second counts: ranks that are suspended together, or get no processor for a while, have not waited for each other meanwhile.
bool poll(const MpiServices& mpi, std::uint64_t patience_ns, Polling polling) noexcept {
    constexpr std::uint64_t most_between_ns = 1000000000;
    std::uint64_t waited_ns = 0, last = Clock::monotonic();
    for (std::uint64_t polls = 0;; ++polls) {
        int done = 0;
        if (mpi.test(&done) != 0) return false;
        if (done != 0) return true;
        const std::uint64_t now = Clock::monotonic();
        waited_ns += std::min(now - last, most_between_ns);
        last = now;
        if (waited_ns > patience_ns) return false;
        let_others_run(polls, waited_ns, polling);
    }
}

} // namespace

PolledCollectives::PolledCollectives(const MpiServices& mpi, std::uint64_t timeout_s) noexcept : mpi_(&mpi), patience_ns_(timeout_s * 1000000000u) {
    failed_ = mpi_->errors_return() != 0;
}

PolledCollectives::~PolledCollectives() { mpi_->errors_restore(); }

bool PolledCollectives::complete(int started, std::uint64_t patience_ns, Polling polling) noexcept {
    failed_ = failed_ || started != 0 || !poll(*mpi_, patience_ns, polling);
    if (failed_) silence_transport_warnings();
    return !failed_;
}

bool PolledCollectives::everyone_is_here(std::uint64_t (&values)[2]) noexcept {
    if (failed_) return false;
    if (!complete(mpi_->start_barrier(), patience_ns_)) {
        // Later ranks would find the barrier complete and wait for us in the agreement. This tells them.
        static std::uint64_t gone[3], unread[3]; // used until the end of MPI
        mpi_->start_min(gone, unread, 3);
        return false;
    }
    // All ranks are here, and leave only through these calls. A delayed rank may complete an operation that others have left, and wait for them in
    // the next one. So no rank gives up soon.
    constexpr std::uint64_t least_ns = 60000000000u;
    patience_ns_ = std::max(2 * patience_ns_, least_ns);
    std::uint64_t here[3] = {1, values[0], values[1]};
    if (!min(here, 3) || here[0] != 1) return failed_ = true, false;
    values[0] = here[1];
    values[1] = here[2];
    return true;
}

namespace {

// An operation that was given up may still read and write its buffers until the end of MPI. So they are not on the stack, and they are not used
// again, since all later operations fail at once.
std::uint64_t in[PolledCollectives::most];
std::uint64_t out[PolledCollectives::most];
char text_buffer[PolledCollectives::most_text];

} // namespace

template <class Start> bool PolledCollectives::run(std::uint64_t* values, int count, std::uint64_t patience_ns, Start start) noexcept {
    if (failed_) return false;
    const auto size = static_cast<std::size_t>(count) * sizeof *values;
    std::memcpy(in, values, size);
    constexpr int per_message = message_bytes / static_cast<int>(sizeof *values);
    for (int at = 0; at < count; at += per_message)
        if (!complete(start(at, count - at < per_message ? count - at : per_message), patience_ns)) return false;
    std::memcpy(values, out, size);
    return true;
}

bool PolledCollectives::min(std::uint64_t* values, int count) noexcept {
    return run(values, count, patience_ns_, [&](int at, int n) { return mpi_->start_min(in + at, out + at, n); });
}

bool PolledCollectives::sum(std::uint64_t* values, int count, bool after_writing) noexcept {
    const std::uint64_t patience_ns = after_writing ? std::max(patience_ns_, one_hour_ns) : patience_ns_;
    return run(values, count, patience_ns, [&](int at, int n) { return mpi_->start_sum(in + at, out + at, n); });
}

bool PolledCollectives::broadcast(char* text, std::size_t capacity) noexcept {
    if (failed_ || capacity > most_text) return failed_ = true, false;
    std::memcpy(text_buffer, text, capacity);
    for (std::size_t at = 0; at < capacity; at += message_bytes) {
        const std::size_t size = capacity - at < message_bytes ? capacity - at : message_bytes;
        if (!complete(mpi_->start_broadcast(text_buffer + at, static_cast<int>(size)), patience_ns_)) return false;
        std::memcpy(text + at, text_buffer + at, size);
        if (std::memchr(text + at, 0, size) != nullptr) break; // equal in all ranks
    }
    return true;
}

bool PolledCollectives::exchange(const void* out, const int* out_sizes, void* in, const int* in_sizes, const int* offsets, Polling polling) noexcept {
    // A rank without a partner reaches its last step while others are still in the first ones.
    return !failed_ && complete(mpi_->start_exchange(out, out_sizes, in, in_sizes, offsets), 3 * patience_ns_, polling);
}

bool PolledCollectives::sum_before(std::uint64_t value, std::uint64_t& result) noexcept {
    std::uint64_t up_to_here = value;
    if (!run(&up_to_here, 1, patience_ns_, [&](int at, int n) { return mpi_->start_prefix_sum(in + at, out + at, n); })) return false;
    result = up_to_here - value;
    return true;
}

} // namespace libprofile
