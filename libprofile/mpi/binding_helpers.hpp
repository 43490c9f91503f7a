// Calls that an MPI's Fortran or C++ layer makes on its own account.
// Contract: thread-safe, not for signal handlers (asks the loader by dladdr, once per call site).
//
// Open MPI's Fortran entry points ask for the communicator's size to convert arrays of handles (MPI_Gatherv calls
// MPI_Comm_size), for instance. Such a call comes from the binding library, whose calls otherwise are the application's.
#pragma once

namespace libprofile {

/// True when the call of `function_name` at `return_address` is one that a binding layer made to serve another function.
bool is_binding_helper_call(const char* function_name, const void* return_address) noexcept;

} // namespace libprofile
