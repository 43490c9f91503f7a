// Collective operations of the job's end that never hang: each is started nonblocking and polled up to a time limit.
// Contract: main thread, inside MPI_Finalize's wrapper, before PMPI_Finalize; all ranks with the library make the same
// calls in the same order. Once one fails or runs out of time, all later ones fail at once.
//
// A rank without the library, or a dead one, never joins; a plain collective would wait for it forever. After the
// arrival barrier every rank agrees once more: a rank that gave up waiting in the barrier enters the agreement with a
// no, so nobody can leave it believing that all are still there, and nobody waits for one that has left. Once all are there,
// waiting is more patient, since a rank that is only slow must not be left behind, but it ends.
//
// All messages but those of exchange() are so small that they need no memory of another process but what MPI has mapped when it began. A
// process that has changed its user may open no more of it, and MPI then never completes a larger message.
#pragma once

#include "libprofile/base/mpi_services.hpp"

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
    /// `after_writing`: other ranks may still write their data, which takes what it takes.
    bool sum(std::uint64_t* values, int count, bool after_writing = false) noexcept;
    /// A text of rank 0, whose end lies within `capacity`; what is behind the end stays as it is.
    bool broadcast(char* text, std::size_t capacity) noexcept;
    /// Sum of `value` over the ranks before this one.
    bool sum_before(std::uint64_t value, std::uint64_t& result) noexcept;
    /// Bytes from each to each, sizes and places by rank. The memory behind all five stays as it is until the end of MPI if this fails.
    bool exchange(const void* out, const int* out_sizes, void* in, const int* in_sizes, const int* places) noexcept;

    static constexpr int most = 16;                // values of an operation
    static constexpr std::size_t most_text = 4096; // bytes
    static constexpr int message_bytes = 64;       // at most; UCX takes 88 between processes of one machine

  private:
    static constexpr std::uint64_t one_hour_ns = 3600000000000u;
    bool complete(int started, std::uint64_t patience_ns) noexcept;
    template <class Start> bool run(std::uint64_t* values, int count, std::uint64_t patience_ns, Start start) noexcept;

    const MpiServices* mpi_;
    std::uint64_t patience_ns_; // of an operation, as a rule
    bool failed_ = false;
};

} // namespace libprofile
