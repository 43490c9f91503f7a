// Receives and file reads that are completed through requests. Contract: see accounting/all.hpp; besides, large arrays
// are copied to the call's scratch memory.
#pragma once

#include "wrappers/mpi/accounting/point_to_point.hpp"
#include "wrappers/mpi/data_requests.hpp"
#include "wrappers/mpi/persistent_requests.hpp"
#include "wrappers/mpi/request_table.hpp"

namespace libprofile {

namespace LIBPROFILE_MPI_NAMESPACE {
namespace {

/// A request is a pointer or an int.
inline std::uint64_t key(MPI_Request request) { return (std::uint64_t)request & request_handle_mask; }
#if defined OPEN_MPI || defined LIBPROFILE_STANDARD_ABI // of MPICH, messages are requests
inline std::uint64_t key(MPI_Message message) { return (std::uint64_t)message & request_handle_mask; }
#endif

inline void posted(MpiEvent& event, OpenRequest open, const MPI_Request* request) {
    if (!data_requests::insert(key(*request), open) && event.counted()) event.count_lost_requests(1);
}
inline void posted(MpiEvent& event, DataRequest kind, const MPI_Request* request) { posted(event, {kind, rank_groups::without_ranks}, request); }

template <DataRequest kind> class Posted {
  public:
    Posted(const MpiEvent&, int source, MPI_Comm comm, const MPI_Request* request) : expected_(source != MPI_PROC_NULL), ranks_(comm), request_(request) {}

    void finish(MpiEvent& event, int mpi_result) const {
        if (event.follows_requests() && mpi_result == MPI_SUCCESS && expected_) posted(event, {kind, ranks_.group()}, request_);
    }

  private:
    bool expected_;
    RanksOfCall ranks_;
    const MPI_Request* request_;
};
using ReceivePosted = Posted<DataRequest::Receive>;
using PersistentReceivePosted = Posted<DataRequest::PersistentReceive>;
#ifdef OPEN_MPI
using SendrecvPosted = ReceivePosted;
#else
using SendrecvPosted = Posted<DataRequest::ReceiveWithoutStatus>; // MPICH 4.0 leaves the status of these as it was
#endif

/// Mprobe has found a message. Its receive does not tell the communicator.
class MatchedProbe {
  public:
    MatchedProbe(const MpiEvent&, MPI_Comm comm, const MPI_Message* message) : ranks_(comm), message_(message) {}

    void finish(MpiEvent& event, int mpi_result) const {
        if (event.follows_requests() && mpi_result == MPI_SUCCESS && *message_ != MPI_MESSAGE_NO_PROC)
            data_requests::insert(key(*message_), {DataRequest::Message, ranks_.group()}); // without memory, the partner is unknown
    }

  private:
    RanksOfCall ranks_;
    const MPI_Message* message_;
};

/// Improbe may have.
class MatchedPoll {
  public:
    MatchedPoll(const MpiEvent& event, MPI_Comm comm, const int* flag, const MPI_Message* message) : probe_(event, comm, message), flag_(flag) {}

    void finish(MpiEvent& event, int mpi_result) const {
        if (mpi_result == MPI_SUCCESS && *flag_) probe_.finish(event, mpi_result);
    }

  private:
    MatchedProbe probe_;
    const int* flag_;
};

/// The message of a receive, taken before the call: MPI then gives the handle to another one.
class FoundMessage {
  public:
    explicit FoundMessage(const MPI_Message* message) {
        if (message == nullptr || *message == MPI_MESSAGE_NO_PROC) return;
        const OpenRequest found = data_requests::remove(key(*message));
        expected_ = true;
        group_ = found.kind == DataRequest::Message ? found.group : std::uint32_t{rank_groups::without_ranks};
    }
    /// A message, not one from MPI_PROC_NULL.
    bool is_expected() const { return expected_; }
    std::uint32_t group() const { return group_; }

