// Compiled with -mgeneral-regs-only; all of it lies in the section libprofile_marks.
#include "libprofile/callpath/marks/mark.hpp"

#include "libprofile/session/messages.hpp"
#include "libprofile/session/thread.hpp"

#include <cstdlib>
#include <sys/syscall.h>
#include <unistd.h>

#define IN_MARK_CODE [[gnu::section("libprofile_marks")]]

namespace libprofile {

namespace {

[[gnu::always_inline]] inline std::uintptr_t& word(std::uintptr_t address) {
    return *reinterpret_cast<std::uintptr_t*>(address);
}

/// The state first, the word last: a mark that is not there yet does no harm.
[[gnu::always_inline]] inline void mark_outwards(Mark& mark, const TrackedFrame* frames, std::int32_t index,
                                                 std::uintptr_t stack_pointer) {
    for (; index >= 0; --index) {
        const TrackedFrame& frame = frames[index];
        if (frame.markable == 0 || frame.slot <= stack_pointer || word(frame.slot) != frame.address + 1) continue;
        mark.return_address = frame.address + 1;
        mark.index = index;
        mark.slot = frame.slot;
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
        word(frame.slot) = mark_stub();
        return;
    }
    mark.index = -1;
}

/// A return through a stub that is not the thread's mark: a copy of the stack was put back, or another thread runs on it.
/// What was known of the word must still be true; guessing would be worse than ending.
IN_MARK_CODE [[gnu::noinline, gnu::cold]] std::uintptr_t lost_return(const Mark& mark, std::uintptr_t slot) {
    for (unsigned i = 0; i < Mark::kept_losses; ++i) {
        const Mark::Loss& loss = mark.losses[(mark.next_loss - 1 - i) % Mark::kept_losses];
        if (loss.slot == slot) return loss.return_address;
    }
    const std::uintptr_t others = return_address_of_any_mark(slot);
    if (others != 0) return others;
    say("error: the program changes stacks in a way that libprofile cannot follow; run it with LIBPROFILE_MARKS=0");
    std::abort();
}

} // namespace

bool are_marks_possible() noexcept {
    // ARCH_SHSTK_STATUS: a return address that was changed would end the program.
    constexpr int shadow_stack_status = 0x5005;
    unsigned long status = 0;
    return syscall(SYS_arch_prctl, shadow_stack_status, &status) != 0 || (status & 1) == 0;
}

void place_mark(Mark& mark, const TrackedFrame* frames, std::int32_t index) noexcept {
    mark.frames = frames;
    mark.fired = Mark::never_fired;
    mark_outwards(mark, frames, index, reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)));
}

void remove_mark(Mark& mark, std::uintptr_t stack_pointer) noexcept {
    if (mark.slot == 0) return;
    if (mark_stands(mark, stack_pointer)) {
        word(mark.slot) = mark.return_address;
    } else {
        mark.losses[mark.next_loss % Mark::kept_losses] = {mark.slot, mark.return_address};
        mark.next_loss = (mark.next_loss + 1) % Mark::kept_losses;
    }
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    mark.slot = 0;
    mark.index = -1;
}

void jump_mark(Mark& mark, std::uintptr_t stack_pointer) noexcept {
    if (mark.slot == 0 || mark.slot >= stack_pointer) return; // its frame lives on
    std::int32_t index = mark.index;
    remove_mark(mark, reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)));
    while (index >= 0 && mark.frames[index].slot < stack_pointer) --index;
    if (index < 0) return;
    // As if all these frames had returned: the one that goes on is the callee's of frames[index].
    if (index + 2 < mark.fired) mark.fired = index + 2;
    mark_outwards(mark, mark.frames, index, stack_pointer - 8);
}

/// glibc keeps the stack pointer in word 6, rotated and mixed with a secret of the thread (sysdeps/x86_64/setjmp.S).
std::uintptr_t longjmp_target(const void* environment) noexcept {
    std::uintptr_t target = static_cast<const std::uintptr_t*>(environment)[6];
    __asm__("rorq $17, %0\n\txorq %%fs:0x30, %0" : "+r"(target) : : "cc");
    return target;
}

} // namespace libprofile

using namespace libprofile;

/// Called by the stub. `slot`: where the mark was. Returns where to go on.
extern "C" [[gnu::visibility("hidden")]] IN_MARK_CODE std::uintptr_t libprofile_mark_fired(std::uintptr_t slot) {
    Mark& mark = thread_local_block.mark;
    if (mark.slot != slot) [[unlikely]] return lost_return(mark, slot);
    const std::uintptr_t return_address = mark.return_address;
    const std::int32_t index = mark.index;
    ++mark.returns;
    if (index + 1 < mark.fired) mark.fired = index + 1;
    mark.slot = 0;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    mark_outwards(mark, mark.frames, index - 1, slot);
    return return_address;
}

/// Called by unwinders of exceptions and threads for the stub's frame, before they read its return address. The thread has
/// only one mark, so nothing needs to be asked of the unwinder, whichever it is.
extern "C" [[gnu::visibility("hidden")]] IN_MARK_CODE int libprofile_mark_personality(int, int, std::uint64_t, void*, void*) {
    constexpr int continue_unwinding = 8; // _URC_CONTINUE_UNWIND
    Mark& mark = thread_local_block.mark;
    if (mark.slot != 0) {
        word(mark.slot) = mark.return_address;
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
        mark.slot = 0;
        mark.index = -1;
    }
    return continue_unwinding;
}
