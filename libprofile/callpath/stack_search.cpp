#include "libprofile/callpath/stack_search.hpp"

#include "libprofile/base/loaded_objects.hpp"

#include "libprofile/callpath/arch/machine.hpp"
#include "libprofile/callpath/code_frame.hpp"
#include "libprofile/callpath/load_map.hpp"
#include "libprofile/callpath/recipe_table.hpp"

namespace libprofile {

namespace {

constexpr std::uintptr_t most_words = 2048; // kernels of linear algebra keep buffers of several KiB on the stack

std::uintptr_t word(std::uintptr_t address) { return *reinterpret_cast<const std::uintptr_t*>(address); }

/// Returns true if the code at `return_address` has unwind information and that leads to another return address.
bool leads_on(std::uintptr_t return_address, std::uintptr_t cfa, std::uintptr_t frame_pointer, std::uintptr_t base) {
    const Recipe recipe = recipe_table.find(return_address - 1, load_map.epoch());
    if (recipe.kind == RecipeKind::Outermost) return true;
    if (recipe.kind != RecipeKind::Stack && recipe.kind != RecipeKind::Frame) return false;
    const std::uintptr_t next = (recipe.kind == RecipeKind::Stack ? cfa : frame_pointer) + static_cast<std::uintptr_t>(recipe.cfa_offset);
    if (next <= cfa || next > base || next % 8 != 0) return false;
    return follows_call(word(next - 8));
}

} // namespace

std::uintptr_t search_stack(std::uintptr_t address, std::uintptr_t stack_pointer, std::uintptr_t frame_pointer, std::uintptr_t base) noexcept {
    if (!has_fixed_return_slot) return 0; // where the caller's frame begins would stay unknown
    LoadedObject own;
    if (!find_loaded_object(address, own)) own = {};
    std::uintptr_t slot = stack_pointer & ~std::uintptr_t{7};
    const std::uintptr_t end = base - slot > most_words * 8 ? slot + most_words * 8 : base;
    for (; slot + 8 <= end; slot += 8) {
        const std::uintptr_t value = word(slot);
        if (value < 4096 || value > largest_code_address) continue;
        LoadedObject module;
        const bool inside = value >= own.start && value < own.end;
        if (!inside && !find_loaded_object(value, module)) continue;
        if (recipe_table.find(value - 1, load_map.epoch()).kind == RecipeKind::Missing) continue; // probably data
        if (follows_call(value) && leads_on(value, slot + 8, frame_pointer, base)) return slot + 8;
    }
    return 0;
}

} // namespace libprofile
