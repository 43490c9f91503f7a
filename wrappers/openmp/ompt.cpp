// OMPT: what an OpenMP runtime tells by callbacks becomes the same calls as what libgomp.cpp intercepts.
// Contract: ompt_start_tool() is called by the runtime, when it starts; so are the callbacks, on the thread that they are about.
// They are registered whether or not something is recorded, since that may begin later; then each is one test.
//
// The declarations are those of the OpenMP 5.0 API specification, chapter 4, which fixes the interface; no header of a compiler is needed.

#include "wrappers/openmp/ompt.hpp"

#include "libprofile/base/process.hpp"
#include "libprofile/callpath/arch/machine.hpp"
#include "libprofile/events/openmp_events.hpp"
#include "libprofile/events/openmp_tasks.hpp"
#include "wrappers/openmp/ompt_tasks.hpp"

#include <cstdint>
#include <cstdlib>
#include <dlfcn.h>

namespace libprofile {

const void* ompt_runtime = nullptr;

namespace {

using Data = OmptData;
struct Frame {
    Data exit_frame;
    Data enter_frame;
    int exit_frame_flags;
    int enter_frame_flags;
};
using AnyFunction = void (*)();
using LookUp = AnyFunction (*)(const char*);
using Initialize = int (*)(LookUp, int, Data*);
using Finalize = void (*)(Data*);
struct StartResult {
    Initialize initialize;
    Finalize finalize;
    Data tool_data;
};
using SetCallback = int (*)(int, AnyFunction);

using TaskInfo = int (*)(int level, int* flags, const Data** task, const Frame** frame, const Data** region, int* number);
TaskInfo task_info = nullptr;

enum Callback {
    ParallelBegin = 3,
    ParallelEnd = 4,
    TaskCreate = 5,
    TaskSchedule = 6,
    ImplicitTask = 7,
    SyncRegionWait = 16,
    Dependences = 18,
    Work = 20,
    SyncRegionEnds = 23,
    MutexAcquire = 26,
    MutexAcquired = 27,
    NestedLock = 28
};
enum Endpoint { Begin = 1, End = 2 };
enum SyncRegion { Barrier = 1, BarrierImplicit = 2, BarrierExplicit = 3, Taskwait = 5, Taskgroup = 6, Reduction = 7, BarrierImplicitParallel = 9 };
enum Mutex { Lock = 1, NestLock = 3, Critical = 5, Atomic = 6, Ordered = 7 };
enum TaskStatus { Complete = 1, Cancel = 3, Detach = 4, EarlyFulfill = 5, LateFulfill = 6 };
enum WorkKind { SingleExecutor = 3, SingleOther = 4, WorkTaskloop = 7 };
constexpr int initial_task = 1;
constexpr int explicit_task = 4;

/// What a thread is in the middle of.
struct ThreadShares {
    static constexpr unsigned most = ParallelFrames::most;
    struct alignas(64) OfRegion { // as its master; workers read it, so it is one cache line
        ParallelRegion region;
        const void* return_address;
    };
    static_assert(sizeof(OfRegion) == 64);
    OfRegion regions[most];
    unsigned region_count;
    struct Part {
        RegionShare share;
        const ParallelRegion* region;
        ParallelRegion copy; // a worker's: that of the master may be gone when the share has ended
        bool is_alone;       // the team has one thread
        unsigned around;     // OmptTasks::begin_share()
    };
    Part parts[most];
    unsigned part_count;
    OmptTasks tasks;
    std::uint32_t of_thread; // its index: another one may get the memory when it has ended
    unsigned events_refused; // whose ends are to be ignored
    bool waits_for_mutex;    // or it is a test that has failed
    struct KnownFrame {      // of a function of the runtime that waits for a lock, from one of its calls of ours
        const void* calls_from;
        std::size_t words; // from our frame to its return address
    };
    static constexpr std::size_t most_known = 16;
    KnownFrame known[most_known];
};

[[gnu::cold, gnu::noinline]] ThreadShares* new_shares(Thread& thread) noexcept {
    const InTool guard;
    if (guard.is_nested()) return nullptr;
    auto* own = static_cast<ThreadShares*>(thread.openmp.ompt);
    if (own == nullptr) own = static_cast<ThreadShares*>(thread.arena.allocate(sizeof(ThreadShares), alignof(ThreadShares)));
    if (own == nullptr) return nullptr;
    own->region_count = own->part_count = own->events_refused = 0;
    own->waits_for_mutex = false;
    own->tasks.begin_again();
    own->of_thread = thread.index;
    thread.openmp.ompt = own;
    return own;
}

/// Returns nullptr if the thread is not measured, or not any more.
inline ThreadShares* own_shares() noexcept {
    Thread* thread = thread_local_block.thread;
    if (thread == nullptr || thread->finished) [[unlikely]]
        return nullptr;
    auto* own = static_cast<ThreadShares*>(thread->openmp.ompt);
    return own != nullptr && own->of_thread == thread->index ? own : new_shares(*thread);
}

/// Regions that were left by a jump: a region inside of them would begin farther inside. Of its parts a master's go with them.
void drop_left_regions(ThreadShares& own, std::uintptr_t frame_address) noexcept {
    if (!is_own_stack(frame_address)) return;
    while (own.region_count != 0 && own.regions[own.region_count - 1].region.frame_address <= frame_address) {
        const ParallelRegion* left = &own.regions[--own.region_count].region;
        while (own.part_count != 0 && own.parts[own.part_count - 1].region == left) --own.part_count;
    }
}

void parallel_begin(Data*, const Frame* frame, Data* parallel, unsigned, int, const void* return_address) {
    parallel->ptr = nullptr;
    if (!openmp_is_recorded() || frame == nullptr || frame->enter_frame.ptr == nullptr) return;
    ThreadShares* own = own_shares();
    if (own != nullptr && own->region_count != 0) drop_left_regions(*own, reinterpret_cast<std::uintptr_t>(frame->enter_frame.ptr));
    // The first region of a thread that was not seen yet: begin_region() opens its location.
    ParallelRegion first;
    const bool has_room = own != nullptr && own->region_count != ThreadShares::most;
    ParallelRegion& region = has_room ? own->regions[own->region_count].region : first;
    region = {};
    begin_region(region, return_address, LIBPROFILE_OWN_FRAME, frame->enter_frame.ptr);
    if (region.master == nullptr) return;
    if (own == nullptr) own = own_shares();
    if (own == nullptr || own->region_count == ThreadShares::most) return give_up_region(region);
    ThreadShares::OfRegion& entry = own->regions[own->region_count++];
    if (!has_room) entry.region = first;
    entry.return_address = return_address;
    parallel->ptr = &entry;
}

void parallel_end(Data* parallel, Data*, int, const void*) {
    if (parallel->ptr == nullptr) return;
    ThreadShares* own = own_shares();
    auto* entry = static_cast<ThreadShares::OfRegion*>(parallel->ptr);
    parallel->ptr = nullptr;
    if (own == nullptr || entry < own->regions || entry >= own->regions + own->region_count) return;
    own->region_count = static_cast<unsigned>(entry - own->regions);
    end_region(entry->region);
}

void end_last_share(ThreadShares& own) {
    ThreadShares::Part& part = own.parts[own.part_count - 1];
    part.share.is_alone = part.is_alone && part.share.is_master;
    end_share(part.share, *part.region);
    part.share.thread = nullptr;
}

/// What `task` of an implicit task says: that it is part number n - first_part of its thread. Explicit tasks: OmptTasks. Others have 0.
constexpr std::uint64_t first_part = 2;

void implicit_task(int endpoint, Data* parallel, Data* task, unsigned team_size, unsigned index, int flags) {
    if ((flags & initial_task) != 0) return;
    if (endpoint == Begin) {
        task->value = 0;
        if (parallel == nullptr || parallel->ptr == nullptr) {
            if (index != 0 && openmp_is_recorded()) begin_refused_share(); // 0 is the region's master
            return;
        }
        const ParallelRegion& region = static_cast<const ThreadShares::OfRegion*>(parallel->ptr)->region;
        RegionShare share;
        // The runtime calls the outlined function from the frame that calls us, or from further inside.
        begin_share(share, region, LIBPROFILE_STACK_OF_CALLER);
        ThreadShares* own = own_shares();
        if (own == nullptr || own->part_count == ThreadShares::most) return give_up_share(share);
        ThreadShares::Part& part = own->parts[own->part_count];
        part.share = share;
        if (share.is_master) {
            part.region = &region;
        } else {
            part.copy = region;
            part.region = &part.copy;
        }
        part.is_alone = team_size == 1;
        part.around = own->tasks.begin_share(index == 0);
        task->value = first_part + own->part_count++;
        return;
    }
    ThreadShares* own = own_shares();
    const std::uint64_t number = task->value - first_part;
    task->value = 0;
    if (own == nullptr || number >= own->part_count) return; // it was none of ours
    end_last_share(*own);                                    // mostly it has ended already
    own->part_count = static_cast<unsigned>(number);
    own->tasks.end_share(own->parts[number].around);
}

/// The thread executes `task` now. Of implicit ones only the innermost that is recorded says something.
void see_current(ThreadShares& own, const Data* task) noexcept {
    if (own.tasks.is_in_none() || task == nullptr) [[likely]]
        return;
    if (OmptTasks::is_explicit(*task) || task->value - first_part + 1 == own.part_count) own.tasks.see_current(task);
}

/// The barrier at the end of a parallel region. Older runtimes do not say so.
bool is_end_of_share(const ThreadShares& own, int kind, const void* return_address) {
    if (kind == BarrierImplicitParallel) return true;
    if (kind != BarrierImplicit || own.part_count == 0) return false;
    if (return_address == nullptr) return true;
    return own.parts[own.part_count - 1].share.is_master && own.region_count != 0 && own.regions[own.region_count - 1].return_address == return_address;
}

/// Ends come whether or not beginnings were recorded.
void begin_one(ThreadShares& own, OpenMpConstruct construct, const void* return_address, void* frame) {
    if (!openmp_is_recorded() || !begin_event(construct, return_address, frame, nullptr)) ++own.events_refused;
}

void end_one(ThreadShares& own) {
    if (own.events_refused != 0)
        --own.events_refused;
    else
        end_event();
}

/// `task` is an implicit one whose team has no other thread.
bool is_alone(const ThreadShares& own, const Data* task) {
    const std::uint64_t number = task != nullptr ? task->value - first_part : own.part_count;
    return number < own.part_count && own.parts[number].is_alone;
}

void sync_region_wait(int kind, int endpoint, Data*, Data* task, const void* return_address) {
    if (kind == Reduction) return;
    ThreadShares* own = own_shares();
    if (own == nullptr) return;
    see_current(*own, task);
    // The end of a region that is not measured, inside of one that is.
    if (kind == BarrierImplicitParallel && task != nullptr && task->value - first_part + 1 != own->part_count) return;
    if (is_end_of_share(*own, kind, return_address)) {
        if (endpoint == Begin && own->part_count != 0) end_last_share(*own);
        return; // its end is that of the region, or the beginning of the next share
    }
    const OpenMpConstruct construct = kind == Taskwait                             ? OpenMpConstruct::Taskwait
                                      : kind == Taskgroup                          ? OpenMpConstruct::Taskgroup
                                      : kind == Barrier || kind == BarrierExplicit ? OpenMpConstruct::Barrier
                                                                                   : OpenMpConstruct::ImplicitBarrier;
    if (kind != Taskwait && kind != Taskgroup && is_alone(*own, task)) {
        if (endpoint == Begin && openmp_is_recorded()) count_event(construct, return_address, LIBPROFILE_OWN_FRAME);
        return;
    }
    if (endpoint == End) return end_one(*own);
    begin_one(*own, construct, return_address, LIBPROFILE_OWN_FRAME);
}

bool is_waited_for(int kind) { return kind == Lock || kind == NestLock || kind == Critical || kind == Atomic || kind == Ordered; }

/// As begin_event() wants it, of the runtime's function that has been called from `return_address`: as long as it runs, the address is where it
/// lies now. Takes the outermost slot near `frame`: others may be copies, which go earlier. Returns nullptr if there is none.
void* frame_returning_to(const void* return_address, void* frame, ThreadShares& own) noexcept {
    if (!has_fixed_return_slot) return nullptr;
    constexpr std::size_t most = 32; // words; 11 to 25 in libomp 14
    void** words = static_cast<void**>(frame);
    ThreadShares::KnownFrame& known = own.known[(reinterpret_cast<std::uintptr_t>(words[1]) >> 4) % ThreadShares::most_known];
    const bool is_inside = is_own_stack(reinterpret_cast<std::uintptr_t>(words)) && is_own_stack(reinterpret_cast<std::uintptr_t>(words + most));
    if (!is_inside || return_address == nullptr) [[unlikely]]
        return nullptr;
    if (known.calls_from == words[1] && words[known.words] == return_address) [[likely]]
        return words + known.words - 1;
    for (std::size_t i = most; --i > 1;)
        if (words[i] == return_address) {
            known = {words[1], i};
            return words + i - 1;
        }
    return nullptr;
}

void mutex_acquire(int kind, unsigned, unsigned, std::uint64_t, const void* return_address) {
    ThreadShares* own = is_waited_for(kind) ? own_shares() : nullptr;
    if (own == nullptr) return;
    const OpenMpConstruct construct = kind == Ordered                      ? OpenMpConstruct::Ordered
                                      : kind == Critical || kind == Atomic ? OpenMpConstruct::Critical
                                                                           : OpenMpConstruct::Lock;
    // It may be a test, whose failure is not reported: then what comes next drops the wait (Thread::drop_doubtful_wait()).
    void* frame = LIBPROFILE_OWN_FRAME;
    own->waits_for_mutex = openmp_is_recorded() && begin_event(construct, return_address, frame, frame_returning_to(return_address, frame, *own));
}

void end_mutex(ThreadShares* own) {
    if (own == nullptr || !own->waits_for_mutex) return;
    own->waits_for_mutex = false;
    end_event();
}

void mutex_acquired(int kind, std::uint64_t, const void*) { end_mutex(is_waited_for(kind) ? own_shares() : nullptr); }

/// Its owner takes it again: of that only this is told.
void nested_lock(int endpoint, std::uint64_t, const void*) {
    if (endpoint == Begin) end_mutex(own_shares());
}

/// Of a thread that keeps a trace of events, else nullptr.
ThreadShares* tracing_shares() noexcept { return traces_tasks() ? own_shares() : nullptr; }

/// As with libgomp, of a single construct only the encounters are counted.
void work(int kind, int endpoint, Data*, Data* task, std::uint64_t, const void* return_address) {
    if (kind == WorkTaskloop) {
        if (ThreadShares* own = tracing_shares(); own != nullptr) own->tasks.see_taskloop(endpoint == Begin, task);
        return;
    }
    if ((kind != SingleExecutor && kind != SingleOther) || endpoint != Begin || !openmp_is_recorded()) return;
    count_event(OpenMpConstruct::Single, return_address, LIBPROFILE_OWN_FRAME);
}

/// `frame` of the callback.
[[gnu::noinline]] void trace_creation(Data* creator, Data* task, int flags, const void* return_address, void* frame) {
    ThreadShares* own = tracing_shares();
    if (own == nullptr || !openmp_is_recorded()) return;
    see_current(*own, creator);
    own->tasks.create(creator, task, static_cast<unsigned>(flags), return_address, frame);
}

void task_create(Data* creator, const Frame*, Data* task, int flags, int, const void* return_address) {
    task->value = (flags & explicit_task) != 0 ? OmptTasks::explicit_task : 0;
    if (task->value == 0 || !traces_tasks()) [[likely]]
        return;
    trace_creation(creator, task, flags, return_address, LIBPROFILE_OWN_FRAME);
    __asm__ volatile("" ::: "memory"); // not a jump: the frame must still be there
}

void dependences(Data* task, const OmptDependence* list, int count) {
    ThreadShares* own = tracing_shares();
    if (own != nullptr && task != nullptr && count > 0 && openmp_is_recorded()) own->tasks.depend(task, list, static_cast<unsigned>(count));
}

/// Taskgroups from their beginnings on; of other kinds the waits are enough.
void sync_region(int kind, int endpoint, Data*, Data* task, const void*) {
    if (kind != Taskgroup || !traces_tasks()) return;
    const std::uint64_t number = task != nullptr ? OmptTasks::number_of(*task) : 0;
    if (endpoint == Begin)
        begin_taskgroup(number, nullptr);
    else
        end_taskgroup(number);
}

/// Whether the runtime says that the calling thread executes `task`.
bool executes(const Data* task) noexcept {
    int flags = 0, number = 0;
    const Data *current = nullptr, *region = nullptr;
    const Frame* frame = nullptr;
    return task_info != nullptr && task_info(0, &flags, &current, &frame, &region, &number) != 0 && current == task;
}

void task_schedule(Data* before, int status, Data* next) {
    if (status == EarlyFulfill || status == LateFulfill) return; // of a detached task: no thread turns to another one
    ThreadShares* const own = own_shares();
    if (own == nullptr || before == nullptr) return;
    const bool is_over = status == Complete || status == Cancel || status == Detach;
    // The next part of an untied task goes into a queue. The task that made it is told as the next one, wherever that is.
    const bool leaves = !is_over && next != nullptr && own->tasks.has_begun_elsewhere(*next) && executes(before);
    if (!own->tasks.is_in_none()) {
        see_current(*own, before);
        own->tasks.leave(before, is_over, leaves ? nullptr : next);
    }
    // The runtime calls the task's function from the frame that calls us, or from further inside.
    if (!is_over && !leaves && openmp_is_recorded()) own->tasks.enter(next, LIBPROFILE_STACK_OF_CALLER);
    __asm__ volatile("" ::: "memory"); // not a jump: the frame must still be there
}

int initialize(LookUp look_up, int, Data*) {
    const auto set = reinterpret_cast<SetCallback>(look_up("ompt_set_callback"));
    if (set == nullptr) return 0;
    task_info = reinterpret_cast<TaskInfo>(look_up("ompt_get_task_info"));
    const struct {
        int which;
        AnyFunction function;
    } callbacks[] = {
        {ParallelBegin, reinterpret_cast<AnyFunction>(parallel_begin)}, {ParallelEnd, reinterpret_cast<AnyFunction>(parallel_end)},
        {ImplicitTask, reinterpret_cast<AnyFunction>(implicit_task)},   {SyncRegionWait, reinterpret_cast<AnyFunction>(sync_region_wait)},
        {MutexAcquire, reinterpret_cast<AnyFunction>(mutex_acquire)},   {MutexAcquired, reinterpret_cast<AnyFunction>(mutex_acquired)},
        {NestedLock, reinterpret_cast<AnyFunction>(nested_lock)},       {TaskCreate, reinterpret_cast<AnyFunction>(task_create)},
        {TaskSchedule, reinterpret_cast<AnyFunction>(task_schedule)},   {Work, reinterpret_cast<AnyFunction>(work)},
    };
    for (const auto& callback : callbacks) set(callback.which, callback.function);
    if (keeps_events(process.config().choice<TraceChoice>())) {
        set(Dependences, reinterpret_cast<AnyFunction>(dependences));
        set(SyncRegionEnds, reinterpret_cast<AnyFunction>(sync_region));
    }
    Dl_info info;
    if (dladdr(reinterpret_cast<void*>(look_up), &info) != 0) __atomic_store_n(&ompt_runtime, info.dli_fbase, __ATOMIC_RELEASE);
    return 1;
}

void finalize(Data*) { __atomic_store_n(&ompt_runtime, nullptr, __ATOMIC_RELEASE); }

StartResult start_result = {initialize, finalize, {0}};

} // namespace

} // namespace libprofile

/// There is one tool: one that the user names in OMP_TOOL_LIBRARIES, or that comes after us, goes first.
extern "C" [[gnu::visibility("default")]] void* ompt_start_tool(unsigned version, const char* runtime) noexcept {
    using namespace libprofile;
    if (process.state() == SessionState::Off) return nullptr;
    const char* asked_for = std::getenv("OMP_TOOL_LIBRARIES");
    if (asked_for != nullptr && *asked_for != 0) return nullptr;
    void* next = dlsym(RTLD_NEXT, "ompt_start_tool");
    Dl_info found, caller;
    const bool is_other = next != nullptr && dladdr(next, &found) != 0 && dladdr(__builtin_return_address(0), &caller) != 0 &&
                          found.dli_fbase != caller.dli_fbase; // runtimes have one of their own, for lack of another
    if (is_other) return reinterpret_cast<void* (*)(unsigned, const char*)>(next)(version, runtime);
    return &start_result;
}
