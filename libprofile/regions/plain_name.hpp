// A function's name as patterns of a filter file compare it, from its linkage name: in C++ without template arguments and parameters
// (code/cxx_name.hpp), in Fortran with the module.
// Contract: pure; async-signal-safe.
#pragma once

#include <cstddef>

namespace libprofile {

/// "_ZNK2ns4GridIdLi4EE2atEi" -> "ns::Grid::at"; "__m_MOD_work" -> "m::work", "work_" -> "work", "inner.0" -> "inner". Returns false for other
/// names, and for forms unknown here (lambdas, functions inside of functions).
bool plain_name(const char* linkage_name, char* out, std::size_t size) noexcept;

/// Returns true if the text matches a pattern of characters, `*` (any number of any) and `?` (one).
bool matches(const char* pattern, const char* text) noexcept;

} // namespace libprofile
