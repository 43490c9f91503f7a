#include "libprofile/session/thread_registry.hpp"

#include "libprofile/callpath/stack_memory.hpp"
#include "libprofile/sampling/timer.hpp"
#include "libprofile/session/clock.hpp"
#include "libprofile/session/session.hpp"
#include "wrappers/mpi/mpi_modules.hpp"

#include <new>
#include <sched.h>
#include <unistd.h>

extern "C" void* __libc_stack_end; // of ld.so: where the process's stack began

namespace libprofile {

constinit ThreadRegistry thread_registry;

namespace {

/// CPU time of a running thread, which may be another one.
std::uint64_t cpu_time_of(const ThreadStart& start) {
    clockid_t id;
    timespec t{};
    if (pthread_getcpuclockid(start.handle, &id) != 0 || clock_gettime(id, &t) != 0) return 0;
    return static_cast<std::uint64_t>(t.tv_sec) * 1000000000u + static_cast<std::uint64_t>(t.tv_nsec);
}

void close(Thread& thread, std::uint64_t now, std::uint64_t cpu_now) {
    thread.finished = true; // first: it may be inside an MPI call that returns while we look
    thread.ended_at = now;
    thread.phases.finish(now, cpu_now);
    // Samples that hit libprofile itself are shown where its time is.
    if (thread.samples_in_tool != 0)
        thread.phases.row(thread.tree.overhead())[Metric::Samples] += thread.samples_in_tool;
}

} // namespace

ThreadStart* ThreadRegistry::announce(void* (*function)(void*), void* argument, const void* creator) noexcept {
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
    const Thread* parent = thread_local_block.thread;
    start->inside_mpi = parent != nullptr && parent->event != nullptr;
    start->next = head_.load(std::memory_order_relaxed);
    while (!head_.compare_exchange_weak(start->next, start, std::memory_order_acq_rel)) {
    }
    return start;
}

void ThreadRegistry::begin(ThreadStart* start) noexcept {
    const InTool guard;
    remember_stack_base();
    start->handle = pthread_self();
    start->started_at = session_clock.now();
    thread_local_block.start = start;
    __atomic_store_n(&start->id, gettid(), __ATOMIC_RELEASE);
    if (!session.measuring() || is_helper(*start)) return;
    if (Thread* thread = current()) start_timer(*thread, start->id, start->handle);
}

void ThreadRegistry::end(ThreadStart* start) noexcept {
    const InTool guard;
    start->ended.store(true, std::memory_order_release);
    thread_local_block.ended = true;
    Thread* thread = start->thread.load(std::memory_order_acquire);
    thread_local_block.thread = nullptr;
    if (thread == nullptr || thread->finished) return;
    stop_timer(*thread);
    if (!session.measuring()) return;
    close(*thread, session_clock.now(), thread_cpu_time());
}

bool ThreadRegistry::is_helper(const ThreadStart& start) const noexcept {
    return start.inside_mpi || (start.creator != nullptr && is_mpi_library_address(start.creator));
}

Thread* ThreadRegistry::open(ThreadStart& start) noexcept {
    void* place = memory_quota.map((sizeof(Thread) + 4095) & ~std::size_t{4095});
    Thread* thread = place == nullptr ? nullptr : new (place) Thread();
    // CPU time spent before now belongs to the wall time since the thread began.
    const ClusteringSettings settings{static_cast<std::uint32_t>(session.config().number(Option::Clusters)),
                                      static_cast<EquivalenceMode>(session.config().number(Option::Equivalence))};
    if (thread == nullptr || !thread->tree.start() || !thread->phases.start(start.started_at, 0, settings)) {
        lost_.fetch_add(1, std::memory_order_relaxed);
        return nullptr;
    }
    thread->started_at = start.started_at;
    thread->index = &start == &main_ ? 0 : opened_.fetch_add(1, std::memory_order_relaxed) + 1;
    thread->last_sample_cpu = 0;
    start.thread.store(thread, std::memory_order_release);
    return thread;
}

void ThreadRegistry::open_main() noexcept {
    main_.id = getpid();
    if (gettid() == getpid()) {
        main_.handle = pthread_self();
        main_known_ = true;
    }
    if (main_known_) open(main_);
}

void ThreadRegistry::know_main() noexcept {
    if (gettid() != getpid()) return;
    // Constructors run below main's caller; what is above them on the stack is already in place.
    thread_local_block.stack_base = reinterpret_cast<std::uintptr_t>(__libc_stack_end);
    main_.handle = pthread_self();
    main_known_ = true;
}

Thread* ThreadRegistry::current() noexcept {
    ThreadLocal& local = thread_local_block;
    if (local.thread != nullptr) return local.thread;
    if (local.ended || !session.measuring()) return nullptr;
    if (local.start == nullptr) {
        // Not created through our pthread_create: the main thread, or a thread that was made behind our back.
        if (gettid() != getpid()) {
            local.ended = true;
            lost_.fetch_add(1, std::memory_order_relaxed);
            return nullptr;
        }
        local.start = &main_;
        main_.handle = pthread_self();
        main_.id = getpid();
    }
    // The main thread's location may have been opened by the thread that made the first MPI call.
    local.thread = local.start->thread.load(std::memory_order_acquire);
    if (local.thread == nullptr) local.thread = open(*local.start);
    if (local.thread == nullptr) local.ended = true;
    return local.thread;
}

void ThreadRegistry::start_sampling() noexcept {
    const auto arm = [](ThreadStart& start) {
        Thread* thread = start.thread.load(std::memory_order_acquire);
        if (thread != nullptr && !thread->timer_running && !start.ended.load(std::memory_order_acquire))
            start_timer(*thread, start.id, start.handle);
    };
    arm(main_);
    for (ThreadStart* s = head_.load(std::memory_order_acquire); s != nullptr; s = s->next) arm(*s);
}

void ThreadRegistry::finish_all(std::uint64_t now) noexcept {
    const auto finish = [now](ThreadStart& start) {
        Thread* thread = start.thread.load(std::memory_order_acquire);
        if (thread == nullptr || thread->finished) return;
        stop_timer(*thread);
        close(*thread, now, start.ended.load(std::memory_order_acquire) ? 0 : cpu_time_of(start));
    };
    finish(main_);
    for (ThreadStart* s = head_.load(std::memory_order_acquire); s != nullptr; s = s->next) finish(*s);
}

} // namespace libprofile
