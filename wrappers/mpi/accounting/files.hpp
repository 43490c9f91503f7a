// File reads and writes. Contract: see accounting/all.hpp.
//
// The operation counts where it is called (split collectives: at its begin), and so do the bytes of writes. The bytes of
// reads are those that arrived, from the status where the operation completes: files end.
#pragma once

#include "wrappers/mpi/accounting/requests.hpp"

namespace libprofile::LIBPROFILE_MPI_NAMESPACE {
namespace {

template <class Count> void file_write(MpiEvent& event, Count count, MPI_Datatype datatype) {
    event.add(Metric::FileWrites, 1);
    event.add(Metric::FileBytesWritten, bytes(count, datatype));
}

template <class Count> void file_collective_write(MpiEvent& event, Count count, MPI_Datatype datatype) {
    event.add(Metric::FileCollWrites, 1);
    event.add(Metric::FileCollBytesWritten, bytes(count, datatype));
}

/// Nonblocking reads; also called while recording is off, to know the request when it completes.
template <class Count> void read_posted(MpiEvent& event, Metric operations, DataRequest kind, Count count, MPI_Datatype datatype, const MPI_Request* request) {
    if (event.counted()) event.add(operations, 1);
    if (bytes(count, datatype) != 0) // else MPICH does not write the status
        posted(event, kind, request);
}
template <class Count> void file_read_posted(MpiEvent& event, Count count, MPI_Datatype datatype, const MPI_Request* request) {
    read_posted(event, Metric::FileReads, DataRequest::FileRead, count, datatype, request);
}
template <class Count> void file_collective_read_posted(MpiEvent& event, Count count, MPI_Datatype datatype, const MPI_Request* request) {
    read_posted(event, Metric::FileCollReads, DataRequest::FileCollectiveRead, count, datatype, request);
}

inline void file_collective_read_begin(MpiEvent& event) { event.add(Metric::FileCollReads, 1); }

/// A read that the call completes.
template <Metric operations, Metric metric_of_bytes, class Count> class CompletedRead {
  public:
    CompletedRead(const MpiEvent& event, Count count, MPI_Datatype datatype, MPI_Status*& status)
        : status_(event, status), count_(count), datatype_(datatype) {}

    void finish(MpiEvent& event, int mpi_result) const {
        if (!event.counted() || mpi_result != MPI_SUCCESS) return;
        const std::uint64_t asked = bytes(count_, datatype_);
        event.add(operations, 1);
        // MPICH leaves the status alone when nothing was asked for.
        event.add(metric_of_bytes, asked == 0 ? 0 : received_bytes(*status_.get()));
    }

  private:
    StatusInPlace status_;
    Count count_;
    MPI_Datatype datatype_;
};

template <class Count> class FileRead : public CompletedRead<Metric::FileReads, Metric::FileBytesRead, Count> {
    using CompletedRead<Metric::FileReads, Metric::FileBytesRead, Count>::CompletedRead;
};
template <class Count> FileRead(const MpiEvent&, Count, MPI_Datatype, MPI_Status*&) -> FileRead<Count>;

template <class Count> class FileCollectiveRead : public CompletedRead<Metric::FileCollReads, Metric::FileCollBytesRead, Count> {
    using CompletedRead<Metric::FileCollReads, Metric::FileCollBytesRead, Count>::CompletedRead;
};
template <class Count> FileCollectiveRead(const MpiEvent&, Count, MPI_Datatype, MPI_Status*&) -> FileCollectiveRead<Count>;

/// The end of a split collective read, whose operation was counted at its begin.
class FileCollectiveReadEnd {
  public:
    FileCollectiveReadEnd(const MpiEvent& event, MPI_Status*& status) : status_(event, status) {
        status_.clear_own(); // how much was asked for is not known here
    }

    void finish(MpiEvent& event, int mpi_result) const {
        if (event.counted() && mpi_result == MPI_SUCCESS) event.add(Metric::FileCollBytesRead, received_bytes(*status_.get()));
    }

  private:
    StatusInPlace status_;
};

} // namespace
} // namespace libprofile::LIBPROFILE_MPI_NAMESPACE
