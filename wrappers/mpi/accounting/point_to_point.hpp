// Sends, and receives that one call completes. Contract: see accounting/all.hpp.
#pragma once

#include "wrappers/mpi/accounting/bytes.hpp"
#include "wrappers/mpi/accounting/status.hpp"

namespace libprofile::LIBPROFILE_MPI_NAMESPACE {
namespace {

inline void sent(auto& event, std::uint64_t sent) {
    event.add(sent == 0 ? Metric::P2pSendSyncs : Metric::P2pSends, 1);
    if (sent > 0) event.add(Metric::P2pBytesSent, sent);
}

template <class Count> void send(auto& event, Count count, MPI_Datatype datatype, int dest) {
    if (dest != MPI_PROC_NULL) sent(event, bytes(count, datatype));
}

/// A partitioned send is one message of all its partitions.
inline void partitioned_send(auto& event, int partitions, MPI_Count count, MPI_Datatype datatype, int dest) {
    if (dest != MPI_PROC_NULL) sent(event, partitions > 0 ? static_cast<std::uint64_t>(partitions) * bytes(count, datatype) : 0);
}

inline void received(MpiEvent& event, const MPI_Status& status) {
    const std::uint64_t count = received_bytes(status);
    event.add(count == 0 ? Metric::P2pRecvSyncs : Metric::P2pRecvs, 1);
    if (count > 0) event.add(Metric::P2pBytesReceived, count);
}

/// A receive that the call completes.
class Receive {
  public:
    Receive(const MpiEvent& event, int source, MPI_Status*& status) : Receive(event, source != MPI_PROC_NULL, status) {}

    void finish(MpiEvent& event, int mpi_result) const {
        if (event.counted() && mpi_result == MPI_SUCCESS && expected_) received(event, *status_.get());
    }

  protected:
    Receive(const MpiEvent& event, bool expected, MPI_Status*& status) : expected_(expected), status_(event, status) {}

  private:
    bool expected_; // a message, not one from MPI_PROC_NULL
    StatusInPlace status_;
};

/// A receive of a message that Mprobe or Improbe found.
class MatchedReceive : public Receive {
  public:
    MatchedReceive(const MpiEvent& event, const MPI_Message* message, MPI_Status*& status)
        : Receive(event, message != nullptr && *message != MPI_MESSAGE_NO_PROC, status) {}
};

/// Test, probe and their like: an unsuccessful one says nothing about the structure of the program.
inline void unsuccessful_if_false(MpiEvent& event, const int* flag) {
    if (!*flag) event.was_unsuccessful();
}

} // namespace
} // namespace libprofile::LIBPROFILE_MPI_NAMESPACE
