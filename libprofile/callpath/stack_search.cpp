#include "libprofile/callpath/stack_search.hpp"

#include "libprofile/callpath/load_map.hpp"
#include "libprofile/callpath/recipe_table.hpp"
#include "libprofile/callpath/unwind_table.hpp"

#include <dlfcn.h>

namespace libprofile {

namespace {

constexpr std::uintptr_t most_words = 2048; // kernels of linear algebra keep buffers of several KiB on the stack

std::uintptr_t word(std::uintptr_t address) { return *reinterpret_cast<const std::uintptr_t*>(address); }

/// The loaded module's memory around `address`.
bool find_module(std::uintptr_t address, dl_find_object& module) {
    return _dl_find_object(reinterpret_cast<void*>(address), &module) == 0;
}

/// A call instruction ends at `address`: E8 and four bytes, or FF with the register field 2 and its operand bytes.
bool follows_call(std::uintptr_t address, std::uintptr_t start, std::uintptr_t end) {
    if (address < start + 8) return false;
    const auto* code = reinterpret_cast<const unsigned char*>(address);
    if (code[-5] == 0xe8) {
        std::int32_t distance = 0;
        __builtin_memcpy(&distance, code - 4, sizeof distance);
        const std::uintptr_t target = address + static_cast<std::uintptr_t>(static_cast<std::intptr_t>(distance));
        return target >= start && target < end;
    }
    for (int length = 2; length <= 7; ++length) {
        if (code[-length] != 0xff || ((code[-length + 1] >> 3) & 7) != 2) continue;
        const int mode = code[-length + 1] >> 6;
        const int operand = code[-length + 1] & 7;
        const int sib = mode != 3 && operand == 4 ? 1 : 0;
        const int displacement = mode == 1 ? 1 : mode == 2 || (mode == 0 && operand == 5) ? 4 : 0;
        if (length == 2 + sib + displacement) return true;
    }
    return false;
}

bool follows_call(std::uintptr_t address, const dl_find_object& module) {
    return follows_call(address, reinterpret_cast<std::uintptr_t>(module.dlfo_map_start),
                        reinterpret_cast<std::uintptr_t>(module.dlfo_map_end));
}

/// The code at `return_address` has unwind information, and what that finds next is a return address, too.
bool leads_on(std::uintptr_t return_address, std::uintptr_t cfa, std::uintptr_t frame_pointer, std::uintptr_t base) {
    const Recipe recipe = recipe_table.find(return_address - 1, load_map.epoch());
    if (recipe.kind == RecipeKind::Outermost) return true;
    if (recipe.kind != RecipeKind::Stack && recipe.kind != RecipeKind::Frame) return false;
    const std::uintptr_t next =
        (recipe.kind == RecipeKind::Stack ? cfa : frame_pointer) + static_cast<std::uintptr_t>(recipe.cfa_offset);
    if (next <= cfa || next > base || next % 8 != 0) return false;
    dl_find_object module;
    const std::uintptr_t caller = word(next - 8);
    return find_module(caller, module) && follows_call(caller, module);
}

} // namespace

bool follows_call(std::uintptr_t address) noexcept {
    UnwindSection code; // the segment: what lies in front of it may not be readable
    dl_find_object module;
    return find_segment(address, code) && find_module(address, module) && address - code.start >= 8 &&
           follows_call(address, module);
}

std::uintptr_t search_stack(std::uintptr_t address, std::uintptr_t stack_pointer, std::uintptr_t frame_pointer,
                            std::uintptr_t base) noexcept {
    dl_find_object own;
    if (!find_module(address, own)) own = {};
    std::uintptr_t place = stack_pointer & ~std::uintptr_t{7};
    const std::uintptr_t end = base - place > most_words * 8 ? place + most_words * 8 : base;
    for (; place + 8 <= end; place += 8) {
        const std::uintptr_t value = word(place);
        if (value < 4096 || value >> 47 != 0) continue;
        dl_find_object module = own;
        const bool inside = own.dlfo_map_start != nullptr && value >= reinterpret_cast<std::uintptr_t>(own.dlfo_map_start) &&
                            value < reinterpret_cast<std::uintptr_t>(own.dlfo_map_end);
        if (!inside && !find_module(value, module)) continue;
        if (recipe_table.find(value - 1, load_map.epoch()).kind == RecipeKind::Missing) continue; // data, most likely
        if (follows_call(value, module) && leads_on(value, place + 8, frame_pointer, base)) return place + 8;
    }
    return 0;
}

} // namespace libprofile
