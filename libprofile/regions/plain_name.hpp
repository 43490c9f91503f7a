// The name of a C++ function (code/cxx_name.hpp), or of a Fortran procedure with its module: what patterns of a filter file are compared with.
// Contract: pure; async-signal-safe.
#pragma once

#include <cstddef>

namespace libprofile {

/// "_ZNK2ns4GridIdLi4EE2atEi" -> "ns::Grid::at"; "__m_MOD_work" -> "m::work", "work_" -> "work", "inner.0" -> "inner". Returns false
/// if it is no such name, or has a form that is not known here.
bool plain_name(const char* linkage_name, char* out, std::size_t size) noexcept;

/// Whether the text matches a pattern of characters, `*` (any number of any) and `?` (one).
bool matches(const char* pattern, const char* text) noexcept;

} // namespace libprofile
