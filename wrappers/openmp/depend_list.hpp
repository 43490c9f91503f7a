// What GCC's code passes to GOMP_task for its depend clauses, in either layout.
// Contract: reads the list only; any thread. `depend` is what GCC's code has made, so it is trusted.
//
// Old: number of addresses, how many of them are written (out, inout), addresses, the written ones first. Since OpenMP 5: 0, number of addresses, then how
// many are out or inout, mutexinoutset, in; addresses in this order, and last those of depend objects, each of which has an address and a kind.
// GCC does not tell out from inout, which mean the same: both are inout here.
#pragma once

#include "libprofile/events/openmp_tasks.hpp"

#include <cstdint>

namespace libprofile {

/// Calls visit(const TaskNeed&) for each.
template <class Visit> void for_each_need(void* const* depend, Visit&& visit) {
    const auto number = [depend](std::uintptr_t at) { return reinterpret_cast<std::uintptr_t>(depend[at]); };
    if (number(0) != 0) {
        for (std::uintptr_t i = 0; i < number(0); ++i) visit(TaskNeed{depend[2 + i], i < number(1) ? TaskDependence::InOut : TaskDependence::In});
        return;
    }
    const std::uintptr_t out = number(2), mutex = out + number(3), in = mutex + number(4);
    for (std::uintptr_t i = 0; i < number(1); ++i) {
        if (i < in) {
            visit(TaskNeed{depend[5 + i], i < out ? TaskDependence::InOut : i < mutex ? TaskDependence::MutexInOutSet : TaskDependence::In});
            continue;
        }
        const auto* object = static_cast<void* const*>(depend[5 + i]);
        const auto kind = reinterpret_cast<std::uintptr_t>(object[1]); // 1 to 5, as in the file
        if (kind >= static_cast<std::uintptr_t>(TaskDependence::In) && kind <= static_cast<std::uintptr_t>(TaskDependence::InOutSet))
            visit(TaskNeed{object[0], static_cast<TaskDependence>(kind)});
    }
}

} // namespace libprofile
