#include "libprofile/thread/thread_registry.hpp"

#include "libprofile/base/messages.hpp"
#include "libprofile/base/process.hpp"
#include "libprofile/base/process_state.hpp"
#include "libprofile/callpath/stack_memory.hpp"
#include "libprofile/clustering/earlier_run.hpp"
#include "libprofile/mpi/mpi_modules.hpp"
#include "libprofile/phases/phase_log.hpp"
#include "libprofile/thread/counting.hpp"
#include "libprofile/thread/thread_life.hpp"

#include <algorithm>
#include <linux/membarrier.h>
#include <new>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace libprofile {

constinit ThreadRegistry thread_registry;

namespace {

/// Returns a phase of the run that LIBPROFILE_REFERENCE names, nullptr if none are known.
const EarlierIterations* earlier_iterations(const char* phase) noexcept {
    const Job& job = process.job();
    const int rank = process.rank_is_known() ? job.rank : job.launcher_rank;
    const EarlierIterations* found = earlier_run.find(phase, static_cast<std::uint32_t>(rank < 0 ? 0 : rank));
    const char* complaint = earlier_run.take_complaint();
    if (complaint != nullptr && rank <= 0)
        say("warning: LIBPROFILE_REFERENCE=%s cannot be used (%s), so iterations are compared by the averages of this run",
            process.config().text(Option::Reference), complaint);
    return found;
}

ClusteringSettings clustering_settings(const Config& config) {
    ClusteringSettings settings;
    settings.clusters = static_cast<std::uint32_t>(config.number(Option::Clusters));
    settings.mode = config.choice<EquivalenceChoice>();
    settings.warm_up = static_cast<std::uint32_t>(config.number(Option::Warmup));
    // The reference method knows no series. If every iteration is kept in full, a second copy is of no use.
    settings.refreshes_distances = config.choice<MethodChoice>() == MethodChoice::Bounded;
    settings.series.counter_metrics = counter_choice.metrics();
    settings.keeps_series = settings.refreshes_distances && settings.clusters != Clusterer::no_limit;
    if (*config.text(Option::Reference) != 0) settings.earlier = earlier_iterations;
    const std::int64_t error = config.number(Option::Error);
    settings.series.may_coarsen = error < 0; // a requested bound holds
    if (error >= 0) settings.series.time_error_ppm = settings.series.bytes_error_ppm = static_cast<std::uint32_t>(error);
    return settings;
}

/// `id`: the kernel's number, 0 if the thread is gone.
void close(Thread& thread, std::uint64_t now, std::uint64_t cpu_now, pid_t id) {
    thread.finished = true;
    count_until_now(thread);
    if (id != 0) thread.affinity.remember_allowed(id, thread.arena);
    if (id == gettid()) thread.affinity.look(); // it may have had neither iterations nor samples
    if (now < thread.phases.time().earliest_end()) now = thread.phases.time().earliest_end();
    if (thread.events != nullptr && id != gettid()) thread.events->stay();
    thread_life.close(thread, now, cpu_now);
    if (now < thread.phases.time().earliest_end()) now = thread.phases.time().earliest_end();
    thread.phases.finish(now, cpu_now);
    if (thread.events != nullptr) thread.events->finish(now);
    // Samples that hit libprofile itself are shown with its time.
    if (const std::uint64_t samples = thread.skipped_for(SkipReason::InTool); samples != 0)
        thread.phases.row(thread.tree.overhead())[Metric::Samples] += samples;
    thread.counters.close();
    thread.busy = 0;
    __atomic_store_n(&thread.ended_at, now, __ATOMIC_RELEASE); // from here on it is part of the profile
}

} // namespace

ThreadStart* ThreadRegistry::announce(void* (*function)(void*), void* argument, const void* creator, std::size_t stack_size) noexcept {
    const InTool guard;
    while (busy_.test_and_set(std::memory_order_acquire)) sched_yield();
    auto* start = static_cast<ThreadStart*>(arena_.allocate(sizeof(ThreadStart)));
    busy_.clear(std::memory_order_release);
    if (start == nullptr) {
        lost_.fetch_add(1, std::memory_order_relaxed);
        return nullptr;
    }
    new (start) ThreadStart();
    start->function = function;
    start->argument = argument;
    start->creator = creator;
    start->stack_size = stack_size;
    const Thread* parent = thread_local_block.thread;
    start->inside_mpi = parent != nullptr && parent->call_depth != 0;
    start->next = head_.load(std::memory_order_relaxed);
    while (!head_.compare_exchange_weak(start->next, start, std::memory_order_acq_rel)) {
    }
    return start;
}

