// Where a version of CPython keeps the frames of a thread and the names of functions: offsets in bytes.
// Contract: constant data. A version that is not in the table is not read.
#pragma once

#include <cstdint>
#include <initializer_list>

namespace libprofile {

/// What the code units of two bytes mean, by opcode.
struct PythonCodeUnits {
    bool jumps_back[256] = {};     // by its argument, counted from the next unit
    bool is_extended[256] = {};    // its argument is the upper part of the next one's
    std::uint8_t caches[256] = {}; // units that follow and are no instructions
    constexpr void set_caches(std::uint8_t count, std::initializer_list<std::uint8_t> opcodes) {
        for (const std::uint8_t opcode : opcodes) caches[opcode] = count;
    }
};

/// In the order of python_3_11.def.
struct PythonLayout {
    std::uint32_t thread_key;   // in _PyRuntime: the key of thread-specific data that holds a thread's own state
    std::uint32_t finalizing;   // in _PyRuntime: not 0 once the interpreter ends
    std::uint32_t native_frame; // in the state: the innermost activation of the interpreter's loop, a structure on the thread's stack
    std::uint32_t innermost;    // in that: the Python frame that runs
    std::uint32_t outer_native; //   and the next outer activation
    std::uint32_t frame_code, frame_outer, frame_instruction, frame_is_entry;
    std::uint32_t object_type, object_size;
    std::uint32_t code_line, code_file, code_name, code_lines, code_begin;
    std::uint32_t text_length, text_state, text_ascii, text_compact;
    std::uint32_t bytes_begin;
    const PythonCodeUnits* units;

    static constexpr std::uint32_t frame_bytes = 72, code_bytes = 144; // what is read of a frame and of a code object
};

inline constexpr PythonCodeUnits python_3_11_units = [] {
    PythonCodeUnits units;
#define OFFSET(what, type, member, bytes)
#define SIZE(what, type, bytes)
#define BACKWARD(name, opcode) units.jumps_back[opcode] = true;
#define EXTENDED(name, opcode) units.is_extended[opcode] = true;
#define CACHES(count, ...) units.set_caches(count, {__VA_ARGS__});
#include "libprofile/callpath/python_3_11.def"
#undef OFFSET
#undef SIZE
#undef BACKWARD
#undef EXTENDED
#undef CACHES
    return units;
}();

inline constexpr PythonLayout python_3_11 = {
#define OFFSET(what, type, member, bytes) bytes,
#define SIZE(what, type, bytes) bytes,
#define BACKWARD(name, opcode)
#define EXTENDED(name, opcode)
#define CACHES(count, ...)
#include "libprofile/callpath/python_3_11.def"
#undef OFFSET
#undef SIZE
#undef BACKWARD
#undef EXTENDED
#undef CACHES
    &python_3_11_units,
};

/// `version`: PY_VERSION_HEX. Returns nullptr if it is unknown, or no final release.
inline const PythonLayout* find_python_layout(std::uint64_t version) noexcept {
    const bool is_final = (version & 0xf0) == 0xf0;
    return is_final && version >> 16 == 0x030b ? &python_3_11 : nullptr;
}

} // namespace libprofile
