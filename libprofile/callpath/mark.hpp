// A marked return address: one word of the thread's stack that leads to a stub of ours instead of to the caller, so that
// we learn when the frame it belongs to has returned. As long as a mark stands, all frames beyond it are the same
// activations as when it was placed. When its function returns, the mark moves on to the next frame by itself.
// Sources: Arnold and Sweeney, "Approximating the calling context tree via sampling" (2000); Froyd, Mellor-Crummey and
// Fowler, "Low-overhead call path profiling of unmodified, optimized code" (2005), section 4; Wei and Mellor-Crummey,
// "Using sample-based time series data for automated diagnosis of scalability losses" (section 3.1).
//
// Contract: a mark belongs to its thread; every function is for that thread only, async-signal-safe and allocates nothing.
// place(), remove() and stands() run with the in-tool flag set. The stub and its handler run without: code in between two
// functions of the application must touch nothing else, so the signal handler of the thread leaves a mark alone when it
// has interrupted them (is_mark_code()).
//
// The interface is the same for every architecture; where there is no implementation, are_marks_possible() is false and no
// mark ever stands (arch/unavailable_marks.cpp).
#pragma once

#include "libprofile/callpath/raw_path.hpp"

#include <cstdint>

namespace libprofile {

/// One frame of a tracked call path.
struct TrackedFrame {
    std::uintptr_t address = 0; // look-up address, see RawPath
    std::uintptr_t slot = 0;    // where its return address lies, 0: nowhere
    std::uint32_t node = 0;     // of the call path that ends here
    SlotOrigin origin;
    bool markable = false;
};

/// The thread's only mark.
struct Mark {
    std::uintptr_t slot = 0;              // where it lies; 0: there is none
    std::uintptr_t return_address = 0;    // what belongs there
    std::uint32_t node = 0;               // of that frame, as in `frames`: MPI calls look at it (PathTracker::is_unchanged)
    std::int32_t index = -1;              // of the frame in `frames` that it returns to
    std::int32_t fired = 0;               // how many frames, counted from the outermost, stand since the last return through it
    const TrackedFrame* frames = nullptr; // outermost first: where it moves on to
    std::uint64_t returns = 0;            // through the stub
    static constexpr std::int32_t never_fired = 0x7fffffff;

    // For who wants to know when frames returned: by frame that they returned to, in ticks of the processor. nullptr: nobody.
    std::uint64_t* returned_at = nullptr;
    std::int32_t watched = 0; // who watches is told when the mark passes into a frame outside of this one
    bool has_returned = false;

    // Marks that were overwritten or jumped over; a copy of their stack may come back (see lost_return()).
    static constexpr unsigned kept_losses = 16;
    struct Loss {
        std::uintptr_t slot = 0;
        std::uintptr_t return_address = 0;
    } losses[kept_losses];
    unsigned next_loss = 0;
    bool moving = false;  // it is being placed, moved by the stub, or out of sight for a moment (lift_mark())
    unsigned version = 0; // changes whenever somebody else than the stub changes the mark or `frames`
};

/// A signal handler of the application has interrupted whoever moves the mark before it was written, or after it was taken away.
inline bool is_about_to_stand(const Mark& mark, std::uintptr_t stack_pointer) noexcept {
    return mark.moving && mark.slot >= stack_pointer && *reinterpret_cast<const std::uintptr_t*>(mark.slot) == mark.return_address;
}
/// What belongs into `slot`, if a mark was lost there; else 0.
inline std::uintptr_t lost_return_address(const Mark& mark, std::uintptr_t slot) noexcept {
    for (unsigned i = 0; i < Mark::kept_losses; ++i) {
        const Mark::Loss& loss = mark.losses[(mark.next_loss - 1 - i) % Mark::kept_losses];
        if (loss.slot == slot) return loss.return_address;
    }
    return 0;
}
/// Remembers the mark for a return or an unwinder that comes to it later.
inline void note_loss(Mark& mark) noexcept {
    if (lost_return_address(mark, mark.slot) == mark.return_address) return; // the newest one of that slot
    mark.losses[mark.next_loss % Mark::kept_losses] = {mark.slot, mark.return_address};
    mark.next_loss = (mark.next_loss + 1) % Mark::kept_losses;
}

/// Returns what belongs into `slot` if it holds the mark of any thread, else 0. Asked where all else has failed. The list of threads
/// (thread/thread_registry.cpp) sets it before the first mark.
using FindMark = std::uintptr_t (*)(std::uintptr_t slot) noexcept;
extern FindMark return_address_of_any_mark;

/// Whether this machine and this thread allow return addresses to be changed: not under a shadow stack.
bool are_marks_possible() noexcept;

#if defined(__x86_64__)
extern "C" [[gnu::visibility("hidden")]] void libprofile_mark_stub();
extern "C" [[gnu::visibility("hidden")]] const char __start_libprofile_marks[];
extern "C" [[gnu::visibility("hidden")]] const char __stop_libprofile_marks[];

/// What a marked return address holds.
inline std::uintptr_t mark_stub() noexcept { return reinterpret_cast<std::uintptr_t>(&libprofile_mark_stub); }

/// `address` lies in the stub or its handler.
inline bool is_mark_code(std::uintptr_t address) noexcept {
    return address >= reinterpret_cast<std::uintptr_t>(__start_libprofile_marks) && address < reinterpret_cast<std::uintptr_t>(__stop_libprofile_marks);
}
#else
inline std::uintptr_t mark_stub() noexcept { return 1; } // no return address
inline bool is_mark_code(std::uintptr_t) noexcept { return false; }
#endif

/// Whether the mark is where it was put, seen from a frame whose stack ends at `stack_pointer`.
inline bool mark_stands(const Mark& mark, std::uintptr_t stack_pointer) noexcept {
    return mark.slot >= stack_pointer && mark.slot != 0 && *reinterpret_cast<const std::uintptr_t*>(mark.slot) == mark_stub();
}

/// Marks the innermost frame that may be marked, from `index` outwards. There must be no mark.
void place_mark(Mark& mark, const TrackedFrame* frames, std::int32_t index) noexcept;

/// Takes the mark away: puts the return address back if it stands, forgets it otherwise.
void remove_mark(Mark& mark, std::uintptr_t stack_pointer) noexcept;

/// Puts back what belongs where marks were lost that still stand, seen from a frame whose stack ends at `stack_pointer`: for whoever is about to
/// read return addresses.
void restore_losses(const Mark& mark, std::uintptr_t stack_pointer) noexcept;

/// Takes a mark that stands out of somebody's sight for a moment: returns its slot, or 0. put_back_mark() puts it there again,
/// unless a handler of the application has had it taken away meanwhile.
std::uintptr_t lift_mark(Mark& mark, std::uintptr_t stack_pointer) noexcept;
void put_back_mark(Mark& mark, std::uintptr_t slot) noexcept;

/// The thread is about to go on at `stack_pointer`, whatever is inside of that being left: moves the mark out there.
void jump_mark(Mark& mark, std::uintptr_t stack_pointer) noexcept;

/// Where longjmp(environment) goes on; 0: not known.
std::uintptr_t longjmp_target(const void* environment) noexcept;

} // namespace libprofile
