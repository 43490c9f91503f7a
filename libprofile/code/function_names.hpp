// Looks functions up by name in the symbol tables of the files that the process has loaded, or by module and offset.
//
// Contract: in ordinary context; reads the files (FunctionSymbols), allocates nothing else; survives damaged files. No demangler: of
// mangled names (Itanium C++ ABI) it reads the nested names, without the parameters, which is all that people write.
#pragma once

#include <cstddef>
#include <cstdint>

namespace libprofile {

/// The functions that a name means: one, with all copies that the compiler made of it (f.constprop.0).
struct NamedFunction {
    static constexpr std::uint32_t most = 8;
    std::uintptr_t address[most] = {};
    std::uintptr_t end[most] = {};
    std::uint32_t count = 0;
    bool is_ambiguous = false; // several functions have that name: that of address[0], and `other`
    std::uintptr_t other = 0;
    char symbol[256] = {}; // of the first
    char other_symbol[256] = {};
    bool has_more = false;     // copies than there is room for
    std::uint32_t module = 0;  // of all
    bool lacks_memory = false; // none was found, and not all names could be read
};

/// Functions that have `name`: a symbol as it is; as it is in the source: f, ns::f, module::procedure in any case; or the end
/// of that behind a "::".
/// @param nearest what comes closest to it where there is none, "" if nothing does; nullptr: is not asked for
bool find_function(const char* name, NamedFunction& found, char* nearest, std::size_t nearest_size) noexcept;

/// The name that a symbol has in the source, without parameters and template arguments: ns::f for _ZN2ns1fIiEEvT_.
/// Endings of copies (.constprop.0) are left out. False: it is no function that people have written (f.part.0, f.cold).
/// @param fortran it is one whose case does not matter
bool source_name(const char* symbol, char* name, std::size_t size, bool& fortran) noexcept;

/// "lmp+0x3c1d20": where that is in memory. `module`: the end of a path, behind a slash. 0: no such module is loaded, or it is shorter.
std::uintptr_t find_address(const char* text) noexcept;

} // namespace libprofile
