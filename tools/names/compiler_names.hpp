// Names of functions as GCC compares them with its lists of functions that are not instrumented: it looks for a text anywhere in them.
// Contract: thread-safe (no state); allocates its results; throws std::bad_alloc only.
#pragma once

#include <string>

namespace libprofile::tools {

/// A function's name with its scope, without parameters and return type, and without template arguments that are the defaults of the
/// standard library. Empty if it is not certain (a lambda, a function of a local class).
std::string compiler_name(const std::string& demangled);

/// A function's name in all the forms that GCC may give it, one a line: whatever it then looks for in the name is in one of them. What is
/// not known for sure is there as a whole, which at worst finds too much.
std::string forms_for_gcc(const std::string& demangled);

/// A name as gfortran knows it, without its module; empty: none that could be Fortran's. The compiler wrapper shortens them alike.
std::string fortran_name(const std::string& name);

} // namespace libprofile::tools
