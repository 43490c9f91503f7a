// Sends, and receives that one call completes. Contract: see accounting/all.hpp.
#pragma once

#include "wrappers/mpi/accounting/bytes.hpp"
#include "wrappers/mpi/accounting/partners.hpp"
#include "wrappers/mpi/accounting/status.hpp"
#include "wrappers/mpi/persistent_requests.hpp"

namespace libprofile::LIBPROFILE_MPI_NAMESPACE {
namespace {

inline void sent(auto& event, std::uint64_t sent, const Envelope& envelope) {
    event.add(sent == 0 ? Metric::P2pSendSyncs : Metric::P2pSends, 1);
    if (sent > 0) event.add(Metric::P2pBytesSent, sent);
    event.message(MessageDirection::Sent, envelope, sent);
}

template <class Count> class Send {
  public:
    Send(const MpiEvent&, Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
        : count_(count), datatype_(datatype), dest_(dest), tag_(tag), ranks_(comm) {}

    void finish(MpiEvent& event, int mpi_result) const {
        if (dest_ == MPI_PROC_NULL) return;
        if (event.counted() && mpi_result == MPI_SUCCESS)
            sent(event, bytes(count_, datatype_), ranks_.envelope(dest_, tag_));
        else if (event.follows_requests())
            MpiEvent::miss_message();
    }

  private:
    Count count_;
    MPI_Datatype datatype_;
    int dest_;
    int tag_;
    RanksOfCall ranks_;
};

/// Only prepared.
template <class Count> void send(Charge& charge, Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) {
    if (dest != MPI_PROC_NULL) sent(charge, bytes(count, datatype), RanksOfCall(comm).envelope(dest, tag));
}

/// A partitioned send is one message of all its partitions.
inline void partitioned_send(Charge& charge, int partitions, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) {
    if (dest == MPI_PROC_NULL) return;
    sent(charge, partitions > 0 ? static_cast<std::uint64_t>(partitions) * bytes(count, datatype) : 0, RanksOfCall(comm).envelope(dest, tag));
}

/// `group`: of the communicator (rank_groups.hpp).
inline void received(MpiEvent& event, const MPI_Status& status, std::uint32_t group) {
    const std::uint64_t count = received_bytes(status);
    event.add(count == 0 ? Metric::P2pRecvSyncs : Metric::P2pRecvs, 1);
    if (count > 0) event.add(Metric::P2pBytesReceived, count);
    event.message(MessageDirection::Received, rank_groups::envelope(group, status.MPI_SOURCE, status.MPI_TAG), count);
}

/// A receive that the call completes.
class Receive {
  public:
    Receive(const MpiEvent& event, int source, MPI_Comm comm, MPI_Status*& status) : expected_(source != MPI_PROC_NULL), ranks_(comm), status_(event, status) {}

    void finish(MpiEvent& event, int mpi_result) const {
        if (!expected_) return;
        if (event.counted() && mpi_result == MPI_SUCCESS)
            received(event, *status_.get(), ranks_.group());
        else if (event.follows_requests())
            MpiEvent::miss_message();
    }

  private:
    bool expected_; // a message, not one from MPI_PROC_NULL
    RanksOfCall ranks_;
    StatusInPlace status_;
};

/// Test, probe and their like: an unsuccessful one says nothing about the structure of the program.
inline void unsuccessful_if_false(MpiEvent& event, const int* flag) {
    if (!*flag) event.was_unsuccessful();
}

} // namespace
} // namespace libprofile::LIBPROFILE_MPI_NAMESPACE
