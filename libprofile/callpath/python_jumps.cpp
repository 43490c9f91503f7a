#include "libprofile/callpath/python_jumps.hpp"

#include "libprofile/base/hashing.hpp"

#include <algorithm>

namespace libprofile {

/// Those beyond `most` share one range, which may allow more.
void PythonJumps::Function::add(Range added) noexcept {
    if (count < most) {
        range[count++] = added;
        return;
    }
    range[most - 1].target = std::min(range[most - 1].target, added.target);
    range[most - 1].jump = std::max(range[most - 1].jump, added.jump);
}

void PythonJumps::read(Function& function, SafeMemory& memory) noexcept {
    const PythonLayout& layout = python_process.layout();
    const PythonCodeUnits& units = *layout.units;
    const std::uintptr_t begin = function.code + layout.code_begin;
    std::int64_t count = 0;
    bool is_read = memory.read(function.code + layout.object_size, count) && count > 0 && count <= most_units;
    std::uint32_t upper = 0;
    for (std::uint32_t at = 0; is_read && at < count; ++at) {
        unsigned char unit[2]; // opcode and argument
        is_read = memory.read(begin + at * sizeof unit, unit, sizeof unit);
        const std::uint32_t argument = upper << 8 | unit[1];
        upper = units.is_extended[unit[0]] ? argument : 0;
        if (units.jumps_back[unit[0]] && argument <= at + 1) function.add({(at + 1 - argument) * 2, at * 2});
        at += units.caches[unit[0]];
    }
    if (!is_read) function.add({0, UINT32_MAX});
}

bool PythonJumps::may_come(std::uintptr_t code, std::uint64_t identity, std::uintptr_t from, std::uintptr_t to, SafeMemory& memory) noexcept {
    const std::uintptr_t begin = code + python_process.layout().code_begin;
    if (to > from || from < begin || to < begin || from - begin > UINT32_MAX) return true;
    Function& function = functions_[short_hash(code, function_bits)];
    if (function.code != code || function.identity != identity) {
        function.code = code;
        function.identity = identity;
        function.count = 0;
        read(function, memory);
    }
    const auto first = static_cast<std::uint32_t>(from - begin), last = static_cast<std::uint32_t>(to - begin);
    // Forward, back by a jump, forward again, ... as long as that leads to earlier code.
    std::uint32_t reached = first, lowest = UINT32_MAX;
    for (bool is_lower = true; is_lower;) {
        is_lower = false;
        for (std::uint32_t i = 0; i < function.count; ++i) {
            const Range& range = function.range[i];
            if (range.jump < reached || range.target >= lowest) continue;
            lowest = range.target;
            is_lower = true;
        }
        reached = std::min(reached, lowest);
    }
    return last >= lowest;
}

} // namespace libprofile
