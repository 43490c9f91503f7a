// Names as compilers write them into symbol tables and debug information, turned into those of the source.
// Contract: thread-safe (no state); allocates its results; throws std::bad_alloc only.
#pragma once

#include <string>

namespace libprofile::tools {

/// The C++ name in source form; other names unchanged.
std::string demangle(const char* name);

/// The name of a function for people:
/// - C++ (Itanium ABI) in source form;
/// - GNU Fortran's `__module_MOD_procedure` as `module::procedure`; in Fortran code also `procedure_` as `procedure`
///   and the number of an internal procedure, `procedure.0`, left out;
/// - parts and copies that the compiler made of a function: `f._omp_fn.0` as `f [omp region 0]`, `.constprop.0`,
///   `.isra.0`, `.part.0` and `.cold` as `f [constprop]` and so on.
/// Other names, Rust's among them, stay as they are.
/// @param fortran the name comes from a Fortran source
std::string readable_name(const std::string& name, bool fortran);

/// A name without the endings of readable_name that tell parts of one function apart; regions of OpenMP keep theirs,
/// because each is a function of its own.
/// @param tag gets " [omp region N]" where there is one, else ""
std::string without_clone_tags(const std::string& name, std::string& tag);

} // namespace libprofile::tools
