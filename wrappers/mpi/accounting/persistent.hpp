// Persistent sends and collectives: prepared once, counted at each start. Contract: see accounting/all.hpp.
// Persistent receives are counted where they complete, like others (accounting/requests.hpp).
#pragma once

#include "wrappers/mpi/accounting/requests.hpp"

namespace libprofile::LIBPROFILE_MPI_NAMESPACE {
namespace {

/// `charge` is what the accounting helper of the function's blocking form would have counted.
inline void count_at_start(MpiEvent& event, const Charge& charge, const MPI_Request* request) {
    if (charge.size != 0 && !persistent_requests::insert(key(*request), charge) && event.counted())
        event.count_lost_request();
}

inline void started(MpiEvent& event, const MPI_Request* request) {
    const Charge* charge = persistent_requests::find(key(*request));
    for (unsigned i = 0; charge != nullptr && i < charge->size; ++i)
        event.add(charge->metrics[i], charge->values[i]);
}

inline void all_started(MpiEvent& event, int count, const MPI_Request* requests) {
    for (int i = 0; i < count; ++i)
        started(event, requests + i);
}

} // namespace
} // namespace libprofile::LIBPROFILE_MPI_NAMESPACE
