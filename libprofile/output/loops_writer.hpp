// The Loops block of the main thread (format/loops.hpp).
// Contract: as for serializer.hpp.
#pragma once

#include "format/loops.hpp"
#include "libprofile/base/function_records.hpp"
#include "libprofile/callpath/load_map.hpp"
#include "libprofile/callpath/python_names.hpp"
#include "libprofile/code/patch.hpp"
#include "libprofile/loops/loop_watch.hpp"
#include "libprofile/thread/thread.hpp"

namespace libprofile {

/// Returns the address at which the function with this call site begins, of one of Python the id of its name; 0 if it is unknown, or no longer known.
inline std::uint64_t function_of(const Node& place) noexcept {
    if (place.kind == NodeKind::Python) return place.b;
    if (place.kind != NodeKind::Frame) return 0;
    const Module& module = load_map[place.a];
    CodeRange range;
    if (load_map.find(module.bias + place.b) != place.a || !find_function_code(module.bias + place.b, range)) return 0;
    return range.start - module.bias;
}

inline LoopRecord loop_at(const Node& place) noexcept {
    LoopRecord out;
    if (place.kind == NodeKind::Frame) {
        const Module& module = load_map[place.a];
        out.build_id = Text(reinterpret_cast<const char*>(module.build_id), module.build_id_size);
        out.path = module.path;
    } else if (place.kind == NodeKind::Python) {
        out.path = python_names.file(place.b);
        out.flags = LoopIsPython;
    }
    out.offset = place_in_code(place);
    return out;
}

/// One such call in this many is ignored: each can join two passes at most.
constexpr std::uint64_t bounded_calls_ignored = 1024;

/// `now`: when the file was begun, for a running thread; else 0.
inline void write_loops(Encoder& encoder, const Thread& thread, std::uint64_t now) noexcept {
    const LoopWatch& watch = *thread.loops;
    const std::uint64_t searched_ns = now > watch.began_at() ? now - watch.began_at() : watch.searched_ns();
    LoopCandidate too_short;
    const bool is_too_short = watch.find_short(too_short); // only if no loop was found
    LoopsRecord record{thread.index, searched_ns, watch.calls(), watch.loop_count() + (is_too_short ? 1u : 0u)};
    describe(encoder, record);
    // For some calls it was unknown what had returned before: for example because the program's unwinders permit no mark.
    const bool is_bounded = thread.paths.bounded_calls() > watch.calls() / bounded_calls_ignored;
    for (std::uint32_t i = 0; i < watch.loop_count(); ++i) {
        const LoopWatch::Found& loop = watch.loop(i);
        LoopRecord out = loop_at(thread.tree[loop.site]);
        out.phase = loop.phase;
        if (loop.start != 0) out.call = mpi_functions[thread.tree[loop.start].a].name;
        out.flags |= (loop.is_replaced ? std::uint64_t{LoopIsReplaced} : 0) | (loop.is_late ? std::uint64_t{LoopIsLate} : 0) |
                     (loop.start == 0 && !loop.is_recursion ? std::uint64_t{LoopByEntries} : 0) | (loop.is_recursion ? std::uint64_t{LoopIsRecursion} : 0) |
                     (loop.is_cut_short ? std::uint64_t{LoopIsCutShort} : 0) | (loop.is_opaque ? std::uint64_t{LoopIsOpaque} : 0) |
                     (loop.is_nested ? std::uint64_t{LoopIsNested} : 0) | (loop.may_miss ? std::uint64_t{LoopMayMiss} : 0) |
                     (loop.is_copied ? std::uint64_t{LoopIsCopied} : 0) | (loop.is_costly ? std::uint64_t{LoopIsCostly} : 0) |
                     (marks_mode() == MarksChoice::Off || is_bounded ? std::uint64_t{LoopHasNoMarks} : 0);
        out.missed = loop.missed;
        out.moves = loop.moves;
        out.passes = loop.passes;
        if (loop.other != 0 && is_call_site(thread.tree[loop.other_site])) {
            out.other_offset = place_in_code(thread.tree[loop.other_site]);
            out.other_passes = loop.other_passes;
        }
        describe(encoder, out);
    }
    if (is_too_short) {
        LoopRecord out = loop_at(thread.tree[too_short.entries.site]);
        out.phase = "";
        out.flags |= LoopByEntries | LoopIsShort;
        out.passes = too_short.entries.repeats();
        describe(encoder, out);
    }
    const auto since = [&](std::uint64_t at) { return at > watch.began_at() ? at - watch.began_at() : 0; };
    for (std::uint32_t i = 0; i < watch.loop_count(); ++i) {
        const LoopWatch::Found& loop = watch.loop(i);
        LoopFunctionRecord out{function_of(thread.tree[loop.site]), thread.tree[loop.caller].path_hash[0], since(loop.first_at), since(loop.until)};
        describe(encoder, out);
    }
    if (is_too_short) {
        const Entries& entries = too_short.entries;
        LoopFunctionRecord out{function_of(thread.tree[entries.site]), thread.tree[too_short.caller].path_hash[0], since(entries.first_at),
                               since(entries.last_at)};
        describe(encoder, out);
    }
    for (std::uint32_t i = 0; watch.has_levels() && i < watch.loop_count(); ++i) {
        LoopLevelRecord out{watch.loop(i).inside == LoopWatch::none ? 0 : watch.loop(i).inside + 1};
        describe(encoder, out);
    }
}

} // namespace libprofile
