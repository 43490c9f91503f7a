// Collective operations of the job's end that never hang: each is started nonblocking and polled up to a time limit.
// Contract: main thread, inside MPI_Finalize's wrapper, before PMPI_Finalize; all ranks with the library make the same
// calls in the same order. Once one fails or runs out of time, all later ones fail at once.
//
// A rank without the library, or a dead one, never joins; a plain collective would wait for it forever. After the
// arrival barrier every rank agrees once more: a rank that gave up waiting in the barrier enters the agreement with a
// no, so nobody can leave it believing that all are still there, and nobody waits for one that has left. Once all are there,
// waiting is patient: a rank that is only slow must not be left behind.
#pragma once

#include "libprofile/session/mpi_services.hpp"

#include <cstddef>
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
    /// How long a message between two ranks is waited for.
    std::uint64_t timeout_ns() const { return timeout_ns_; }

    static constexpr int most = 16;                   // values of an operation
    static constexpr std::size_t most_bytes = 4096;   // of a broadcast

  private:
    static constexpr std::uint64_t one_hour_ns = 3600000000000u;
    bool complete(int started) noexcept;
    template <class Start> bool run(std::uint64_t* values, int count, Start start) noexcept;

    const MpiServices* mpi_;
    std::uint64_t timeout_ns_;
    std::uint64_t patience_ns_; // of each operation
    bool failed_ = false;
};

} // namespace libprofile
