// What a function of MPI or OpenMP does to a run when it takes long: it computes, it waits, or it synchronises. The one table of it.
// Contract: thread-safe (no state); allocates nothing; throws nothing.
//
// Source: Wei and Mellor-Crummey (ICS 2018), section 4.3.1, that names examples only.
// Decisions: what returns at once is computation, also if it starts something. A synchronisation is what no rank leaves before all have entered it. What
// asks whether something is there waits: that takes long only if it is asked again and again.
#pragma once

#include "format/metrics.hpp"

#include <string_view>

namespace libprofile::tools {

enum class NodeClass : std::uint8_t { Computation, Wait, Synchronisation };

enum class FunctionClass : std::uint8_t {
    Computation,
    Wait,            // for one or some other ranks or threads
    Synchronisation, // of all
    FromRoot,        // all others wait for the root
    ToRoot,          // the root waits for all others
};

/// Of a row of the table of functions (libprofile/base/function_records.hpp), by its name and category.
FunctionClass function_class(std::string_view name, TimeCategory category) noexcept;

/// On one rank.
constexpr NodeClass class_on_rank(FunctionClass function, bool is_root) {
    switch (function) { // without default: a class that is missing does not compile
    case FunctionClass::Computation: break;
    case FunctionClass::Wait: return NodeClass::Wait;
    case FunctionClass::Synchronisation: return NodeClass::Synchronisation;
    case FunctionClass::FromRoot: return is_root ? NodeClass::Computation : NodeClass::Wait;
    case FunctionClass::ToRoot: return is_root ? NodeClass::Wait : NodeClass::Computation;
    }
    return NodeClass::Computation;
}

/// On all ranks together: some rank waits in a collective with a root, whoever that is.
constexpr NodeClass class_in_job(FunctionClass function) { return function == FunctionClass::ToRoot ? NodeClass::Wait : class_on_rank(function, false); }

} // namespace libprofile::tools
