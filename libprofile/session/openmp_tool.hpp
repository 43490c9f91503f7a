// Finds out whether the user's environment keeps an OpenMP runtime with a tool interface (LLVM's libomp; wrappers/openmp/ompt.cpp) from telling
// us about its regions.
// Contract: in ordinary context, on one thread, with the in-tool flag set; asks the loader, allocates nothing.
#pragma once

namespace libprofile {

/// Returns a sentence, or nullptr if no such runtime is loaded or it can tell us. Does not see another tool in the program or after us.
const char* openmp_tool_complaint() noexcept;

} // namespace libprofile
