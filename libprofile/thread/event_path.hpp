// The common part of events (calls of MPI or of an OpenMP runtime): their usual duration, and their call path from the frame of the wrapper, which
// is remembered or found by a walk.
// Contract: for the calling thread, with its in-tool flag set; not in signal handlers; memory from the thread's arena.
#pragma once

#include "libprofile/callpath/load_map.hpp"
#include "libprofile/thread/thread.hpp"

namespace libprofile {

/// Updates the usual duration of an event by one that took `ns`.
inline void learn_duration(std::uint32_t& typical, std::uint64_t ns) noexcept {
    const std::int64_t change = static_cast<std::int64_t>(ns < UINT32_MAX ? ns : UINT32_MAX) - typical;
    typical = static_cast<std::uint32_t>(typical + change / 4);
}

/// Whether the call's node is known without a walk over the stack. `python`: PathTracker::python_at().
inline bool is_path_known(const Thread& thread, const KnownPath& known, unsigned function_id, const void* return_address, std::uintptr_t frame,
                          std::uint64_t python) noexcept {
    return known.return_address == return_address && known.python == python && known.function == function_id && thread.paths.is_unchanged(known, frame);
}

/// Returns the path of the call if it is known without a walk, else nullptr.
inline KnownPath* find_known_path(Thread& thread, unsigned function_id, const void* return_address, std::uintptr_t frame) noexcept {
    if (thread.known_paths.is_empty()) [[unlikely]]
        return nullptr;
    const std::uint64_t python = thread.paths.python_at(frame);
    KnownPathTable& paths = thread.known_paths;
    const Mark& mark = own_mark();
    const NodeId marked = mark.node;
    const std::uint32_t set = paths.set_of(return_address, frame, python, marked);
    KnownPath* found = &paths.expected(set);
    if (is_path_known(thread, *found, function_id, return_address, frame, python)) [[likely]] {
        paths.pass(set, *found);
    } else {
        paths.miss(marked); // unless it is found
        if (!mark_stands(mark, frame)) return nullptr;
        const std::uint32_t epoch = load_map.epoch();
        std::uint32_t way = 0;
        for (; way != KnownPathTable::ways; ++way) {
            found = &paths.path(set, way);
            if (found->return_address != return_address || found->python != python || found->function != function_id) continue;
            if (found->frame == frame && found->epoch == epoch && thread.paths.leads_to_mark(*found, frame, mark)) break;
        }
        if (way == KnownPathTable::ways) return nullptr;
        paths.pass_unexpected(set, way);
    }
    ++thread.paths_repeated;
    if (python > PythonFrames::unknown) [[unlikely]]
        thread.paths.see_known_python();
    return found;
}

/// Remembers the path of a call that a walk has found as `node`. Returns nullptr if memory is short.
inline KnownPath* remember_path(Thread& thread, unsigned function_id, const void* return_address, std::uintptr_t frame, NodeId node) noexcept {
    KnownPathTable& paths = thread.known_paths;
    KnownPath* known = paths.replace(return_address, frame, thread.paths.python_of_path(), paths.missed_at(), thread.tree, thread.arena);
    if (known == nullptr) return nullptr;
    known->return_address = return_address;
    known->function = static_cast<std::uint16_t>(function_id);
    known->row_generation = 0;
    known->typical_ns = thread.tree[node].typical_ns;
    thread.paths.remember(*known, frame, node);
    return known;
}

/// Finds the path of a call of `kind` by a walk over the stack. Returns the remembered path, nullptr if memory is short.
inline KnownPath* walk_to_event(Thread& thread, NodeKind kind, unsigned function_id, const void* return_address, std::uintptr_t frame, NodeId& node) noexcept {
    node = thread.tree.child(thread.paths.at_call(frame), kind, function_id, 0);
    return remember_path(thread, function_id, return_address, frame, node);
}

} // namespace libprofile
