// A marked return address: one word of the thread's stack that leads to a stub of ours instead of to the caller, so that we learn when its
// frame has returned. As long as a mark stands, all frames beyond it are the same activations as when it was placed. When its function
// returns, the mark moves on to the next frame by itself.
// Sources: Arnold and Sweeney, "Approximating the calling context tree via sampling" (2000); Froyd, Mellor-Crummey and
// Fowler, "Low-overhead call path profiling of unmodified, optimized code" (2005), section 4; Wei and Mellor-Crummey,
// "Using sample-based time series data for automated diagnosis of scalability losses" (section 3.1).
//
// Contract: a mark belongs to its thread, and all functions are for that thread only. They are async-signal-safe and allocate nothing.
// place_mark(), remove_mark() and mark_stands() run with the in-tool flag set; the stub and its handler do not. They run between two
// functions of the application and must touch nothing else, so the thread's signal handler leaves a mark alone when it has interrupted
// them (is_mark_code()).
//
// Where a return address may move while its function runs (AArch64), a mark is known by the end of its frame (arch/frame_end.hpp), and its slot is
// where it was last seen. A walk over the stack finds it again; a mark that cannot be found is remembered as lost, for its return.
#pragma once

#include "libprofile/callpath/arch/frame_end.hpp"
#include "libprofile/callpath/arch/machine.hpp"
#include "libprofile/callpath/arch/mark_stub.hpp"
#include "libprofile/callpath/raw_path.hpp"

#include <cstdint>

namespace libprofile {

/// One frame of a tracked call path.
struct TrackedFrame {
    std::uintptr_t address = 0; // look-up address, see RawPath
    std::uintptr_t slot = 0;    // where its return address lies, 0 if it has none
    std::uint32_t node = 0;     // of the call path that ends here
    SlotOrigin origin;
    bool markable = false;
    std::uint16_t python = 0; // number, from 1, of the PythonFrames activation that runs in it; 0 if none does
    [[no_unique_address]] FrameEnd end;
    std::uintptr_t frame_end() const noexcept { return end.of(slot); } // of the function that returns to it
};

/// The thread's only mark.
struct Mark {
    std::uintptr_t slot = 0;              // where it lies, or was last seen; 0 if there is none
    std::uintptr_t return_address = 0;    // the return address that it replaces
    std::uint32_t node = 0;               // of that frame, as in `frames`: MPI calls look at it (PathTracker::is_unchanged)
    std::int32_t index = -1;              // of the frame in `frames` that it returns to
    std::int32_t fired = 0;               // the number of frames, from the outermost, that stand since the last return through it
    const TrackedFrame* frames = nullptr; // outermost first; the mark moves along them
    std::uint64_t returns = 0;            // returns through the stub
    static constexpr std::int32_t never_fired = 0x7fffffff;

    // For a caller that asks when frames returned: times in processor ticks, by the frame that was returned to. nullptr if nobody asks.
    std::uint64_t* returned_at = nullptr;
    std::int32_t watched = 0; // has_returned is set when the mark passes into a frame outside this one
    bool has_returned = false;

    // Marks that were overwritten or jumped over. A copy of their stack may come back (see lost_return()).
    static constexpr unsigned kept_losses = has_fixed_return_slot ? 16 : 64;
    struct Loss {
        std::uintptr_t slot = 0;
        std::uintptr_t return_address = 0;
        [[no_unique_address]] FrameEnd end;
    } losses[kept_losses];
    unsigned next_loss = 0;
    bool moving = false;                // it is being placed, moved by the stub, or lifted (lift_mark())
    unsigned version = 0;               // changes whenever anything but the stub changes the mark or `frames`
    Signing signing = Signing::Unknown; // of the word in `slot`, when it was last seen there
    std::uintptr_t lifted = 0;          // that word, while the mark is lifted
    [[no_unique_address]] FrameEnd end;

