// Compiled with -mgeneral-regs-only, into the section libprofile_marks.
#include "libprofile/callpath/mark.hpp"

#include "libprofile/base/arch/processor.hpp"
#include "libprofile/base/messages.hpp"
#include "libprofile/callpath/arch/machine.hpp"
#include "libprofile/callpath/thread_block.hpp"

#include <cstdlib>

#define IN_MARK_CODE [[gnu::section("libprofile_marks")]]

namespace libprofile {

namespace {

/// Frames that an unwinder has left with the mark, one after the other; counted where it may move.
[[maybe_unused]] thread_local unsigned unwound = 0;

[[gnu::always_inline]] inline std::uintptr_t& word(std::uintptr_t address) { return *reinterpret_cast<std::uintptr_t*>(address); }

/// Writes the state first and the word last: a mark that is not there yet does no harm. A signal handler of the application may change `frames` in
/// between, so each number is read once and then checked.
/// Returns the slot that it has written.
[[gnu::always_inline]] inline std::uintptr_t mark_outwards(Mark& mark, const TrackedFrame* frames, std::int32_t index, std::uintptr_t stack_pointer) {
    for (; index >= 0; --index) {
        if (frames[index].markable == 0) continue;
        const std::uintptr_t slot = __atomic_load_n(&frames[index].slot, __ATOMIC_RELAXED);
        const std::uintptr_t return_address = __atomic_load_n(&frames[index].address, __ATOMIC_RELAXED) + 1;
        if (slot <= stack_pointer || word(slot) != return_address) continue;
        mark.return_address = return_address;
        mark.node = frames[index].node;
        mark.index = index;
        mark.end = frames[index].end;
        if constexpr (has_signed_returns) mark.signing = Signing::None;
        mark.slot = slot;
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
        word(slot) = mark_stub();
        return slot;
    }
    mark.index = -1;
    return 0;
}

/// A signal handler of the application may have removed the mark before it was written into `slot`. A mark written afterwards belongs to no one
/// and is taken back.
[[gnu::always_inline]] inline void end_move(Mark& mark, std::uintptr_t slot) {
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (slot != 0 && slot_of(mark) != slot && word(slot) == mark_stub()) [[unlikely]]
        word(slot) = mark.return_address;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    mark.moving = false;
}

[[gnu::always_inline]] inline void move_mark(Mark& mark, const TrackedFrame* frames, std::int32_t index, std::uintptr_t stack_pointer) {
    mark.moving = true;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    end_move(mark, mark_outwards(mark, frames, index, stack_pointer));
}

[[gnu::always_inline]] inline void put_back_losses(const Mark& mark, std::uintptr_t stack_pointer) {
    for (const Mark::Loss& loss : mark.losses) {
        if (loss.slot <= stack_pointer || !is_own_stack(loss.slot) || loss.slot == mark.slot) continue;
        if (word(loss.slot) == mark_stub()) word(loss.slot) = lost_return_address(mark, loss.end.of(loss.slot));
    }
}

/// Notes the time for those who watch returns.
[[gnu::always_inline]] inline void note_return(Mark& mark, std::int32_t index) {
    std::uint64_t* const ticks = mark.returned_at; // a handler may set it to nullptr
    if (ticks == nullptr || index < 0) [[likely]]
        return;
    ticks[index] = read_ticks();
    mark.has_returned = mark.has_returned || index < mark.watched;
}

/// Returns through a stub that is not the thread's mark: a copy of the stack was put back, or another thread runs on it. The noted return address must
/// still be the true one; ending the program is better than guessing.
IN_MARK_CODE [[gnu::noinline]] std::uintptr_t lost_return(const Mark& mark, std::uintptr_t slot, std::uintptr_t end) {
    // A signal handler of the application ran between this return and us, and had the mark removed.
    if (word(slot) != mark_stub()) return word(slot);
    if (const std::uintptr_t lost = lost_return_address(mark, end)) return lost;
    const std::uintptr_t others = return_address_of_any_mark == nullptr ? 0 : return_address_of_any_mark(end);
    if (others != 0) return others;
    say("error: the program changes stacks in a way that libprofile cannot follow; run it with LIBPROFILE_MARKS=0");
    std::abort();
}

} // namespace

void place_mark(Mark& mark, const TrackedFrame* frames, std::int32_t index) noexcept {
    mark.frames = frames;
    mark.fired = Mark::never_fired;
    if constexpr (!has_fixed_return_slot) unwound = 0;
    move_mark(mark, frames, index, reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)));
}

void remove_mark(Mark& mark, std::uintptr_t stack_pointer, bool is_found) noexcept {
    if (mark.slot == 0) return;
    // mark.slot may be 0 by now: backtrace() in a handler
    const std::uintptr_t slot = has_fixed_return_slot || !is_found ? standing_slot(mark, stack_pointer) : slot_of(mark);
    std::uintptr_t restored = slot == 0 ? 0 : mark.return_address;
    if (!has_fixed_return_slot && slot != 0) restored = stored_as(word(slot), mark_stub(), mark.return_address, end_of(mark), mark.signing);
    if (restored != 0) word(slot) = restored;
    const bool is_gone = restored != 0 && (has_fixed_return_slot || is_found);
    if (!is_gone && !is_about_to_stand(mark, stack_pointer)) note_loss(mark); // the one about to write it will see that it was removed
    ++mark.version;
    mark.moving = false;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    mark.slot = 0;
    mark.index = -1;
}

