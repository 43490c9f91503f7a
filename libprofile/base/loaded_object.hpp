// An executable or a shared library of the process, as the loader has it.
// Contract: plain data.
#pragma once

#include <cstdint>

struct link_map;

namespace libprofile {

struct LoadedObject {
    std::uintptr_t start = 0;
    std::uintptr_t end = 0;
    std::uintptr_t unwind_header = 0; // .eh_frame_hdr, 0 if it has none
    std::uintptr_t bias = 0;          // address = bias + ELF virtual address
    bool is_executable = false;
    const link_map* map = nullptr; // the loader's, which may free it at any time
};

} // namespace libprofile
