// Persistent sends and collectives: prepared once, counted at each start. Contract: see accounting/all.hpp.
// Persistent receives are counted where they complete, like others (accounting/requests.hpp).
#pragma once

#include "wrappers/mpi/accounting/requests.hpp"

namespace libprofile::LIBPROFILE_MPI_NAMESPACE {
namespace {

/// `charge` is what the accounting helper of the function's blocking form would have counted.
inline void count_at_start(MpiEvent& event, const Charge& charge, const MPI_Request* request) {
    if (charge.size != 0 && !persistent_requests::insert(key(*request), charge) && event.counted()) event.count_lost_requests(1);
}

/// Books what a start counts. Open MPI may have given the request another handle: its buffered sends get a new one when the
/// message before is still on its way.
inline void started(MpiEvent& event, bool count, MPI_Request before, MPI_Request now) {
    const Charge* charge = persistent_requests::find(key(before));
    for (unsigned i = 0; count && charge != nullptr && i < charge->size; ++i) event.add(charge->metrics[i], charge->values[i]);
    if (charge != nullptr && charge->is_message) {
        if (count)
            event.message(MessageDirection::Sent, charge->envelope, charge->message_bytes);
        else if (event.follows_requests())
            MpiEvent::miss_message();
    }
    if (now == before) return;
    if (charge != nullptr) {
        const Charge moved = *charge;
        persistent_requests::remove(key(before));
        if (!persistent_requests::insert(key(now), moved) && event.counted()) event.count_lost_requests(1);
    }
    if (const OpenRequest open = data_requests::remove(key(before)); open.kind != DataRequest::None) posted(event, open, &now);
}

class Started {
  public:
    Started(const MpiEvent&, const MPI_Request* request) : now_(request), before_(request != nullptr ? *request : MPI_REQUEST_NULL) {}

    void finish(MpiEvent& event, int mpi_result) const {
        if (mpi_result == MPI_SUCCESS && before_ != MPI_REQUEST_NULL) started(event, event.counted(), before_, *now_);
    }

  private:
    const MPI_Request* now_;
    MPI_Request before_;
};

class AllStarted {
  public:
    AllStarted(const MpiEvent& event, RequestRoom& room, int count, const MPI_Request* requests)
        : requests_(event, room, count, requests, no_statuses_), count_(count) {}

    void finish(MpiEvent& event, int mpi_result) const {
        for (int i = 0; mpi_result == MPI_SUCCESS && requests_.are_known() && i < count_; ++i)
            started(event, event.counted(), requests_.before(i), requests_.now(i));
    }

  private:
    MPI_Status none_;
    MPI_Status* no_statuses_ = &none_;
    Requests requests_;
    int count_;
};

} // namespace
} // namespace libprofile::LIBPROFILE_MPI_NAMESPACE