  private:
    bool expected_ = false;
    std::uint32_t group_ = rank_groups::without_ranks;
};

class MatchedReceive {
  public:
    MatchedReceive(const MpiEvent& event, const MPI_Message* message, MPI_Status*& status) : message_(message), status_(event, status) {}

    void finish(MpiEvent& event, int mpi_result) const {
        if (!message_.is_expected()) return;
        if (event.counted() && mpi_result == MPI_SUCCESS)
            received(event, *status_.get(), message_.group());
        else if (event.follows_requests())
            MpiEvent::miss_message();
    }

  private:
    FoundMessage message_;
    StatusInPlace status_;
};

class MatchedReceivePosted {
  public:
    MatchedReceivePosted(const MpiEvent&, const MPI_Message* message, const MPI_Request* request) : message_(message), request_(request) {}

    void finish(MpiEvent& event, int mpi_result) const {
        if (event.follows_requests() && mpi_result == MPI_SUCCESS && message_.is_expected()) posted(event, {DataRequest::Receive, message_.group()}, request_);
    }

  private:
    FoundMessage message_;
    const MPI_Request* request_;
};

/// A freed receive or read may still be completed by MPI, unseen; its handle can be given to another request.
class RequestFree {
  public:
    RequestFree(const MpiEvent&, const MPI_Request* request) : before_(request != nullptr ? *request : MPI_REQUEST_NULL) {}

    void finish(MpiEvent&, int mpi_result) const {
        if (mpi_result != MPI_SUCCESS) return;
        if (data_requests::remove(key(before_)).kind == DataRequest::Receive) MpiEvent::miss_message(); // a persistent one may not have been started
        persistent_requests::remove(key(before_));
    }

  private:
    MPI_Request before_;
};

/// Counts a request that completed: `before` is its handle before the call, `after` the one MPI left
/// (not null: the request is persistent). Handles are forgotten even if the call is not counted.
inline void completed(MpiEvent& event, bool count, MPI_Request before, MPI_Request after, const MPI_Status* status) {
    const bool persistent = after != MPI_REQUEST_NULL;
    const auto [kind, group] = persistent ? data_requests::find(key(before)) : data_requests::remove(key(before));
    const bool is_message = kind == DataRequest::Receive || kind == DataRequest::PersistentReceive || kind == DataRequest::ReceiveWithoutStatus;
    if (is_message && (!count || kind == DataRequest::ReceiveWithoutStatus)) MpiEvent::miss_message();
    if (kind == DataRequest::None || !count) return;
    if (kind == DataRequest::ReceiveWithoutStatus) {
        event.add(Metric::P2pRecvs, 1);
        return event.message(MessageDirection::Received, Envelope{}, 0);
    }
    if (kind == DataRequest::FileRead) return event.add(Metric::FileBytesRead, received_bytes(*status));
    if (kind == DataRequest::FileCollectiveRead) return event.add(Metric::FileCollBytesRead, received_bytes(*status));
    if (status->MPI_SOURCE == MPI_ANY_SOURCE) return; // an inactive persistent request
    if (is_cancelled(*status)) return;
    received(event, *status, group);
}

/// For what Requests keeps of few requests. A variable of the body's own: MPI gets its address, so nothing in it may be kept in a register.
struct RequestRoom {
    static constexpr int most = 32;
    MPI_Request before[most];
    MPI_Status statuses[most];

