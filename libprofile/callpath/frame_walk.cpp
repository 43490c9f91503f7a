#include "libprofile/callpath/frame_walk.hpp"

#include "libprofile/callpath/arch/machine.hpp"
#include "libprofile/callpath/arch/return_rules.hpp"
#include "libprofile/callpath/code_frame.hpp"
#include "libprofile/callpath/load_map.hpp"
#include "libprofile/callpath/mark.hpp"
#include "libprofile/callpath/recipe_table.hpp"
#include "libprofile/callpath/stack_search.hpp"
#include "libprofile/callpath/thread_block.hpp"

#include <ucontext.h>

namespace libprofile {

namespace {

/// The readable part: the thread's own stack from the innermost frame on.
struct Readable {
    std::uintptr_t low;
    std::uintptr_t base;
    bool holds(std::uintptr_t address) const { return address >= low && address + 8 <= base && address % 8 == 0; }
    static std::uintptr_t at(std::uintptr_t address) { return *reinterpret_cast<const std::uintptr_t*>(address); }
};

/// The origin of the slot to which the recipe has led from `frame`.
SlotOrigin slot_origin(const Recipe& recipe, const WalkedFrame& frame, std::uintptr_t slot) {
    using Kind = SlotOrigin::Kind;
    if (recipe.kind == RecipeKind::Stack) return {0, 0, Kind::Address};
    if (recipe.kind != RecipeKind::Frame || frame.fp_slot == 0) return {};
    const auto saved_at = static_cast<std::int32_t>(frame.fp_slot - slot), value = static_cast<std::int32_t>(frame.fp - slot);
    const auto is_lossless = [slot](std::int32_t distance, std::uintptr_t address) {
        return slot + static_cast<std::uintptr_t>(static_cast<std::intptr_t>(distance)) == address;
    };
    if (!is_lossless(saved_at, frame.fp_slot) || !is_lossless(value, frame.fp)) return {};
    return {saved_at, value, Kind::FramePointer};
}

/// Returns the canonical frame address, or 0 if the result makes no sense.
std::uintptr_t canonical_frame(const Recipe& recipe, const WalkedFrame& frame, const Readable& stack) {
    if (recipe.kind == RecipeKind::Stack) return frame.sp + static_cast<std::uintptr_t>(recipe.cfa_offset);
    const std::uintptr_t address = frame.fp + static_cast<std::uintptr_t>(recipe.cfa_offset);
    if (recipe.kind == RecipeKind::Frame) return address;
    return stack.holds(address) ? Readable::at(address) : 0;
}

/// Finds the caller of code without unwind information. Returns false if nothing fits.
bool cross_bare_code(const WalkedFrame& frame, const Readable& stack, std::uintptr_t& cfa, ReturnPlace& place) {
    CodeFrame code;
    if (find_code_frame(frame.address, code)) {
        const std::uintptr_t base = code.base == CodeFrame::Base::StackPointer ? frame.sp : code.base == CodeFrame::Base::FramePointer ? frame.fp : frame.extra;
        const auto at_cfa = [&cfa](std::int32_t offset) { return offset == 0 ? 0 : cfa + static_cast<std::uintptr_t>(std::intptr_t{offset}); };
        cfa = base + static_cast<std::uintptr_t>(code.cfa_offset);
        place = {at_cfa(code.return_offset), at_cfa(code.frame_offset)};
        const bool is_readable = place.slot == 0 ? frame.extra != 0 : stack.holds(place.slot);
        if (base != 0 && is_readable && follows_call(code_address(place.slot == 0 ? frame.extra : Readable::at(place.slot)))) return true;
    }
    cfa = search_stack(frame.address, frame.sp, frame.fp, stack.base);
    place = {slot_below(cfa), 0};
    return cfa != 0;
}

/// Continues with the frame that a signal interrupted. Returns false if its registers cannot be read.
bool leave_signal_frame(WalkedFrame& frame, const Readable& stack, RawPath& path) {
    const std::uintptr_t context = frame.sp + context_offset;
    if (!stack.holds(context) || !stack.holds(context + sizeof(ucontext_t))) return false;
    const Registers registers = registers_of(reinterpret_cast<const ucontext_t*>(context));
    const std::uintptr_t sp = registers.stack;
    if (sp <= frame.sp || !stack.holds(sp & ~std::uintptr_t{7})) return false;
    path.crossed_signal = true;
    frame = {registers.instruction, sp, registers.frame, 0, registers.extra};
    return true;
}

} // namespace

WalkStart interrupted_frame(void* context) noexcept {
    const Registers registers = registers_of(context);
    return {registers.instruction, 0, registers.stack, registers.frame, 0, registers.extra};
}

void walk_stack(const WalkStart& start, std::uintptr_t mark_slot, RawPath& path) noexcept {
    path.clear();
    path.push(start.address, start.slot);
    const std::uint32_t epoch = load_map.epoch();
    // Unwind information still names the slot of a saved register after the register was restored. The slot may then lie up to 128 bytes
    // below the stack pointer, where nothing may overwrite it (the red zone of the System V ABI).
    constexpr std::uintptr_t red_zone = 128;
    const Readable stack{(start.stack_pointer & ~std::uintptr_t{7}) - red_zone, thread_local_block.stack_base};
    WalkedFrame frame{start.address, start.stack_pointer, start.frame_pointer, start.frame_pointer_slot, start.extra};
    for (;;) {
        const Recipe recipe = recipe_table.find(frame.address, epoch);
        path.flags[path.size - 1] = recipe.flags;
        std::uintptr_t cfa = 0;
        ReturnPlace place;
        switch (recipe.kind) {
        case RecipeKind::Stack:
        case RecipeKind::Frame:
        case RecipeKind::FrameIndirect:
            cfa = canonical_frame(recipe, frame, stack);
            place = find_return(recipe, frame, cfa);
            break;
        case RecipeKind::Outermost: path.end = PathEnd::Root; return;
        case RecipeKind::Hard: path.end = PathEnd::Hard; return;
        case RecipeKind::Signal:
            if (!leave_signal_frame(frame, stack, path)) return;
            if (is_mark_code(frame.address)) return;
            if (!path.push(frame.address, 0)) return void(path.end = PathEnd::Full);
            continue;
        default:
            if (!cross_bare_code(frame, stack, cfa, place)) return;
            path.bridged = true;
        }
        const std::uintptr_t slot = place.slot;
        const bool is_in_register = !has_fixed_return_slot && slot == 0;
        if (is_in_register ? cfa < frame.sp || frame.extra == 0 : cfa <= frame.sp || !stack.holds(slot)) return; // the stack must grow towards its base
        const SlotOrigin origin = is_in_register ? SlotOrigin{} : slot_origin(recipe, frame, slot);
        std::uintptr_t return_address = is_in_register ? frame.extra : Readable::at(slot);
        if (const std::uintptr_t fp_slot = place.fp_slot; fp_slot != 0) {
            if (!stack.holds(fp_slot)) return;
            frame.fp = Readable::at(fp_slot);
            // A slot that was found through an unchecked frame pointer is not compared.
            const bool is_sure = recipe.frame_rule != FramePointerRule::AtFrame || recipe.kind == RecipeKind::Frame;
            frame.fp_slot = is_sure ? fp_slot : 0;
        }
        if (return_address == mark_stub()) {
            if (slot == mark_slot) {
                path.end = PathEnd::Mark;
                path.marked = origin;
            }
            if (slot == mark_slot || (return_address = lost_return_address(thread_local_block.mark, slot)) == 0) return;
        }
        frame.address = code_address(return_address) - 1;
        frame.sp = cfa;
        frame.extra = 0;
        if (!path.push(frame.address, slot, origin)) return void(path.end = PathEnd::Full);
    }
}

} // namespace libprofile
