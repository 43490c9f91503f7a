// The name of a C++ function without template arguments and parameters, or of a Fortran procedure with its module, out of its linkage
// name: what patterns of a filter file are compared with. There is no demangler without malloc, and this needs no more than a part of the grammar.
// Contract: pure; async-signal-safe.
// Source: Itanium C++ ABI, chapter 5.1 (mangling).
#pragma once

#include <cstddef>

namespace libprofile {

/// "_ZNK2ns4GridIdLi4EE2atEi" -> "ns::Grid::at"; "__m_MOD_work" -> "m::work", "work_" -> "work", "inner.0" -> "inner". False: it is no such
/// name, or of a form that is not known here (lambdas, functions inside of functions).
bool plain_name(const char* linkage_name, char* out, std::size_t size) noexcept;

/// Whether the text matches a pattern of characters, `*` (any number of any) and `?` (one).
bool matches(const char* pattern, const char* text) noexcept;

} // namespace libprofile
