// Functions that only make one MPI call for others: "MPI_Allreduce in global_sum" tells nothing if all of the program sums
// up with it. The function that calls the wrapper does.
// Contract: const access is thread-safe; keeps a reference to the profile; allocates; throws std::bad_alloc only.
//
// The profile's first and last rank decide, whatever was chosen, so a call has one name everywhere: a mere wrapper is called by
// several functions, what it calls is one MPI function or another such wrapper of it, and its own code takes at most 5 % of its time, or
// a microsecond a call. Functions of mpi4py, and the interpreter's between, make calls for Python functions: these
// are the callers.
#pragma once

#include "tools/reader/model.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace libprofile::tools {

class Wrappers {
  public:
    explicit Wrappers(const Profile& profile);

    struct Caller {
        std::uint32_t path = 0; // of the first caller that is no mere wrapper; 0 if there is none
        std::string through;    // the wrappers between, from the outermost: "mp_sum > reduce_base"; empty if there are none
    };
    /// For the call path of an MPI call.
    Caller caller_of(std::uint32_t path) const;

  private:
    const Profile& profile_;
    std::vector<bool> is_wrapper_; // by call path
    std::vector<bool> is_binding_; // it is mpi4py's, called by a Python function
};

} // namespace libprofile::tools
