// All threads of the process that are or may become locations of the profile.
// Contract: thread-safe; the list only grows. current() may be called from a signal handler; opening a location
// allocates from the thread's own arena only.
#pragma once

#include "format/short_threads.hpp"
#include "libprofile/thread/thread.hpp"

#include <cstdint>

namespace libprofile {

/// A thread from its creation on, before it is measured (if ever).
struct ThreadStart {
    ThreadStart* next = nullptr;
    void* (*function)(void*) = nullptr;
    void* argument = nullptr;
    const void* creator = nullptr; // return address of the pthread_create call
    bool inside_mpi = false;       // created while its parent was inside an MPI call: a helper thread of the MPI
    std::size_t stack_size = 0;
    pid_t id = 0; // kernel thread id; 0 until it runs
    std::uint64_t started_at = 0;
    std::uint64_t cpu_before = 0; // CPU time used until then: by the main thread, in the loader
    std::atomic<Thread*> thread{nullptr};
    std::atomic<bool> ended{false};
};

class ThreadRegistry {
  public:
    /// Returns the calling thread's location, opened on first use while the session measures; nullptr if it has none.
    Thread* current() noexcept;

    /// Announces a thread in pthread_create. Returns nullptr if memory is short: then it is not measured.
    ThreadStart* announce(void* (*function)(void*), void* argument, const void* creator, std::size_t stack_size) noexcept;
    /// Called first in the new thread.
    void begin(ThreadStart* start) noexcept;
    /// Called last in it. Closes its location.
    void end(ThreadStart* start) noexcept;

    /// Called by the constructor of the library, which runs on the main thread.
    void know_main() noexcept;
    /// Opens the main thread's location when the session starts, also on another thread.
    void open_main() noexcept;
    Thread* main_thread() noexcept { return main_.thread.load(std::memory_order_acquire); }

    /// Starts the sample clocks of all running threads except helpers of the MPI.
    void start_sampling() noexcept;
    /// Stops sample clocks and closes all locations at `now`. Called once, by the thread that finishes the job. Returns false if the main thread is
    /// another one and stays inside libprofile.
    bool finish_all(std::uint64_t now) noexcept;

    /// Visits every closed location, the main thread's first.
    template <class F> void for_each_closed(F visit) noexcept {
        for_each_start([&visit](ThreadStart& start) {
            Thread* thread = start.thread.load(std::memory_order_acquire);
            if (thread != nullptr && __atomic_load_n(&thread->ended_at, __ATOMIC_ACQUIRE) != 0) visit(*thread);
        });
    }
    /// For a checkpoint, by one thread at a time. Notes which locations are closed now, since more may close at any moment (Thread::in_checkpoint).
    /// Returns how many are open.
    std::uint64_t choose_for_checkpoint() noexcept;
    /// Returns the real return address of a frame that has the mark of any thread, and ends at `end`; 0 if there is none. For lost_return()
    /// (callpath/marks.cpp).
    std::uintptr_t return_address_of_mark(std::uintptr_t end) noexcept;
    /// Threads for which the kernel refused every sample clock.
    std::uint64_t clocks_refused() const { return clocks_refused_.load(std::memory_order_relaxed); }
    std::uint64_t lost() const { return lost_.load(std::memory_order_relaxed); }
    /// Threads that ended with nothing to show, and their processor time.
    ShortThreadsRecord short_threads() const { return {short_threads_.load(std::memory_order_relaxed), short_cpu_ns_.load(std::memory_order_relaxed)}; }

  private:
    Thread* open(ThreadStart& start) noexcept;
    /// The main thread's record first, then all others.
    template <class F> void for_each_start(F visit) noexcept {
        visit(main_);
        for (ThreadStart* s = head_.load(std::memory_order_acquire); s != nullptr; s = s->next) visit(*s);
    }
    void arm(Thread& thread, pid_t id) noexcept;
    static bool may_use_barrier() noexcept;
    void stop_booking() noexcept;
    bool recycle(ThreadStart& start, Thread& thread) noexcept;
    Thread* take_free() noexcept;
    void give_back(Thread& thread) noexcept;
    void begin_counting(ThreadStart& start, Thread& thread) noexcept;
    Thread* publish(ThreadStart& start, Thread* thread) noexcept;
    bool is_helper(const ThreadStart& start) const noexcept;

    ThreadStart main_;
    bool main_known_ = false;
    std::atomic<ThreadStart*> head_{nullptr};
    std::atomic<std::uint32_t> next_index_{0};
    std::atomic<std::uint64_t> clocks_refused_{0};
    Thread* free_ = nullptr; // guarded by busy_
    std::atomic<std::uint64_t> lost_{0};
    std::atomic<std::uint64_t> short_threads_{0}, short_cpu_ns_{0};
    std::atomic_flag busy_ = ATOMIC_FLAG_INIT;
    Arena arena_;
};
extern ThreadRegistry thread_registry;

} // namespace libprofile