    /// The `slot` of a mark that is in a register, or in one that was saved for a moment: it holds no mark.
    static inline const std::uintptr_t unknown_slot = 0;
};

/// A handler of the application may change it at any moment, by what it does to the stack: to be read once.
inline std::uintptr_t slot_of(const Mark& mark) noexcept { return __atomic_load_n(&mark.slot, __ATOMIC_RELAXED); }

inline std::uintptr_t end_of(const Mark& mark) noexcept { return mark.end.of(slot_of(mark)); }

/// Returns true if it cannot be told from the slot whether the mark stands, seen from a frame whose stack ends at `stack_pointer`: a walk will tell.
inline bool may_have_moved(const Mark& mark, std::uintptr_t stack_pointer) noexcept {
    return !has_fixed_return_slot && slot_of(mark) != 0 && end_of(mark) >= stack_pointer;
}

/// Returns true if a signal handler of the application interrupted a move of the mark, before it was written or after it was removed.
inline bool is_about_to_stand(const Mark& mark, std::uintptr_t stack_pointer) noexcept {
    const std::uintptr_t slot = slot_of(mark);
    return mark.moving && slot >= stack_pointer && *reinterpret_cast<const std::uintptr_t*>(slot) == mark.return_address;
}
/// Returns the return address of the frame that ends at `end` if a mark was lost there, else 0.
inline std::uintptr_t lost_return_address(const Mark& mark, std::uintptr_t end) noexcept {
    for (unsigned i = 0; i < Mark::kept_losses; ++i) {
        const Mark::Loss& loss = mark.losses[(mark.next_loss - 1 - i) % Mark::kept_losses];
        if (loss.end.of(loss.slot) == end) return loss.return_address;
    }
    return 0;
}
/// Remembers the mark, for a return or an unwinder that reaches it later.
inline void note_loss(Mark& mark) noexcept {
    if (lost_return_address(mark, end_of(mark)) == mark.return_address) return; // it is the newest one in that slot
    mark.losses[mark.next_loss % Mark::kept_losses] = {mark.slot, mark.return_address, mark.end};
    mark.next_loss = (mark.next_loss + 1) % Mark::kept_losses;
}

/// Returns the return address of the frame that ends at `end` if it has the mark of any thread, else 0. Use it only when all else has failed.
/// The session sets it before it begins to measure.
using FindMark = std::uintptr_t (*)(std::uintptr_t end) noexcept;
extern FindMark return_address_of_any_mark;

/// Returns true if this machine and this thread allow return addresses to be changed: not under a shadow stack.
bool are_marks_possible() noexcept;

/// Returns the slot if the mark is where it was placed, seen from a frame whose stack ends at `stack_pointer`, else 0.
inline std::uintptr_t standing_slot(const Mark& mark, std::uintptr_t stack_pointer) noexcept {
    const std::uintptr_t slot = slot_of(mark);
    return slot >= stack_pointer && slot != 0 && *reinterpret_cast<const std::uintptr_t*>(slot) == mark_stub() ? slot : 0;
}
inline bool mark_stands(const Mark& mark, std::uintptr_t stack_pointer) noexcept { return standing_slot(mark, stack_pointer) != 0; }

/// Marks the innermost markable frame, from `index` outwards. There must be no mark.
void place_mark(Mark& mark, const TrackedFrame* frames, std::int32_t index) noexcept;

/// Removes the mark: restores the return address if the mark stands, else forgets it. `is_found`: it was just seen in its slot, and nowhere else. Where
/// it may have moved, it is otherwise remembered as lost, too.
void remove_mark(Mark& mark, std::uintptr_t stack_pointer, bool is_found = has_fixed_return_slot) noexcept;

/// Restores the return addresses of lost marks that still stand, seen from a frame whose stack ends at `stack_pointer`. For callers that
/// are about to read return addresses.
void restore_losses(const Mark& mark, std::uintptr_t stack_pointer) noexcept;

/// Lifts a standing mark for a short time. Returns its slot, or 0. put_back_mark() restores it, unless a handler of the application has had
/// it removed meanwhile.
std::uintptr_t lift_mark(Mark& mark, std::uintptr_t stack_pointer) noexcept;
void put_back_mark(Mark& mark, std::uintptr_t slot) noexcept;

/// The thread is about to continue at `stack_pointer` and to leave all frames inside of that: moves the mark out there.
void jump_mark(Mark& mark, std::uintptr_t stack_pointer) noexcept;

/// Where a mark may have moved: finds it again for the calling thread, as `slot` then tells, and restores return addresses of lost marks on the way.
/// For callers that want the mark away because others will read the stack. `frame`: LIBPROFILE_OWN_FRAME of the caller; find_marks() (frame_walk.hpp)
/// begins elsewhere. Returns false if it was not found, or may be in a register, too.
bool find_marks_outside(Mark& mark, std::uintptr_t frame) noexcept;

/// Returns where longjmp(environment) continues, or 0 if unknown.
std::uintptr_t longjmp_target(const void* environment) noexcept;

} // namespace libprofile
