// File reads and writes. Contract: see accounting/all.hpp.
//
// The operation counts where it is called (split collectives: at its begin), and so do the bytes of writes. The bytes of
// reads are those that arrived, from the status where the operation completes: files end.
#pragma once

#include "wrappers/mpi/accounting/requests.hpp"

namespace libprofile::LIBPROFILE_MPI_NAMESPACE {
namespace {

template <class Count>
void file_write(MpiEvent& event, Count count, MPI_Datatype datatype) {
    event.add(Metric::FileWrites, 1);
    event.add(Metric::FileBytesWritten, bytes(count, datatype));
}

template <class Count>
void file_collective_write(MpiEvent& event, Count count, MPI_Datatype datatype) {
    event.add(Metric::FileCollWrites, 1);
    event.add(Metric::FileCollBytesWritten, bytes(count, datatype));
}

/// Nonblocking reads; also called while recording is off, to know the request when it completes.
inline void file_read_posted(MpiEvent& event, const MPI_Request* request) {
    if (event.counted())
        event.add(Metric::FileReads, 1);
    posted(event, DataRequest::FileRead, request);
}
inline void file_collective_read_posted(MpiEvent& event, const MPI_Request* request) {
    if (event.counted())
        event.add(Metric::FileCollReads, 1);
    posted(event, DataRequest::FileCollectiveRead, request);
}

inline void file_collective_read_begin(MpiEvent& event) {
    event.add(Metric::FileCollReads, 1);
}

/// A read that the call completes. Takes the place of an ignored status.
class ReadCompleted {
  public:
    ReadCompleted(const MpiEvent& event, Metric operations, Metric bytes, MPI_Status*& status)
        : operations_(operations), bytes_(bytes) {
        if (event.counted() && status == MPI_STATUS_IGNORE)
            status = &own_;
        status_ = status;
    }

    void finish(MpiEvent& event, int mpi_result) const {
        if (!event.counted() || mpi_result != MPI_SUCCESS)
            return;
        if (operations_ != Metric::Count)
            event.add(operations_, 1);
        event.add(bytes_, received_bytes(*status_));
    }

  private:
    Metric operations_; // Metric::Count: counted at the begin of the split collective
    Metric bytes_;
    const MPI_Status* status_;
    MPI_Status own_;
};

class FileRead : public ReadCompleted {
  public:
    FileRead(const MpiEvent& event, MPI_Status*& status)
        : ReadCompleted(event, Metric::FileReads, Metric::FileBytesRead, status) {}
};

class FileCollectiveRead : public ReadCompleted {
  public:
    FileCollectiveRead(const MpiEvent& event, MPI_Status*& status)
        : ReadCompleted(event, Metric::FileCollReads, Metric::FileCollBytesRead, status) {}
};

class FileCollectiveReadEnd : public ReadCompleted {
  public:
    FileCollectiveReadEnd(const MpiEvent& event, MPI_Status*& status)
        : ReadCompleted(event, Metric::Count, Metric::FileCollBytesRead, status) {}
};

} // namespace
} // namespace libprofile::LIBPROFILE_MPI_NAMESPACE
