// Interposed: the entry points of GCC's OpenMP runtime in libgomp.def, GOMP_task and GOMP_taskloop*.
// Contract: thread-safe, usable before our constructor; while nothing is recorded each is one test and a jump more. Results, and the
// program's own data, are the runtime's.
//
// The names have the runtime's own symbol versions, not as the default ones: the run-time loader gives them to programs that ask for these
// versions, link editors bind no program to them. A program that was linked with another runtime asks for that one's.

#include "libprofile/base/messages.hpp"
#include "libprofile/events/openmp_events.hpp"
#include "wrappers/openmp/ompt.hpp"

#include <alloca.h>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <new>

namespace libprofile {

namespace {

using Outlined = void (*)(void*);

enum Entry : unsigned {
#define REGION(name, version, result, parameters, arguments) Entry_##name,
#define WAIT(name, version, construct, result, parameters, arguments) Entry_##name,
#define LOCK(name, version, construct, test) Entry_##name, Entry_##test,
#include "wrappers/openmp/libgomp.def"
#undef REGION
#undef WAIT
#undef LOCK
    Entry_GOMP_task,
    Entry_GOMP_taskloop,
    Entry_GOMP_taskloop_ull,
    EntryCount
};
struct EntryName {
    const char* name;
    const char* version;
};
constexpr EntryName entry_names[] = {
#define REGION(name, version, result, parameters, arguments) {#name, #version},
#define WAIT(name, version, construct, result, parameters, arguments) {#name, #version},
#define LOCK(name, version, construct, test) {#name, #version}, {#test, #version},
#include "wrappers/openmp/libgomp.def"
#undef REGION
#undef WAIT
#undef LOCK
    {"GOMP_task", "GOMP_2.0"},
    {"GOMP_taskloop", "GOMP_4.5"},
    {"GOMP_taskloop_ull", "GOMP_4.5"},
};
void* real_entries[EntryCount];
const void* runtime = nullptr; // where the module of real_entries lies
using TeamSize = int (*)();
TeamSize team_size = nullptr; // that module's omp_get_num_threads()

void* look_up(void* handle, const EntryName& entry) {
    void* found = dlvsym(handle, entry.name, entry.version);
    return found != nullptr ? found : dlsym(handle, entry.name);
}

/// The runtime's own function, wherever it was loaded: by a plugin, it may be in no scope that we can see.
void* find_entry(const EntryName& entry) {
    void* found = look_up(RTLD_NEXT, entry);
    for (const char* library : {"libgomp.so.1", "libomp.so.5", "libomp.so", "libiomp5.so"}) {
        if (found != nullptr) break;
        void* handle = dlopen(library, RTLD_NOLOAD | RTLD_LAZY);
        if (handle == nullptr) continue;
        found = look_up(handle, entry);
        dlclose(handle);
    }
    return found;
}

/// A runtime whose functions are known here must not be unloaded with the plugin that brought it.
void keep_loaded(const void* function) {
    Dl_info info;
    if (dladdr(function, &info) == 0) return;
    __atomic_store_n(&runtime, info.dli_fbase, __ATOMIC_RELAXED);
    void* module = info.dli_fname != nullptr ? dlopen(info.dli_fname, RTLD_NOLOAD | RTLD_LAZY | RTLD_NODELETE) : nullptr;
    void* size = module != nullptr ? dlsym(module, "omp_get_num_threads") : nullptr;
    __atomic_store_n(&team_size, reinterpret_cast<TeamSize>(size), __ATOMIC_RELEASE);
}

/// Finds all entries at the first call, which is made before there are workers: one of these must not wait for the loader, while a
/// library's constructor, which runs under the loader's lock, waits for it. Threads that come at the same time find the same.
[[gnu::cold]] void* resolve(Entry wanted) {
    for (unsigned i = 0; i < EntryCount; ++i) {
        if (__atomic_load_n(&real_entries[i], __ATOMIC_RELAXED) != nullptr) continue;
        void* found = find_entry(entry_names[i]);
        if (found == nullptr) continue;
        if (i == wanted) keep_loaded(found);
        __atomic_store_n(&real_entries[i], found, __ATOMIC_RELEASE);
    }
    void* found = real_entries[wanted];
    if (found == nullptr) {
        say("error: the program calls %s, which no loaded OpenMP runtime has; load the one of its compiler", entry_names[wanted].name);
        std::abort();
    }
    return found;
}

inline void* real(Entry entry) {
    void* found = __atomic_load_n(&real_entries[entry], __ATOMIC_ACQUIRE);
    return found != nullptr ? found : resolve(entry);
}

/// The calling thread is all of the team that it works in: it cannot wait for others there.
inline bool is_alone() {
    const TeamSize size = __atomic_load_n(&team_size, __ATOMIC_ACQUIRE);
    return size != nullptr && size() == 1;
}
constexpr bool is_barrier(OpenMpConstruct construct) { return construct == OpenMpConstruct::Barrier || construct == OpenMpConstruct::ImplicitBarrier; }

/// What the runtime gives to every thread of the team in place of the program's data. GOMP_parallel_reductions looks at the first word.
/// One cache line, which no thread writes while the region runs.
struct alignas(64) Team {
    void* first_word;
    Outlined function;
    void* data;
    ParallelRegion region;
};
static_assert(sizeof(Team) == 64);

/// The first address in `room` that is aligned so.
inline char* align_in(void* room, std::size_t align) { return static_cast<char*>(room) + (align - reinterpret_cast<std::uintptr_t>(room) % align) % align; }

/// Room for it on the stack, aligned by hand: where a local variable is aligned to more than the stack is, and arguments lie there, GCC makes a
/// frame with a copy of the return address. Then a wrapper's frame says neither where its caller's begins nor where it returns to.
class TeamRoom {
  public:
    TeamRoom(Outlined function, void* data) noexcept
        : team(*new (align_in(room_, alignof(Team))) Team{data != nullptr ? *static_cast<void**>(data) : nullptr, function, data, {}}) {}
    TeamRoom(const TeamRoom&) = delete;
    TeamRoom& operator=(const TeamRoom&) = delete;

