// Whether an OpenMP runtime that tells a tool of its regions (LLVM's libomp; wrappers/openmp/ompt.cpp) cannot tell us, by the user's
// environment.
// Contract: in ordinary context, on one thread, with the in-tool flag set; asks the loader, allocates nothing.
#pragma once

namespace libprofile {

/// A sentence, or nullptr: such a runtime is not loaded, or can tell us. Another tool in the program or behind us is not seen here.
const char* openmp_tool_complaint() noexcept;

} // namespace libprofile
