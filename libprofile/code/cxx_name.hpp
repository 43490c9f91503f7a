// The name of a C++ function without template arguments and parameters, out of its linkage name. A demangler needs malloc; this reads only
// the part of the grammar that such names need.
// Contract: pure; async-signal-safe.
// Source: Itanium C++ ABI, chapter 5.1 (mangling).
#pragma once

#include <cstddef>
#include <cstdint>

namespace libprofile {

enum class CxxNameStyle : std::uint8_t {
    Shown,   // as people write it: "(anonymous namespace)::f"; operators other than () are not read
    Pattern, // as filter files have it: unnamed namespaces are left out, operators other than () are "operator"
};

/// "_ZNK2ns4GridIdLi4EE2atEi" -> "ns::Grid::at". Returns false if it is no such name, does not fit, or has a form that is not known here
/// (lambdas, functions inside functions).
bool cxx_name(const char* linkage_name, CxxNameStyle style, char* out, std::size_t size) noexcept;

} // namespace libprofile
