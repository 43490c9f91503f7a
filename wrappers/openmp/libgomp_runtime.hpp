// The functions of GCC's OpenMP runtime as libgomp.cpp and libgomp_tasks.cpp need them: the runtime's own ones, and what it answers.
// Contract: thread-safe, usable before our constructor. The first call looks all of them up.
#pragma once

#include "libprofile/events/openmp_events.hpp"
#include "wrappers/openmp/ompt.hpp"

#include <cstdint>

namespace libprofile::libgomp {

using Outlined = void (*)(void*);

enum Entry : unsigned {
#define REGION(name, version, result, parameters, arguments) Entry_##name,
#define WAIT(name, version, construct, result, parameters, arguments) Entry_##name,
#define LOCK(name, version, construct, test) Entry_##name, Entry_##test,
#include "wrappers/openmp/libgomp_entries.def"
#undef REGION
#undef WAIT
#undef LOCK
    Entry_GOMP_task,
    Entry_GOMP_taskloop,
    Entry_GOMP_taskloop_ull,
    Entry_GOMP_taskgroup_start,
    Entry_GOMP_taskgroup_end,
    EntryCount
};

extern void* real_entries[EntryCount];
extern const void* runtime; // where the module of real_entries lies
void* resolve(Entry wanted) noexcept;
inline void* real(Entry entry) noexcept {
    void* found = __atomic_load_n(&real_entries[entry], __ATOMIC_ACQUIRE);
    return found != nullptr ? found : resolve(entry);
}

/// What that module answers by functions of OpenMP.
using Question = int (*)();
extern Question team_size, level, in_final, cancellation;
inline int ask(const Question& question, int if_unknown) noexcept {
    const Question known = __atomic_load_n(&question, __ATOMIC_ACQUIRE);
    return known != nullptr ? known() : if_unknown;
}
/// The calling thread is all of the team that it works in: it cannot wait for others there.
inline bool is_alone() noexcept { return ask(team_size, 0) == 1; }

/// A runtime that has OMPT reports its regions itself; another one may be in the process, too.
inline bool tells_itself() noexcept { return ompt_tells_of(__atomic_load_n(&runtime, __ATOMIC_RELAXED)); }
inline bool is_measured() noexcept { return openmp_is_recorded() && !tells_itself(); }

/// The first address in `room` that is aligned so.
inline char* align_in(void* room, std::size_t align) noexcept {
    return static_cast<char*>(room) + (align - reinterpret_cast<std::uintptr_t>(room) % align) % align;
}

} // namespace libprofile::libgomp

#define PUBLIC extern "C" [[gnu::visibility("default")]]
#define VERSIONED(name, version) __asm__(".symver libprofile_" #name ", " #name "@" #version ", remove");