void ThreadRegistry::begin(ThreadStart* start) noexcept {
    const InTool guard;
    remember_stack(start->stack_size);
    start->started_at = session_clock.now();
    thread_local_block.start = start;
    __atomic_store_n(&start->id, gettid(), __ATOMIC_RELEASE);
    if (!process.measuring() || is_helper(*start)) return;
    if (Thread* thread = current()) {
        thread->paths.ready();
        thread->counters.open_own();
        arm(*thread, start->id);
    }
}

void ThreadRegistry::end(ThreadStart* start) noexcept {
    const InTool guard;
    thread_local_block.ended = true;
    remove_mark(thread_local_block.mark, reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)));
    Thread* thread = start->thread.load(std::memory_order_acquire);
    thread_local_block.thread = nullptr;
    // The one that claims the location closes it: this thread, or the one that ends the job.
    if (thread != nullptr && !thread->claimed.exchange(true, std::memory_order_acq_rel)) {
        thread_life.stop_clock(*thread);
        if (guard.is_nested()) // it ends in a handler that has interrupted us: the data being changed cannot be read
            lost_.fetch_add(1, std::memory_order_relaxed);
        else {
            thread->drop_doubtful_wait(); // a thread that ends waits for no lock
            if (!process.measuring() || !recycle(*start, *thread)) close(*thread, session_clock.now(), thread_cpu_time(), gettid());
        }
    }
    start->ended.store(true, std::memory_order_release);
}

bool ThreadRegistry::is_helper(const ThreadStart& start) const noexcept {
    return start.inside_mpi || (start.creator != nullptr && is_mpi_library_address(start.creator));
}

/// A thread that came and went without a sample, an MPI call or a marker has nothing to show. Programs make thousands of them. Its memory serves the
/// next one; its number and time are counted unless recording was off.
bool ThreadRegistry::recycle(ThreadStart& start, Thread& thread) noexcept {
    if (&start == &main_ || thread.samples_taken != 0 || thread.samples_lost != 0 || !thread.phases.is_unused() || !thread.tree.is_empty()) return false;
    start.thread.store(nullptr, std::memory_order_release);
    if (!thread.phases.time().is_paused()) {
        short_threads_.fetch_add(1, std::memory_order_relaxed);
        short_cpu_ns_.fetch_add(thread_cpu_time(), std::memory_order_relaxed);
    }
    give_back(thread);
    return true;
}

void ThreadRegistry::give_back(Thread& thread) noexcept {
    thread.busy = 0;
    while (busy_.test_and_set(std::memory_order_acquire)) sched_yield();
    thread.next_free = free_;
    free_ = &thread;
    busy_.clear(std::memory_order_release);
}

Thread* ThreadRegistry::take_free() noexcept {
    while (busy_.test_and_set(std::memory_order_acquire)) sched_yield();
    Thread* thread = free_;
    if (thread != nullptr) free_ = thread->next_free;
    busy_.clear(std::memory_order_release);
    return thread;
}

