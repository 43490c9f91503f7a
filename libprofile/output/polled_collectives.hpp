// Collective operations at the job's end that never hang: each is started nonblocking and polled up to a time limit.
// Contract: main thread, inside MPI_Finalize's wrapper, before PMPI_Finalize. All ranks with the library make the same calls in the same order.
// After one has failed or timed out, all later ones fail at once.
//
// A rank without the library, or a dead one, never joins, and a plain collective would wait for it forever. After the arrival barrier, all ranks
// agree once more: a rank that gave up waiting in the barrier enters the agreement with a no. So no rank leaves it with the belief that all are
// still there, and none waits for one that has left. Once all are there, the time limit is longer, since a slow rank must not be left behind.
//
// All messages except those of exchange() are so small that MPI needs no memory of another process beyond what it mapped at its start. A process
// that has changed its user may open no more of it, and MPI would then never complete a larger message.
#pragma once

#include "libprofile/base/mpi_services.hpp"

#include <cstddef>
#include <cstdint>

namespace libprofile {

/// How a rank waits.
enum class Polling {
    Sparing, // sleeps soon, since others may compute
    Prompt,  // sleeps only after a while, since another rank times the answer
};

class PolledCollectives {
  public:
    PolledCollectives(const MpiServices& mpi, std::uint64_t timeout_s) noexcept;
    ~PolledCollectives();
    PolledCollectives(const PolledCollectives&) = delete;
    PolledCollectives& operator=(const PolledCollectives&) = delete;

    /// Returns true if every rank of MPI_COMM_WORLD has arrived and knows it. `values` become their minima over all ranks, as those of min().
    bool everyone_is_here(std::uint64_t (&values)[2]) noexcept;
    /// Of values that are all below 2^63, or all not: MPIs compare some as signed numbers (MPICH 4.0.2).
    bool min(std::uint64_t* values, int count) noexcept;
    /// `after_writing`: other ranks may still be writing their data, however long that takes.
    bool sum(std::uint64_t* values, int count, bool after_writing = false) noexcept;
    /// Distributes a text of rank 0, whose end lies within `capacity`. Bytes after the end are left alone.
    bool broadcast(char* text, std::size_t capacity) noexcept;
    /// Sum of `value` over the ranks before this one.
    bool sum_before(std::uint64_t value, std::uint64_t& result) noexcept;
    /// All-to-all exchange of bytes; sizes and offsets by rank. If it fails, the memory of all five must stay unchanged until the end of MPI.
    bool exchange(const void* out, const int* out_sizes, void* in, const int* in_sizes, const int* offsets, Polling polling) noexcept;

    static constexpr int most = 16;                // values of an operation
    static constexpr std::size_t most_text = 4096; // bytes
    static constexpr int message_bytes = 64;       // at most; UCX takes 88 between processes of one machine

  private:
    static constexpr std::uint64_t one_hour_ns = 3600000000000u;
    bool complete(int started, std::uint64_t patience_ns, Polling polling = Polling::Sparing) noexcept;
    template <class Start> bool run(std::uint64_t* values, int count, std::uint64_t patience_ns, Start start) noexcept;

    const MpiServices* mpi_;
    std::uint64_t patience_ns_; // of an operation, usually
    bool failed_ = false;
};

} // namespace libprofile
