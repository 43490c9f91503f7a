// Messages between ranks at the job's end that never hang, on a communicator of their own.
// Contract: as PolledCollectives, between two of whose operations all ranks make and drop these; one message at a time. A message that
// did not get through in time returns false; its buffer stays in use until the end of MPI.
#pragma once

#include "libprofile/base/mpi_services.hpp"

#include <cstddef>
#include <cstdint>

namespace libprofile {

class PolledMessages {
  public:
    explicit PolledMessages(const MpiServices& mpi) noexcept;
    ~PolledMessages();
    PolledMessages(const PolledMessages&) = delete;
    PolledMessages& operator=(const PolledMessages&) = delete;

    /// `until`: by Clock::monotonic(). Up to 2^31 - 1 bytes.
    bool send(const void* bytes, std::size_t size, std::uint64_t to, int tag, std::uint64_t until) noexcept;
    bool receive(void* bytes, std::size_t size, std::uint64_t from, int tag, std::uint64_t until) noexcept;

  private:
    bool complete(int started, std::uint64_t until) noexcept;
    const MpiServices* mpi_;
    bool open_;
    bool left_some_ = false;
};

/// Asks MPI until its operation under way is over. False: an error, or it is `until` by Clock::monotonic().
bool poll(const MpiServices& mpi, std::uint64_t until) noexcept;

} // namespace libprofile