  private:
    alignas(16) char room_[2 * sizeof(Team)];

  public:
    Team& team;
};

/// Runs in place of the outlined function. After end_share() the team may be gone.
void run_share(void* argument) {
    const auto* team = static_cast<const Team*>(argument);
    RegionShare share;
    begin_share(share, team->region, __builtin_frame_address(0));
    team->function(team->data);
    share.is_alone = share.is_master && is_alone();
    end_share(share, team->region);
}

struct RegionEnd {
    explicit RegionEnd(ParallelRegion& ended) : region(ended) {}
    ~RegionEnd() { end_region(region); }
    ParallelRegion& region;
};

struct Task {
    Outlined function;
    void (*copy)(void*, void*);
    void* data;
    std::uintptr_t offset; // of the program's own data, in the copy that the task gets
};

/// Calls the program's function for a task, from a frame at `frame`.
inline void call_task(const Task& task, void* data, void* frame) {
    PausedWait paused;
    const bool was_waiting = begin_task(paused, frame);
    task.function(data);
    if (was_waiting) end_task(paused);
}

/// Runs in place of the task's function, whose data follow ours.
void run_task(void* argument) {
    const auto* task = static_cast<const Task*>(argument);
    call_task(*task, static_cast<char*>(argument) + task->offset, __builtin_frame_address(0));
}

void copy_task(void* to, void* from) {
    const auto* task = static_cast<const Task*>(from);
    std::memcpy(to, task, sizeof(Task));
    task->copy(static_cast<char*>(to) + task->offset, task->data);
}

/// The tasks of a taskloop: into the first two words of each one's data the runtime writes which passes are its own.
struct LoopTask {
    std::uint64_t passes[2];
    Task task;
};

void run_loop_task(void* argument) {
    const auto* loop_task = static_cast<const LoopTask*>(argument);
    char* data = static_cast<char*>(argument) + loop_task->task.offset;
    std::memcpy(data, loop_task->passes, sizeof loop_task->passes);
    call_task(loop_task->task, data, __builtin_frame_address(0));
}

void copy_loop_task(void* to, void* from) {
    const auto* loop_task = static_cast<const LoopTask*>(from);
    std::memcpy(to, loop_task, sizeof(LoopTask));
    loop_task->task.copy(static_cast<char*>(to) + loop_task->task.offset, loop_task->task.data);
}

/// What a task gets for its data: `Head`, then, from a multiple of `align` on, the program's own, of `size` bytes.
struct TaskBlock {
    static constexpr long largest = 4096; // larger data would not fit our stack
    static bool fits(long size, long alignment) { return size >= 0 && size <= largest && alignment <= 64; }
    TaskBlock(std::size_t head, long own_size, long own_alignment)
        : align(static_cast<std::size_t>(own_alignment < 16 ? 16 : own_alignment)), offset((head + align - 1) / align * align),
          size(offset + static_cast<std::size_t>(own_size)) {}
    /// In `room`, of size + align bytes.
    char* aligned_in(void* room) const { return align_in(room, align); }
    std::size_t align;
    std::size_t offset;
    std::size_t size;
};

/// A runtime that has OMPT reports its regions itself; another one may be in the process, too.
inline bool is_measured() { return openmp_is_recorded() && !ompt_tells_of(__atomic_load_n(&runtime, __ATOMIC_RELAXED)); }

} // namespace

#define UNWRAP(...) __VA_OPT__(, ) __VA_ARGS__
#define PUBLIC extern "C" [[gnu::visibility("default")]]
#define VERSIONED(name, version) __asm__(".symver libprofile_" #name ", " #name "@" #version ", remove");

#define REGION(name, version, result, parameters, arguments)                                                                                                   \
    VERSIONED(name, version)                                                                                                                                   \
    PUBLIC result libprofile_##name parameters {                                                                                                               \
        using Function = result(*) parameters;                                                                                                                 \
        const auto function = reinterpret_cast<Function>(real(Entry_##name));                                                                                  \
        if (!is_measured()) return function(fn, data UNWRAP arguments);                                                                                        \
        TeamRoom room(fn, data);                                                                                                                               \
        Team& team = room.team;                                                                                                                                \
        begin_region(team.region, __builtin_return_address(0), __builtin_frame_address(0), __builtin_frame_address(0));                                        \
        if (team.region.master == nullptr && team.region.refused_by == 0) return function(fn, data UNWRAP arguments);                                          \
        const RegionEnd at_end(team.region);                                                                                                                   \
        return function(run_share, &team UNWRAP arguments);                                                                                                    \
    }
#define WAIT(name, version, construct, result, parameters, arguments)                                                                                          \
    VERSIONED(name, version)                                                                                                                                   \
    PUBLIC result libprofile_##name parameters {                                                                                                               \
        using Function = result(*) parameters;                                                                                                                 \
        const auto function = reinterpret_cast<Function>(real(Entry_##name));                                                                                  \
        if (!is_measured()) return function arguments;                                                                                                         \
        if (is_barrier(OpenMpConstruct::construct) && is_alone()) {                                                                                            \
            count_event(OpenMpConstruct::construct, __builtin_return_address(0), __builtin_frame_address(0));                                                  \
            return function arguments;                                                                                                                         \
        }                                                                                                                                                      \
        OpenMpEvent event(OpenMpConstruct::construct, __builtin_return_address(0), __builtin_frame_address(0));                                                \
        return function arguments;                                                                                                                             \
    }
#define LOCK(name, version, construct, test)                                                                                                                   \
    VERSIONED(name, version)                                                                                                                                   \
    PUBLIC void libprofile_##name(void* lock) {                                                                                                                \
        const auto function = reinterpret_cast<void (*)(void*)>(real(Entry_##name));                                                                           \
        if (!is_measured()) return function(lock);                                                                                                             \
        if (reinterpret_cast<int (*)(void*)>(real(Entry_##test))(lock) != 0)                                                                                   \
            return count_event(OpenMpConstruct::construct, __builtin_return_address(0), __builtin_frame_address(0));                                           \
        OpenMpEvent event(OpenMpConstruct::construct, __builtin_return_address(0), __builtin_frame_address(0));                                                \
        function(lock);                                                                                                                                        \
    }
#include "wrappers/openmp/libgomp.def"
#undef REGION
#undef WAIT
#undef LOCK

// clang-format off
VERSIONED(GOMP_task, GOMP_2.0) // which would part the number
// clang-format on
PUBLIC void libprofile_GOMP_task(Outlined fn, void* data, void (*copy)(void*, void*), long size, long alignment, bool if_clause, unsigned flags, void** depend,
                                 int priority, void* detach) {
    using Function = void (*)(Outlined, void*, void (*)(void*, void*), long, long, bool, unsigned, void**, int, void*);
    const auto function = reinterpret_cast<Function>(real(Entry_GOMP_task));
    constexpr unsigned known_flags = 0x1f; // untied, final, mergeable, depend and priority; others change what the data are
    if (!is_measured() || (flags & ~known_flags) != 0 || !TaskBlock::fits(size, alignment))
        return function(fn, data, copy, size, alignment, if_clause, flags, depend, priority, detach);
    const TaskBlock block(sizeof(Task), size, alignment);
    Task task{fn, copy, data, block.offset};
    const auto whole = static_cast<long>(block.size), align = static_cast<long>(block.align);
    if (copy != nullptr) return function(run_task, &task, copy_task, whole, align, if_clause, flags, depend, priority, detach);
    char* copied = block.aligned_in(alloca(block.size + block.align));
    std::memcpy(copied, &task, sizeof task);
    if (size != 0) std::memcpy(copied + block.offset, data, static_cast<std::size_t>(size));
    function(run_task, copied, nullptr, whole, align, if_clause, flags, depend, priority, detach);
}

using Taskloop = void (*)(Outlined, void*, void (*)(void*, void*), long, long, unsigned, unsigned long, int, std::uint64_t, std::uint64_t, std::uint64_t);

/// A loop of tasks, which the runtime waits for unless it is told not to. `frame` and `return_address` of the wrapper. Inlined: it calls alloca().
[[gnu::always_inline]] static inline void run_taskloop(Taskloop function, Outlined fn, void* data, void (*copy)(void*, void*), long size, long alignment,
                                                       unsigned flags, unsigned long tasks, int priority, std::uint64_t start, std::uint64_t end,
                                                       std::uint64_t step, const void* return_address, void* frame) {
    constexpr unsigned no_group = 1u << 11;
    constexpr unsigned known_flags = 0x1f | 1u << 8 | 1u << 9 | 1u << 10 | no_group; // in addition to those of tasks: up, grainsize, if
    constexpr long least = sizeof(LoopTask::passes);
    if (!is_measured() || (flags & ~known_flags) != 0 || size < least || !TaskBlock::fits(size, alignment))
        return function(fn, data, copy, size, alignment, flags, tasks, priority, start, end, step);
    const TaskBlock block(sizeof(LoopTask), size, alignment);
    LoopTask task{{}, {fn, copy, data, block.offset}};
    void* given = &task;
    if (copy == nullptr) {
        char* copied = block.aligned_in(alloca(block.size + block.align));
        std::memcpy(copied, &task, sizeof task);
        std::memcpy(copied + block.offset, data, static_cast<std::size_t>(size));
        given = copied;
    }
    const bool waits = (flags & no_group) == 0 && begin_event(OpenMpConstruct::Taskgroup, return_address, frame, frame);
    function(run_loop_task, given, copy != nullptr ? copy_loop_task : nullptr, static_cast<long>(block.size), static_cast<long>(block.align), flags, tasks,
             priority, start, end, step);
    if (waits) end_event();
}

// clang-format off
#define TASKLOOP(name)                                                                                                                                         \
    VERSIONED(name, GOMP_4.5)                                                                                                                                 \
    PUBLIC void libprofile_##name(Outlined fn, void* data, void (*copy)(void*, void*), long size, long alignment, unsigned flags, unsigned long tasks,         \
                                  int priority, std::uint64_t start, std::uint64_t end, std::uint64_t step) {                                                  \
        run_taskloop(reinterpret_cast<Taskloop>(real(Entry_##name)), fn, data, copy, size, alignment, flags, tasks, priority, start, end, step,                \
                     __builtin_return_address(0), __builtin_frame_address(0));                                                                                 \
    }
// clang-format on
TASKLOOP(GOMP_taskloop)
TASKLOOP(GOMP_taskloop_ull)

} // namespace libprofile
