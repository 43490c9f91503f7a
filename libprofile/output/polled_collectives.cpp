#include "libprofile/output/polled_collectives.hpp"

#include "libprofile/output/polled_messages.hpp"
#include "libprofile/output/transport_warnings.hpp"
#include "libprofile/session/clock.hpp"

#include <cstring>

namespace libprofile {

PolledCollectives::PolledCollectives(const MpiServices& mpi, std::uint64_t timeout_s) noexcept
    : mpi_(&mpi), timeout_ns_(timeout_s * 1000000000u) {
    failed_ = mpi_->errors_return() != 0;
}

PolledCollectives::~PolledCollectives() { mpi_->errors_restore(); }

bool PolledCollectives::complete(int started) noexcept {
    if (failed_ || started != 0) return failed_ = true, false;
    failed_ = !poll(*mpi_, Clock::monotonic() + timeout_ns_);
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
    constexpr std::uint64_t least_ns = 30000000000u; // from here on nobody is waited for, only messages
    if (timeout_ns_ < least_ns) timeout_ns_ = least_ns;
    std::uint64_t here = 1;
    if (!min(&here, 1) || here != 1) failed_ = true;
    return !failed_;
}

bool PolledCollectives::min(std::uint64_t* values, int count) noexcept {
    std::uint64_t in[most];
    std::memcpy(in, values, static_cast<std::size_t>(count) * sizeof *values);
    return complete(failed_ ? 1 : mpi_->start_min(in, values, count));
}

bool PolledCollectives::sum(std::uint64_t* values, int count) noexcept {
    std::uint64_t in[most];
    std::memcpy(in, values, static_cast<std::size_t>(count) * sizeof *values);
    return complete(failed_ ? 1 : mpi_->start_sum(in, values, count));
}

bool PolledCollectives::broadcast(void* bytes, int count) noexcept {
    return complete(failed_ ? 1 : mpi_->start_broadcast(bytes, count));
}

bool PolledCollectives::sum_before(std::uint64_t value, std::uint64_t& result) noexcept {
    std::uint64_t up_to_here = 0;
    if (!complete(failed_ ? 1 : mpi_->start_prefix_sum(&value, &up_to_here, 1))) return false;
    result = up_to_here - value;
    return true;
}

} // namespace libprofile
