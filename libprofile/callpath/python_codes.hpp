// What is known of Python's code objects: the function, and the line of an instruction.
// Contract: belongs to one thread; async-signal-safe; reads the interpreter's memory through SafeMemory only, so wrong or changing data give
// false, never a fault. Names are copied when an object is first seen. Objects are freed, and others get their addresses: each look
// compares what the object refers to now.
#pragma once

#include "libprofile/callpath/python_process.hpp"
#include "libprofile/callpath/safe_memory.hpp"

#include <cstdint>

namespace libprofile {

class PythonCodes {
  public:
    struct Place {
        std::uint64_t function = 0; // PythonNames
        std::uint32_t line = 0;     // 0 if the instruction has none
    };
    /// Tells objects apart that had the address `code` one after another.
    static std::uint64_t identity(const unsigned char* head) noexcept;
    /// `head`: the first PythonLayout::code_bytes bytes of the object at `code`, as they are now. Returns false if that is no code object.
    bool find(std::uintptr_t code, const unsigned char* head, std::uintptr_t instruction, SafeMemory& memory, Place& place) noexcept;

  private:
    struct Object {
        std::uintptr_t code = 0, file = 0, name = 0, lines = 0;
        std::uint32_t first_line = 0;
        std::uint32_t generation = 0; // of the object, for its lines
        std::uint64_t function = 0;
    };
    struct Line {
        std::uintptr_t code = 0;
        std::uint32_t offset = 0, generation = 0, line = 0;
    };
    static constexpr unsigned object_bits = 9, line_bits = 10;

    std::uint32_t line_of(const Object& object, std::uintptr_t instruction, SafeMemory& memory) noexcept;

    std::uint32_t generation_ = 0;
    Object objects_[1u << object_bits];
    Line lines_[1u << line_bits];
};

} // namespace libprofile
