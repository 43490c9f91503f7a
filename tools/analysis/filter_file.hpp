// The filter file of instrumented functions, as `libprofile filter` writes it (docs/regions.md): read by the runtime
// (LIBPROFILE_FILTER) and by the compiler wrappers.
// Contract: thread-safe (no state); allocates its results; throws std::bad_alloc only.
#pragma once

#include "tools/analysis/regions.hpp"

#include <string>

namespace libprofile::tools {

/// A function's name as GCC matches it when it compiles: with its scope, without parameters and return type, and without template
/// arguments that are the defaults of the standard library.
std::string compiler_name(const std::string& demangled);

/// All of the file.
std::string filter_file(const Profile& profile, const TinyFunctions& tiny, double target);

} // namespace libprofile::tools