Thread* ThreadRegistry::open(ThreadStart& start) noexcept {
    if (Thread* used = take_free()) {
        used->phases.begin_again(start.started_at);
        used->paths.begin_again();
        if (used->events != nullptr) used->events->begin_again(start.started_at);
        used->started_at = start.started_at;
        used->cpu_mark = used->cpu_mark_at = 0;
        used->clock = {};
        used->openmp.joined_now = nullptr;
        used->openmp.wait = {};
        used->openmp.paused = 0;
        used->affinity = {};
        used->index = next_index_.fetch_add(1, std::memory_order_relaxed) + 1;
        used->claimed.store(false, std::memory_order_relaxed);
        begin_counting(start, *used);
        if (!process.recording()) used->phases.pause(start.started_at, 0);
        return publish(start, used);
    }
    // Short-lived threads must not use up the main thread's memory.
    const bool may = &start == &main_ || memory_quota.used() < memory_quota.limit() / 2;
    void* pages = may ? memory_quota.map((sizeof(Thread) + 4095) & ~std::size_t{4095}) : nullptr;
    Thread* thread = pages == nullptr ? nullptr : new (pages) Thread();
    // CPU time spent since the thread began belongs to the wall time since then.
    const ClusteringSettings settings = clustering_settings(process.config());
    if (thread == nullptr || !thread->tree.start() || !thread->phases.start(start.started_at, start.cpu_before, settings)) {
        lost_.fetch_add(1, std::memory_order_relaxed);
        return nullptr;
    }
    // If memory is short for a trace, the thread is measured without one.
    const auto trace = process.config().choice<TraceChoice>();
    const auto trace_memory = static_cast<std::uint64_t>(process.config().number(Option::TraceMemory));
    if (keeps_samples(trace)) thread->trace.start(thread->arena, trace_memory);
    if (keeps_events(trace))
        thread->events =
            EventTrace::create(std::min(trace_memory, memory_quota.limit() / 8), &start == &main_, start.started_at, thread->counters, thread->arena);
    thread->listeners.trace = thread->events != nullptr;
    if (keeps_events(trace) && !thread->listeners.trace) EventTrace::message_numbers().stop_all(); // its own get none
    if (process.config().flag(Option::Order))
        thread->phases.hooks().order = IterationOrder::create(thread->listeners.order, static_cast<std::uint64_t>(process.config().number(Option::OrderMemory)),
                                                              thread->tree, thread->arena, thread->pool);
    thread->started_at = start.started_at;
    thread->mark_cpu(start.started_at, start.cpu_before);
    if (&start == &main_) thread->phases.hooks().events = thread->events;
    thread->index = &start == &main_ ? 0 : next_index_.fetch_add(1, std::memory_order_relaxed) + 1;
    if (thread->index == 0) thread->phases.hooks().log = &main_phases;
    if (thread->index == 0 && process.looks_for_loops()) thread_life.look_for_loops(*thread);
    begin_counting(start, *thread);
    if (!process.recording()) thread->phases.pause(start.started_at, start.cpu_before);
    return publish(start, thread);
}

/// A thread that we have seen begin is counted from its beginning, as its processor time is.
void ThreadRegistry::begin_counting(ThreadStart& start, Thread& thread) noexcept {
    if (counter_choice.count() != 0) thread.counters.open(start.id, &start != &main_, &start == &main_);
}

/// The thread itself and the one in MPI_Init may both open its location. The first one counts.
Thread* ThreadRegistry::publish(ThreadStart& start, Thread* thread) noexcept {
    Thread* present = nullptr;
    if (start.thread.compare_exchange_strong(present, thread, std::memory_order_acq_rel)) return thread;
    give_back(*thread);
    return present;
}

void ThreadRegistry::open_main() noexcept {
    main_.id = getpid();
    if (gettid() == getpid()) main_known_ = true;
    if (!main_known_) return;
    Thread* thread = open(main_);
    if (thread != nullptr && gettid() == getpid()) thread->counters.open_own();
}

void ThreadRegistry::know_main() noexcept {
    if (gettid() != getpid()) return;
    remember_main_stack();
    main_.cpu_before = thread_cpu_time();
    main_known_ = true;
    may_use_barrier(); // while there is one thread: later the kernel takes 10 ms for it
}

Thread* ThreadRegistry::current() noexcept {
    ThreadLocal& local = thread_local_block;
    if (local.thread != nullptr) return local.thread;
    if (local.ended || !process.measuring()) return nullptr;
    if (local.start == nullptr) {
        // Not created through our pthread_create: the main thread, or a thread created unseen.
        if (gettid() != getpid()) {
            local.ended = true;
            lost_.fetch_add(1, std::memory_order_relaxed);
            return nullptr;
        }
        local.start = &main_;
        main_.id = getpid();
    }
    // The main thread's location may have been opened by the thread that made the first MPI call.
    local.thread = local.start->thread.load(std::memory_order_acquire);
    if (local.thread == nullptr) local.thread = open(*local.start);
    if (local.thread == nullptr)
        local.ended = true;
    else
        local.thread->busy = local.in_tool, local.thread->mark = &local.mark; // we are inside libprofile
    return local.thread;
}

