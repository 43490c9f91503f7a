#include "libprofile/callpath/frame_walk.hpp"

#include "libprofile/callpath/arch/machine.hpp"
#include "libprofile/callpath/arch/return_rules.hpp"
#include "libprofile/callpath/code_frame.hpp"
#include "libprofile/callpath/load_map.hpp"
#include "libprofile/callpath/mark.hpp"
#include "libprofile/callpath/recipe_table.hpp"
#include "libprofile/callpath/stack_search.hpp"
#include "libprofile/callpath/thread_block.hpp"
#include "libprofile/callpath/unwind_table.hpp"

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

/// Continues with the frame that a signal interrupted; `link` is where its return address is if that is in its register. Returns false if its registers
/// cannot be read.
bool leave_signal_frame(WalkedFrame& frame, std::uintptr_t& link, const Readable& stack) {
    const std::uintptr_t context = frame.sp + context_offset;
    if (!stack.holds(context) || !stack.holds(context + sizeof(ucontext_t))) return false;
    const Registers registers = registers_of(reinterpret_cast<const ucontext_t*>(context));
    const std::uintptr_t sp = registers.stack;
    if (sp <= frame.sp || !stack.holds(sp & ~std::uintptr_t{7})) return false;
    frame = {registers.instruction, sp, registers.frame, 0, registers.extra};
    link = context + extra_offset;
    return true;
}

/// `mark_end`: of the frame that has the thread's mark, 0 if there is none.
template <class Path> void walk(const WalkStart& start, std::uintptr_t mark_end, Path& path) {
    path.clear();
    path.push(start.address, start.slot, {}, start.stack_pointer);
    const std::uint32_t epoch = load_map.epoch();
    // Unwind information still names the slot of a saved register after the register was restored. The slot may then lie up to 128 bytes
    // below the stack pointer, where nothing may overwrite it (the red zone of the System V ABI).
    constexpr std::uintptr_t red_zone = 128;
    const Readable stack{(start.stack_pointer & ~std::uintptr_t{7}) - red_zone, thread_local_block.stack_base};
    WalkedFrame frame{start.address, start.stack_pointer, start.frame_pointer, start.frame_pointer_slot, start.extra};
    std::uintptr_t link = 0;
    bool was_interrupted = start.slot == 0;
    for (;;) {
        const Recipe recipe = recipe_table.find(frame.address, epoch);
        path.set_flags(recipe.flags);
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
            if (!leave_signal_frame(frame, link, stack)) return;
            path.crossed_signal = was_interrupted = true;
            if (is_mark_code(frame.address) && !path.enters_mark_code(frame, mark_end, link)) return;
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
        if (code_address(return_address) == mark_stub()) {
            if (cfa == mark_end) return path.end_at_mark(origin, is_in_register ? link : slot, was_interrupted);
            if ((return_address = lost_return_address(thread_local_block.mark, cfa)) == 0) return;
            path.pass_lost_mark(is_in_register ? link : slot, return_address, cfa);
        }
        frame.address = code_address(return_address) - 1;
        frame.sp = cfa;
        frame.extra = 0;
        was_interrupted = false;
        if (!path.push(frame.address, slot, origin, cfa)) return void(path.end = PathEnd::Full);
    }
}

/// As InTool (thread/thread.hpp), for code that may run where no thread is measured.
class Inside {
  public:
    explicit Inside(std::uintptr_t frame) : before_(thread_local_block.in_tool) {
        if (before_ == 0) thread_local_block.tool_frame = frame;
        thread_local_block.in_tool = before_ + 1;
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
    }
    ~Inside() {
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
        thread_local_block.in_tool = before_;
    }
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;

  private:
    int before_;
};

/// Looks for marks instead of keeping what it finds.
struct MarkSearch {
    PathEnd end = PathEnd::Lost;
    bool crossed_signal = false, bridged = false;
    std::uintptr_t slot = 0;
    Signing signing = Signing::Unknown; // of the word in it
    bool is_alone = false;
    std::uintptr_t innermost = 0; // address, of the frame to be left
    std::uint8_t flags = 0;

    void clear() {}
    bool push(std::uintptr_t address, std::uintptr_t, SlotOrigin = {}, std::uintptr_t = 0) {
        innermost = address;
        flags = 0;
        return true;
    }
    void set_flags(std::uint8_t of_innermost) { flags = of_innermost; }
    /// A return is just passing through the mark. Only the stub's first two instructions have the mark in the register.
    bool enters_mark_code(const WalkedFrame& frame, std::uintptr_t mark_end, std::uintptr_t link) {
        if (frame.address < mark_stub() || frame.address > mark_stub() + 4) return true;
        if (frame.sp == mark_end)
            end_at_mark({}, link, false);
        else if (const std::uintptr_t lost = lost_return_address(thread_local_block.mark, frame.sp); lost != 0)
            pass_lost_mark(link, lost, frame.sp);
        return false;
    }
    void end_at_mark(SlotOrigin, std::uintptr_t where, bool was_interrupted) {
        slot = where;
        signing = return_signing(innermost, flags);
        is_alone = !was_interrupted;
    }
    void pass_lost_mark(std::uintptr_t where, std::uintptr_t return_address, std::uintptr_t frame_end) const {
        if (where == 0) return;
        auto& word = *reinterpret_cast<std::uintptr_t*>(where);
        const std::uintptr_t restored = stored_as(word, mark_stub(), return_address, frame_end, return_signing(innermost, flags));
        if (restored != 0) word = restored;
    }
};

} // namespace

Signing return_signing(std::uintptr_t address, std::uint8_t flags) noexcept {
    if ((flags & SignedReturn) == 0) return Signing::None;
    UnwindSection section;
    UnwindEntry entry;
    const bool is_known = find_unwind_section(address, section) && find_unwind_entry(section, address, entry) == EntrySearch::Found;
    return is_known && entry.is_signed_by_key_b ? Signing::KeyB : Signing::KeyA;
}

WalkStart interrupted_frame(void* context) noexcept {
    const Registers registers = registers_of(context);
    return {registers.instruction, 0, registers.stack, registers.frame, 0, registers.extra};
}

void walk_stack(const WalkStart& start, std::uintptr_t mark_end, RawPath& path) noexcept { walk(start, mark_end, path); }

bool find_marks(Mark& mark, const WalkStart& start) noexcept {
    if constexpr (!has_fixed_return_slot) {
        if (!is_own_stack(start.stack_pointer)) return false;
        const Inside guard(reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)));
        MarkSearch search;
        WalkStart from = start;
        const std::uintptr_t end = end_of(mark);
        mark.signing = Signing::Unknown;
        if (from.address == mark_stub() - 1) { // a jump has led to the one who looks
            if (from.stack_pointer == end) {
                mark.slot = from.slot;
                return true;
            }
            const std::uintptr_t lost = lost_return_address(mark, from.stack_pointer);
            if (lost == 0) return false;
            search.pass_lost_mark(from.slot, lost, from.stack_pointer);
            from.address = lost - 1;
        }
        walk(from, end, search);
        if (search.slot == 0) return false;
        mark.signing = search.signing;
        mark.slot = search.slot;
        return search.is_alone;
    }
    return mark.slot != 0;
}

bool find_marks_outside(Mark& mark, std::uintptr_t frame) noexcept { return find_marks(mark, calling_frame(frame)); }

} // namespace libprofile