void restore_losses(const Mark& mark, std::uintptr_t stack_pointer) noexcept { put_back_losses(mark, stack_pointer); }

std::uintptr_t lift_mark(Mark& mark, std::uintptr_t stack_pointer) noexcept {
    const std::uintptr_t slot = slot_of(mark);
    const std::uintptr_t return_address = __atomic_load_n(&mark.return_address, __ATOMIC_RELAXED);
    if (slot == 0 || (has_fixed_return_slot && slot < stack_pointer)) return 0; // else it may be in the registers of what was interrupted
    const std::uintptr_t restored = stored_as(word(slot), mark_stub(), return_address, end_of(mark), mark.signing);
    if (restored == 0) return 0;
    mark.lifted = word(slot);
    mark.moving = true;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    word(slot) = restored;
    return slot;
}

void put_back_mark(Mark& mark, std::uintptr_t slot) noexcept {
    if (slot == 0) return;
    if (slot_of(mark) == slot) word(slot) = mark.lifted;
    end_move(mark, slot);
}

void jump_mark(Mark& mark, std::uintptr_t stack_pointer) noexcept {
    if (mark.slot == 0 || end_of(mark) > stack_pointer) return; // its frame lives on
    std::int32_t index = mark.index;
    remove_mark(mark, reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)), true);
    for (; index >= 0 && mark.frames[index].frame_end() <= stack_pointer; --index) note_return(mark, index);
    if (index < 0) return;
    // As if all these frames had returned: frames[index] belongs to the caller of the function that goes on.
    if (index + 2 < mark.fired) mark.fired = index + 2;
    move_mark(mark, mark.frames, index, stack_pointer - 8);
}

} // namespace libprofile

using namespace libprofile;

namespace {

/// The marked frame is left: puts the return address back and marks the next frame outwards. `slot` held the mark, of the frame that ends at `end`.
/// Returns the real return address.
[[gnu::always_inline]] inline std::uintptr_t pass_mark(Mark& mark, std::uintptr_t slot, std::uintptr_t end) {
    const unsigned version = mark.version;
    const std::uintptr_t return_address = mark.return_address;
    const std::int32_t index = mark.index;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (has_fixed_return_slot ? mark.slot != slot : end_of(mark) != end) [[unlikely]]
        return lost_return(mark, slot, end);
    ++mark.returns;
    if (index + 1 < mark.fired) mark.fired = index + 1;
    note_return(mark, index);
    mark.moving = true;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    word(slot) = return_address; // unwinders may come in the middle of the stub: asynchronous cancellation
    mark.slot = 0;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    const std::uintptr_t next = mark_outwards(mark, mark.frames, index - 1, end - 8);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    mark.moving = false;
    if (*const_cast<volatile unsigned*>(&mark.version) != version && next != 0) [[unlikely]] {
        // A signal handler of the application came in between and called MPI: `frames` has changed.
        if (word(next) == mark_stub()) word(next) = mark.return_address;
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
        mark.slot = 0;
        mark.index = -1;
    }
    return return_address;
}

} // namespace

/// Called by the stub. `slot` held the mark. Returns where to go on.
extern "C" [[gnu::visibility("hidden")]] IN_MARK_CODE std::uintptr_t libprofile_mark_fired(std::uintptr_t slot) {
    if constexpr (!has_fixed_return_slot) unwound = 0;
    return pass_mark(thread_local_block.mark, slot, slot + stub_frame_size);
}

/// Unwinders of exceptions and threads call this for the stub's frame before they read its return address. The thread has only one mark, so nothing
/// needs to be asked of the unwinder. A lost mark is put back, too.
///
/// An unwinder comes here when it looks for the handler of an exception, or leaves the frames of a thread that ends. It goes from the inside outwards,
/// and comes only if no inner frame handles the exception. So the frame is as good as left: the mark moves outwards as at a return. The unwinder
/// meets it there again, unless that function handles the exception. Then the mark is outside all frames that are left, and the second phase of
/// unwinding does not reach it.
extern "C" [[gnu::visibility("hidden")]] IN_MARK_CODE int libprofile_mark_personality(int, int, std::uint64_t, void*, void*) {
    constexpr int continue_unwinding = 8; // _URC_CONTINUE_UNWIND
    Mark& mark = thread_local_block.mark;
    put_back_losses(mark, reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)));
    if constexpr (!has_fixed_return_slot) {
        // The search crosses all frames inside. An exception that leaves hundreds of them takes the mark away, so as not to cross them hundreds of times.
        constexpr unsigned most = 64;
        const bool is_found = find_marks_outside(mark, reinterpret_cast<std::uintptr_t>(LIBPROFILE_OWN_FRAME));
        if (++unwound > most) {
            remove_mark(mark, reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)), is_found);
            return continue_unwinding;
        }
    }
    const std::uintptr_t slot = mark.slot, end = end_of(mark);
    const std::uintptr_t restored = slot == 0 ? 0 : stored_as(word(slot), mark_stub(), mark.return_address, end, mark.signing);
    if (restored != 0) {
        pass_mark(mark, slot, end);
        word(slot) = restored;
    }
    return continue_unwinding;
}