void ThreadRegistry::arm(Thread& thread, pid_t id) noexcept {
    if (!thread_life.start_clock(thread, id)) clocks_refused_.fetch_add(1, std::memory_order_relaxed);
}

void ThreadRegistry::start_sampling() noexcept {
    for_each_start([this](ThreadStart& start) {
        if (start.id == 0 || start.ended.load(std::memory_order_acquire)) return;
        Thread* thread = start.thread.load(std::memory_order_acquire);
        // Threads older than the session are measured from their start, too.
        if (thread == nullptr && !is_helper(start)) thread = open(start);
        if (thread != nullptr) arm(*thread, start.id);
    });
}

bool ThreadRegistry::may_use_barrier() noexcept { return syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0; }

/// Tells all threads that booking is over, and waits for those that are booking. They look at `finished` after setting their in-tool flag, without a
/// fence; the kernel's barrier replaces all their fences.
void ThreadRegistry::stop_booking() noexcept {
    const Thread* own = thread_local_block.thread;
    bool are_others = false;
    for_each_start([own, &are_others](ThreadStart& start) {
        Thread* thread = start.thread.load(std::memory_order_acquire);
        if (thread == nullptr || thread->finished) return;
        thread_life.stop_clock(*thread);
        if (thread == own) return;
        thread->finished = true;
        are_others = true;
    });
    if (!are_others) return;
    if (may_use_barrier()) syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
    const std::uint64_t limit = session_clock.now() + 500000000; // a thread stopped inside is not waited for longer
    for_each_start([own, limit](ThreadStart& start) {
        Thread* thread = start.thread.load(std::memory_order_acquire);
        if (thread == nullptr || thread == own || start.ended.load(std::memory_order_acquire)) return;
        while (thread->busy != 0 && session_clock.now() < limit) sched_yield();
    });
}

std::uint64_t ThreadRegistry::choose_for_checkpoint() noexcept {
    std::uint64_t running = 0;
    for_each_start([&running](ThreadStart& start) {
        Thread* thread = start.thread.load(std::memory_order_acquire);
        if (thread == nullptr) return;
        const bool closed = __atomic_load_n(&thread->ended_at, __ATOMIC_ACQUIRE) != 0;
        thread->in_checkpoint = closed;
        running += closed ? 0 : 1;
    });
    return running;
}

std::uintptr_t ThreadRegistry::return_address_of_mark(std::uintptr_t end) noexcept {
    std::uintptr_t found = 0;
    for_each_start([&](ThreadStart& start) {
        const Thread* thread = start.thread.load(std::memory_order_acquire);
        if (thread == nullptr || thread->mark == nullptr || start.ended.load(std::memory_order_acquire)) return;
        if (end_of(*thread->mark) == end) found = thread->mark->return_address;
    });
    return found;
}

bool ThreadRegistry::finish_all(std::uint64_t now) noexcept {
    stop_booking();
    const Thread* own = thread_local_block.thread;
    bool has_main = true;
    for_each_start([this, now, own, &has_main](ThreadStart& start) {
        Thread* thread = start.thread.load(std::memory_order_acquire);
        if (thread == nullptr) return;
        if (thread != own && thread->busy != 0 && !start.ended.load(std::memory_order_acquire)) { // still at work on its profiles
            lost_.fetch_add(1, std::memory_order_relaxed);
            has_main = has_main && thread->index != 0;
            return;
        }
        if (!thread->claimed.exchange(true, std::memory_order_acq_rel))
            return start.ended.load(std::memory_order_acquire) ? close(*thread, now, 0, 0) : close(*thread, now, cpu_time_of(start.id), start.id);
        // The thread is ending itself.
        const std::uint64_t limit = session_clock.now() + 20000000;
        while (__atomic_load_n(&thread->ended_at, __ATOMIC_ACQUIRE) == 0 && session_clock.now() < limit) sched_yield();
    });
    return has_main;
}

} // namespace libprofile
