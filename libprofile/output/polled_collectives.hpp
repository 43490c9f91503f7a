// Collective operations of the job's end that never hang: each is started nonblocking and polled up to a time limit.
// Contract: main thread, inside MPI_Finalize's wrapper, before PMPI_Finalize; all ranks with the library make the same
// calls in the same order. Once one fails or runs out of time, all later ones fail at once.
//
// A rank without the library, or a dead one, never joins; a plain collective would wait for it forever. After the
// arrival barrier every rank agrees once more: a rank that gave up waiting in the barrier enters the agreement with a
// no, so nobody can leave it believing that all are still there, and nobody waits for one that has left.
#pragma once

#include "libprofile/session/mpi_services.hpp"

#include <cstdint>

namespace libprofile {

class PolledCollectives {
  public:
    PolledCollectives(const MpiServices& mpi, std::uint64_t timeout_s) noexcept;
    ~PolledCollectives();
    PolledCollectives(const PolledCollectives&) = delete;
    PolledCollectives& operator=(const PolledCollectives&) = delete;

    /// True when every rank of MPI_COMM_WORLD has arrived and knows it.
    bool everyone_is_here() noexcept;
    bool min(std::uint64_t* values, int count) noexcept;
    bool sum(std::uint64_t* values, int count) noexcept;
    bool broadcast(void* bytes, int count) noexcept;
    /// Sum of `value` over the ranks before this one.
    bool sum_before(std::uint64_t value, std::uint64_t& result) noexcept;
    /// How long each operation is waited for.
    std::uint64_t timeout_ns() const { return timeout_ns_; }

  private:
    static constexpr int most = 16;
    bool complete(int started) noexcept;

    const MpiServices* mpi_;
    std::uint64_t timeout_ns_;
    bool failed_ = false;
};

} // namespace libprofile
