// The Loops block of the profile file: the time loop that was found in a program that marks no iterations. One for the main thread of each rank
// that searched. Phases of found loops have Phase blocks like all others.
// Contract: plain data; no allocation; `describe` runs with an Encoder or a Decoder.
#pragma once

#include "format/codec.hpp"

#include <cstdint>

namespace libprofile {

/// Followed by a LoopRecord per loop, then a LoopFunctionRecord per loop, then a LoopLevelRecord per loop. Files of earlier versions end before
/// the latter.
struct LoopsRecord {
    std::uint64_t thread = 0;
    std::uint64_t searched_ns = 0; // from the first MPI call after MPI_Init to the end or the snapshot; 0 if unknown (early live files)
    std::uint64_t calls = 0;       // MPI calls that the search saw
    std::uint64_t loops = 0;       // 0 if none was found
};
template <class Codec> void describe(Codec& c, LoopsRecord& r) {
    c.number(r.thread);
    c.number(r.searched_ns);
    c.number(r.calls);
    c.number(r.loops);
}

enum LoopFlag : std::uint64_t {
    LoopIsReplaced = 1u << 0,  // by a loop around it that was found later: its iterations stay, but are not those of the time loop
    LoopIsLate = 1u << 1,      // passes before it was found cannot be distinguished
    LoopByEntries = 1u << 2,   // a pass is an entry of the call site, because no MPI call occurs once in each
    LoopHasNoMarks = 1u << 3,  // without marks (LIBPROFILE_MARKS=0, or marks are impossible), a loop around it in a caller may look like one with it
    LoopIsRecursion = 1u << 4, // the function calls itself at the call site for the next pass
    LoopIsCutShort = 1u << 5,  // passes of such a recursion lay too deep in the stack to be distinguished
    LoopIsOpaque = 1u << 6,    // the machine code of its function is not understood: one call in it may be many in the program (interpreters)
    LoopIsNested = 1u << 7,    // it lies in another loop of its function, which makes no call of its own: that may be the time loop
    LoopMayMiss = 1u << 8,     // a pass may leave out the call site, or the MPI call below it; nothing rules that out
    LoopIsCopied = 1u << 9,  // the same calls come several times in a pass, the second time at the other offset: copies of one pass if the compiler unrolled it
    LoopIsShort = 1u << 10,  // its passes, `passes` of them between first_ns and last_ns, are too short to be iterations: it has no phase
    LoopIsPython = 1u << 11, // its function is one of Python: `path` is the file, offsets are lines, and `function` is the id of its name (regions.hpp)
    LoopIsCostly = 1u << 12, // it was given up, since the ends of its passes took a fifth of the time: later ones are in no iteration
};

/// Code addresses are those of a node of kind Frame: module, and ELF virtual address of the return address - 1.
struct LoopRecord {
    Text phase;    // its name
    Text build_id; // of the module of the call site where a pass begins; raw bytes
    Text path;
    std::uint64_t offset = 0;
    Text call; // the MPI function that is called there or below
    std::uint64_t flags = 0;
    std::uint64_t missed = 0; // passes before the first iteration
    std::uint64_t moves = 0;  // times that the start was moved to a call that occurs in every pass
    // Another call that may be the right one, for nested loops in one function; other_passes is 0 if there is none.
    std::uint64_t other_offset = 0; // in the same module
    std::uint64_t other_passes = 0; // in the calls that were examined
    std::uint64_t passes = 0;       // of this call site in these calls
};
template <class Codec> void describe(Codec& c, LoopRecord& r) {
    c.text(r.phase);
    c.text(r.build_id);
    c.text(r.path);
    c.number(r.offset);
    c.text(r.call);
    c.number(r.flags);
    c.number(r.missed);
    c.number(r.moves);
    c.number(r.other_offset);
    c.number(r.other_passes);
    c.number(r.passes);
}

/// Readers use this to recognise a loop in several ranks, even if ranks begin their passes at different calls in it.
struct LoopFunctionRecord {
    std::uint64_t function = 0; // ELF virtual address, in the call site's module, where the loop's function begins; 0 if unknown
    std::uint64_t caller = 0;   // hash of the call path that leads to the function, equal in every process
    std::uint64_t first_ns = 0; // the first and last call of known passes, since the search began
    std::uint64_t last_ns = 0;
};
template <class Codec> void describe(Codec& c, LoopFunctionRecord& r) {
    c.number(r.function);
    c.number(r.caller);
    c.number(r.first_ns);
    c.number(r.last_ns);
}

/// For nested loops. Absent if there are none.
struct LoopLevelRecord {
    std::uint64_t around = 0; // the loop in whose passes this one is called: its index in the list + 1; 0 for the outermost
};
template <class Codec> void describe(Codec& c, LoopLevelRecord& r) { c.number(r.around); }

/// Returns true if the passes of a loop only frame those of an inner loop, which has most of their time. Then the inner passes are the
/// iterations.
constexpr bool is_frame_of(std::uint64_t inner_ns, std::uint64_t outer_ns) { return inner_ns / 2 >= outer_ns / 3; }

} // namespace libprofile
