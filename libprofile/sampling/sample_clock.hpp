// The clock that times a thread's samples: it sends the sampling signal to this very thread after each period.
// Contract: prepare_sampling() runs once per session, outside handlers. start_clock() and stop_clock() run with the in-tool flag set, on the thread
// itself or another one of the process. The rest is async-signal-safe.
//
//   perf   the kernel's task clock of the thread (perf_clock.hpp): any rate, accompanied by a CPU timer, its beat
//   timer  POSIX timer on the thread's CPU clock (cpu_timer.hpp): expires on kernel ticks, often 250 a second
//   wall   POSIX timer on the monotonic clock: samples waiting threads, too, and interrupts their system calls
//
// Neither perf nor timer ever interrupts a system call: the counter counts user mode only, so its signal arises between two instructions of the
// program, and the kernel checks CPU timers on the way back to user mode.
// The beat covers time in the kernel, which the counter cannot see. Each period that ends there passes without a signal, so their number is known. The
// next beat that hits a system call becomes a sample that stands for them. A beat also becomes a sample if the counter has been silent all the time:
// because the application has closed the file (the timer then takes over for good), or because its signals do not arrive (after setuid).
#pragma once

#include "libprofile/thread/clock_state.hpp"

#include <csignal>
#include <sys/types.h>

namespace libprofile {

struct Thread;

/// Finds a signal and installs its handler. Returns false if no real-time signal is free; then nothing is sampled.
bool prepare_sampling(void (*handler)(int, siginfo_t*, void*)) noexcept;

/// The signal in use, or 0.
int sampling_signal() noexcept;

/// Returns true if one of our clocks sent the signal, even if it was stopped since.
bool is_our_signal(const siginfo_t& info) noexcept;

/// The error number if LIBPROFILE_SAMPLE_CLOCK=perf and the kernel has refused it, else 0.
int perf_refusal() noexcept;

/// Returns false if the kernel refused every clock; the thread then has no samples.
bool start_clock(Thread& thread, pid_t id) noexcept;
void stop_clock(Thread& thread) noexcept;

/// For the thread's signal handler. Returns false for a beat that is no sample.
bool is_due(Thread& thread, const siginfo_t& info, const void* context) noexcept;
/// Returns the time in ns that this sample stands for. `reading` is the new one. A running MPI call of the thread is exact, so kernel time in it is left
/// out.
std::uint64_t weigh(Thread& thread, const siginfo_t& info, std::uint64_t reading) noexcept;
/// The last step of the handler: permits the next signal. `thread` is nullptr while the thread opens its location.
void arm_again(Thread* thread, const siginfo_t& info) noexcept;

} // namespace libprofile