    static bool is_enough(int count, const MPI_Request* requests) { return static_cast<unsigned>(count - 1) < most && requests != nullptr; }
    [[gnu::always_inline]] static void copy(MPI_Request* to, const MPI_Request* from, int count) {
        for (int i = 0; i < count; ++i) {
            to[i] = from[i];
            asm volatile(""); // or GCC makes it rep movs, which is slow to begin
        }
    }
    /// Keeps the requests, if it is_enough(). Returns the statuses for MPI.
    [[gnu::always_inline]] MPI_Status* keep(int count, const MPI_Request* requests, MPI_Status* given) {
        copy(before, requests, count);
        return given == MPI_STATUSES_IGNORE ? statuses : given;
    }
};

/// The requests as they were before the call, and statuses for ignored ones: in `room`, if they are many in the thread's scratch buffer.
class Requests {
  public:
    Requests(const MpiEvent& event, RequestRoom& room, int count, const MPI_Request* requests, MPI_Status*& statuses) : now_(requests), count_(count) {
        if (count <= 0 || requests == nullptr) return;
        const bool own_statuses = event.counted() && statuses == MPI_STATUSES_IGNORE;
        before_ = room.before;
        MPI_Status* own = room.statuses;
        if (count > RequestRoom::most && !take_scratch(event, static_cast<std::size_t>(count), own_statuses, own)) {
            give_up(event, requests);
            return;
        }
        if (!event.has_returned()) RequestRoom::copy(before_, requests, count); // else room.keep() has
        if (own_statuses) statuses = own;
        statuses_ = statuses;
    }
    Requests(const Requests&) = delete;
    Requests& operator=(const Requests&) = delete;

    /// Whether the requests are known as they were before the call.
    bool are_known() const { return before_ != nullptr; }
    MPI_Request before(int index) const { return before_[index]; }
    MPI_Request now(int index) const { return now_[index]; }

    /// Request `index` completed and MPI wrote its status at `status_index`.
    void completed_at(MpiEvent& event, bool count, int index, int status_index) const {
        if (before_ == nullptr || before_[index] == MPI_REQUEST_NULL) return;
        completed(event, count, before_[index], now_[index], statuses_ + status_index);
    }

    /// The call failed: forgets those that it completed nevertheless.
    void forget_completed(MpiEvent& event) const {
        for (int i = 0; before_ != nullptr && i < count_; ++i)
            if (now_[i] == MPI_REQUEST_NULL) completed_at(event, false, i, i);
    }

  private:
    bool take_scratch(const MpiEvent& event, std::size_t size, bool own_statuses, MPI_Status*& own) {
        void* memory = event.scratch(size * (sizeof(MPI_Request) + (own_statuses ? sizeof(MPI_Status) : 0)));
        before_ = static_cast<MPI_Request*>(memory);
        if (memory == nullptr) return false;
        own = static_cast<MPI_Status*>(static_cast<void*>(before_ + size));
        return true;
    }

    /// Without room it will not be known which of them completed: none may stay in the table, where another request with
    /// its handle would be taken for it.
    void give_up(const MpiEvent& event, const MPI_Request* requests) const {
        std::uint64_t lost = 0;
        for (int i = 0; i < count_; ++i)
            if (requests[i] != MPI_REQUEST_NULL && data_requests::remove(key(requests[i])).kind != DataRequest::None) ++lost;
        if (event.counted() && lost != 0) event.count_lost_requests(lost);
    }

    const MPI_Request* now_;
    int count_;
    MPI_Request* before_ = nullptr;
    MPI_Status* statuses_ = nullptr;
};

inline bool counts(const MpiEvent& event, int mpi_result) { return event.counted() && mpi_result == MPI_SUCCESS; }

class Wait {
  public:
    Wait(const MpiEvent& event, const MPI_Request* request, MPI_Status*& status)
        : now_(request), before_(request != nullptr ? *request : MPI_REQUEST_NULL), status_(event, status) {}

    void finish(MpiEvent& event, int mpi_result) const {
        if (before_ != MPI_REQUEST_NULL) completed(event, counts(event, mpi_result), before_, *now_, status_.get());
    }

  private:
    const MPI_Request* now_;
    MPI_Request before_;
    StatusInPlace status_;
};

class Test {
  public:
    Test(const MpiEvent& event, RequestRoom& room, const MPI_Request* request, const int* flag, MPI_Status*& status)
        : request_(event, room, 1, request, status), flag_(flag) {}

