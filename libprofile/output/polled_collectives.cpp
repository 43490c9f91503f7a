#include "libprofile/output/polled_collectives.hpp"

#include "libprofile/output/polled_messages.hpp"
#include "libprofile/output/transport_warnings.hpp"
#include "libprofile/session/clock.hpp"

#include <cstring>

namespace libprofile {

PolledCollectives::PolledCollectives(const MpiServices& mpi, std::uint64_t timeout_s) noexcept
    : mpi_(&mpi), timeout_ns_(timeout_s * 1000000000u), patience_ns_(timeout_ns_) {
    failed_ = mpi_->errors_return() != 0;
}

PolledCollectives::~PolledCollectives() { mpi_->errors_restore(); }

bool PolledCollectives::complete(int started) noexcept {
    if (failed_ || started != 0) return failed_ = true, false;
    failed_ = !poll(*mpi_, Clock::monotonic() + patience_ns_);
    return !failed_;
}

bool PolledCollectives::everyone_is_here() noexcept {
    if (failed_) return false;
    if (!complete(mpi_->start_barrier())) {
        // Those who come later would find the barrier complete and wait for us in the agreement: tell them there.
        silence_transport_warnings();
        static std::uint64_t gone[2] = {0, 0}; // in use until the end of MPI
        mpi_->start_min(&gone[0], &gone[1], 1);
        return false;
    }
    // All are inside, and nobody leaves but by these calls, so none gives another one up: a rank that was held up in between would
    // complete an operation that others have left, and wait for them in the next. Each at least comes to the agreement.
    constexpr std::uint64_t least_ns = 30000000000u;
    if (timeout_ns_ < least_ns) timeout_ns_ = least_ns;
    patience_ns_ = timeout_ns_ > one_hour_ns ? timeout_ns_ : one_hour_ns;
    std::uint64_t here = 1;
    if (!min(&here, 1) || here != 1) failed_ = true;
    return !failed_;
}

namespace {

// An operation that was given up may still read and write its buffers until the end of MPI: so they are not on the stack, and not
// used again after it, since all later operations fail at once.
std::uint64_t in[PolledCollectives::most];
std::uint64_t out[PolledCollectives::most];
char text[PolledCollectives::most_bytes];

} // namespace

template <class Start> bool PolledCollectives::run(std::uint64_t* values, int count, Start start) noexcept {
    if (failed_) return false;
    const auto size = static_cast<std::size_t>(count) * sizeof *values;
    std::memcpy(in, values, size);
    if (!complete(start())) return false;
    std::memcpy(values, out, size);
    return true;
}

bool PolledCollectives::min(std::uint64_t* values, int count) noexcept {
    return run(values, count, [&] { return mpi_->start_min(in, out, count); });
}

bool PolledCollectives::sum(std::uint64_t* values, int count) noexcept {
    return run(values, count, [&] { return mpi_->start_sum(in, out, count); });
}

bool PolledCollectives::broadcast(void* bytes, int count) noexcept {
    if (failed_ || count > static_cast<int>(most_bytes)) return failed_ = true, false;
    std::memcpy(text, bytes, static_cast<std::size_t>(count));
    if (!complete(mpi_->start_broadcast(text, count))) return false;
    std::memcpy(bytes, text, static_cast<std::size_t>(count));
    return true;
}

bool PolledCollectives::sum_before(std::uint64_t value, std::uint64_t& result) noexcept {
    std::uint64_t up_to_here = value;
    if (!run(&up_to_here, 1, [&] { return mpi_->start_prefix_sum(in, out, 1); })) return false;
    result = up_to_here - value;
    return true;
}

} // namespace libprofile
