// Looks functions up by name in the symbol tables of the loaded files, or by module and offset.
//
// Contract: in ordinary context; reads the files (FunctionSymbols), allocates nothing else; survives damaged files. It is no demangler: of
// mangled names (Itanium C++ ABI) it reads the nested names without the parameters, which is all that people write.
#pragma once

#include <cstddef>
#include <cstdint>

namespace libprofile {

/// The function that a name means, with all copies that the compiler made of it (f.constprop.0).
struct NamedFunction {
    static constexpr std::uint32_t most = 8;
    std::uintptr_t address[most] = {};
    std::uintptr_t end[most] = {};
    std::uint32_t count = 0;
    bool is_ambiguous = false; // other functions have that name, too: the one at `other`
    std::uintptr_t other = 0;
    char symbol[256] = {}; // of the first
    char other_symbol[256] = {};
    bool has_more = false;     // there are more copies than room
    std::uint32_t module = 0;  // of all
    bool lacks_memory = false; // none was found, but not all names could be read
};

/// Finds functions called `name`: a symbol as it is, a name as in the source (f, ns::f, module::procedure in any case), or the end of such a name
/// after a "::".
/// @param nearest the closest other name if there is no such function, "" if none is close; nullptr to skip that
bool find_function(const char* name, NamedFunction& found, char* nearest, std::size_t nearest_size) noexcept;

/// Returns the name of a symbol in the source, without parameters and template arguments: ns::f for _ZN2ns1fIiEEvT_. Leaves out endings of copies
/// (.constprop.0). Returns false if people did not write that function (f.part.0, f.cold).
/// @param fortran case does not matter
bool source_name(const char* symbol, char* name, std::size_t size, bool& fortran) noexcept;

/// Returns the address of "lmp+0x3c1d20". The module is the end of a path, from a slash on. Returns 0 if no such module is loaded or it is too short.
std::uintptr_t find_address(const char* text) noexcept;

} // namespace libprofile