    void finish(MpiEvent& event, int mpi_result) const {
        if (mpi_result != MPI_SUCCESS || *flag_)
            request_.completed_at(event, counts(event, mpi_result), 0, 0);
        else if (event.counted())
            event.was_unsuccessful();
    }

  private:
    Requests request_;
    const int* flag_;
};

class Waitall {
  public:
    Waitall(const MpiEvent& event, RequestRoom& room, int count, const MPI_Request* requests, MPI_Status*& statuses)
        : requests_(event, room, count, requests, statuses), count_(count) {}

    void finish(MpiEvent& event, int mpi_result) const {
        if (mpi_result != MPI_SUCCESS) return requests_.forget_completed(event);
        for (int i = 0; i < count_; ++i) requests_.completed_at(event, event.counted(), i, i);
    }

  private:
    Requests requests_;
    int count_;
};

class Testall {
  public:
    Testall(const MpiEvent& event, RequestRoom& room, int count, const MPI_Request* requests, const int* flag, MPI_Status*& statuses)
        : wait_(event, room, count, requests, statuses), flag_(flag) {}

    void finish(MpiEvent& event, int mpi_result) const {
        if (mpi_result != MPI_SUCCESS || *flag_)
            wait_.finish(event, mpi_result);
        else if (event.counted())
            event.was_unsuccessful();
    }

  private:
    Waitall wait_;
    const int* flag_;
};

class Waitsome {
  public:
    Waitsome(const MpiEvent& event, RequestRoom& room, int count, const MPI_Request* requests, const int* done, const int* indices, MPI_Status*& statuses)
        : requests_(event, room, count, requests, statuses), done_(done), indices_(indices) {}

    void finish(MpiEvent& event, int mpi_result) const {
        if (mpi_result != MPI_SUCCESS) return requests_.forget_completed(event);
        if (*done_ == MPI_UNDEFINED) return;
        for (int i = 0; i < *done_; ++i) requests_.completed_at(event, event.counted(), indices_[i], i);
    }

  private:
    Requests requests_;
    const int* done_;
    const int* indices_;
};

class Testsome {
  public:
    Testsome(const MpiEvent& event, RequestRoom& room, int count, const MPI_Request* requests, const int* done, const int* indices, MPI_Status*& statuses)
        : wait_(event, room, count, requests, done, indices, statuses), done_(done) {}

    void finish(MpiEvent& event, int mpi_result) const {
        if (mpi_result == MPI_SUCCESS && *done_ == 0 && event.counted()) event.was_unsuccessful();
        wait_.finish(event, mpi_result);
    }

  private:
    Waitsome wait_;
    const int* done_;
};

class Waitany {
  public:
    Waitany(const MpiEvent& event, RequestRoom& room, int count, const MPI_Request* requests, const int* index, MPI_Status*& status)
        : requests_(event, room, count, requests, status), index_(index) {}

    void finish(MpiEvent& event, int mpi_result) const {
        if (mpi_result != MPI_SUCCESS) return requests_.forget_completed(event);
        if (*index_ == MPI_UNDEFINED) return;
        requests_.completed_at(event, event.counted(), *index_, 0);
    }

  private:
    Requests requests_;
    const int* index_;
};

class Testany {
  public:
    Testany(const MpiEvent& event, RequestRoom& room, int count, const MPI_Request* requests, const int* index, const int* flag, MPI_Status*& status)
        : wait_(event, room, count, requests, index, status), flag_(flag) {}

    void finish(MpiEvent& event, int mpi_result) const {
        if (mpi_result != MPI_SUCCESS || *flag_)
            wait_.finish(event, mpi_result);
        else if (event.counted())
            event.was_unsuccessful();
    }

  private:
    Waitany wait_;
    const int* flag_;
};

} // namespace
} // namespace LIBPROFILE_MPI_NAMESPACE
} // namespace libprofile
