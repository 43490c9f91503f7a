// The code that a compiler made of one line of a function, from the DWARF line tables of a program on disk (elfutils).
// Contract: allocates; never throws but std::bad_alloc; never runs code of the program. Reads the line tables of the whole program.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace libprofile::tools {

struct CodeOfLine {
    struct Range {
        std::uint64_t begin, end; // ELF virtual addresses
    };
    std::vector<Range> ranges; // by address; more than one where the compiler made copies or moved parts
};

/// @param path of the program or library
/// @param function its name as in the source: f, ns::f, module::procedure, or the part after a "::"
CodeOfLine code_of_line(const std::string& path, const std::string& function, std::uint64_t line);

} // namespace libprofile::tools
