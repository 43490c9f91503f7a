// The Loops block of the profile file: what was found of the time loop of a program that marks no iterations. One for the main
// thread of each rank that looked for it. The phases of the loops that were found have Phase blocks like all others.
// Contract: plain data; no allocation; `describe` runs with an Encoder or with a Decoder.
#pragma once

#include "format/codec.hpp"

#include <cstdint>

namespace libprofile {

/// Then per loop a LoopRecord; and behind these, per loop again, a LoopFunctionRecord; and again a LoopLevelRecord. Files of versions that had
/// none end before those.
struct LoopsRecord {
    std::uint64_t thread = 0;
    std::uint64_t searched_ns = 0; // from the first MPI call after MPI_Init to the end, or to the snapshot; 0: not known (early live files)
    std::uint64_t calls = 0;       // MPI calls that were followed
    std::uint64_t loops = 0;       // 0: none was found
};
template <class Codec> void describe(Codec& c, LoopsRecord& r) {
    c.number(r.thread);
    c.number(r.searched_ns);
    c.number(r.calls);
    c.number(r.loops);
}

enum LoopFlag : std::uint64_t {
    LoopIsReplaced = 1u << 0,  // by one around it that showed later: its iterations stay, but are not those of the time loop
    LoopIsLate = 1u << 1,      // passes before it was found are not told apart
    LoopByEntries = 1u << 2,   // a pass is an entry of the call site: no MPI call comes once in each
    LoopHasNoMarks = 1u << 3,  // without marks (LIBPROFILE_MARKS=0, or where there can be none) a loop around it in a caller may look like one with it
    LoopIsRecursion = 1u << 4, // the function calls itself for the next pass, from the place
    LoopIsCutShort = 1u << 5,  // passes of such a one lay too deep in the stack to be told apart
    LoopIsOpaque = 1u << 6,    // the machine code of its function is not understood: one call in it may be many in the program (interpreters)
    LoopIsNested = 1u << 7,    // it lies in another loop of its function, which makes no call of its own: that may be the time loop
    LoopMayMiss = 1u << 8,     // a pass may go by without the place, or return from there without the call, and nothing says that none does
    LoopIsCopied = 1u << 9, // the same calls come several times in a pass, the second time at the other offset: copies of one pass, if the compiler unrolled it
    LoopIsShort = 1u << 10, // its passes, `passes` of them between first_ns and last_ns, are too short to be iterations: it has no phase
};

/// A place in the code is that of a node of kind Frame: module, and ELF virtual address of the return address - 1.
struct LoopRecord {
    Text phase;    // its name
    Text build_id; // of the place where a pass begins; raw bytes
    Text path;
    std::uint64_t offset = 0;
    Text call; // the MPI function that is called there or below
    std::uint64_t flags = 0;
    std::uint64_t missed = 0; // passes before the first iteration
    std::uint64_t moves = 0;  // times the boundary was moved to a call that comes in every pass
    // Another call that may be the right one, for loops inside each other in one function; other_passes 0: there is none.
    std::uint64_t other_offset = 0; // in the same module
    std::uint64_t other_passes = 0; // in the calls that were looked at
    std::uint64_t passes = 0;       // of the place in these
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

/// By what readers tell that loops of different ranks are one, though ranks begin their passes at different places of it.
struct LoopFunctionRecord {
    std::uint64_t function = 0; // ELF virtual address, in the module of the place, where the loop's function begins; 0: not known
    std::uint64_t caller = 0;   // hash of the call path that leads to the function, the same in every process
    std::uint64_t first_ns = 0; // the first call of the first pass known, and the last one, since the search began
    std::uint64_t last_ns = 0;
};
template <class Codec> void describe(Codec& c, LoopFunctionRecord& r) {
    c.number(r.function);
    c.number(r.caller);
    c.number(r.first_ns);
    c.number(r.last_ns);
}

/// Of loops inside each other. Not there if there are none.
struct LoopLevelRecord {
    std::uint64_t around = 0; // the loop in whose passes this one is called: its position in the list + 1; 0: it is the outermost
};
template <class Codec> void describe(Codec& c, LoopLevelRecord& r) { c.number(r.around); }

/// Whether the passes of a loop are but the frame of those of a loop inside: that has most of their time. Then the inner ones are what is meant
/// by iterations.
constexpr bool is_frame_of(std::uint64_t inner_ns, std::uint64_t outer_ns) { return inner_ns / 2 >= outer_ns / 3; }

} // namespace libprofile
