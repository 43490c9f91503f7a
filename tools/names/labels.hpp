// The words that a call path is shown with.
// Contract: thread-safe (no state); allocates its results; throws std::bad_alloc only.
#pragma once

#include "tools/reader/model.hpp"

#include <string>

namespace libprofile::tools {

/// The name of a call path. File and line are empty and 0 if unknown or without meaning.
struct Label {
    std::string name; // function, MPI function, "(off CPU)", ...; "module+0xoffset" where not even its begin is known
    std::string file; // source file
    std::uint64_t line = 0;
    std::string module; // path of the program or library; empty for paths that are no frames of machine code
};

Label label_of(const Profile& profile, const CallPath& path);

/// What a function without a name is called whose begin is known, an ELF virtual address: "app: function at 0x1234".
std::string begin_as_name(const std::string& module, std::uint64_t begin);

/// There is no name, or only such a one.
bool is_unresolved(const SiteName& name);

/// Stable key of a node's kind: "frame", "mpi", "overhead", ...
const char* kind_name(NodeKind kind);

/// A C++ name without parameter list, return type and template arguments: readable in a table.
/// "void ns::f<int>(double)" becomes "ns::f". Names that are not C++ stay as they are.
/// The parts and copies that a compiler makes of a function have its name, but for regions of OpenMP.
std::string short_function_name(const std::string& full);

/// A name as text shows it: "[inlined] name" for inlined functions.
std::string shown_name(NodeKind kind, const std::string& name);

/// The last component of a path.
std::string base_name(const std::string& path);

/// Text of unknown origin for a terminal: control characters and broken UTF-8 become '?'.
std::string printable(const std::string& text);

} // namespace libprofile::tools
