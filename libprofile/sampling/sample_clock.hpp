// The clock that times a thread's samples: it sends the sampling signal to this very thread after each period.
// Contract: prepare_sampling() once per session, outside handlers; start_clock() and stop_clock() with the in-tool flag
// set, by the thread itself or by another one of the process; the rest is async-signal-safe.
//
//   perf   the kernel's task clock of the thread (perf_clock.hpp): any rate, with a CPU timer beside it, its beat
//   timer  POSIX timer on the thread's CPU clock (cpu_timer.hpp): expires on kernel ticks, often 250 a second
//   wall   POSIX timer on the monotonic clock: samples waiting threads, too, and interrupts their system calls
//
// Neither perf nor timer ever interrupts a system call: the counter counts user mode only, so its signal arises between two
// instructions of the program, and the kernel checks CPU timers on the way back to user mode.
// The beat is there for what the counter cannot see: time in the kernel. Each period that ends there passes without a signal,
// so their number is known; the next beat that hits a system call is a sample that stands for them. A beat is one, too, when
// the counter has been silent all the time: when the application has closed the file (then the timer takes over for good);
// when its signals do not arrive (after setuid).
#pragma once

#include "libprofile/thread/clock_state.hpp"

#include <csignal>
#include <sys/types.h>

namespace libprofile {

struct Thread;

/// Finds a signal and installs its handler. False: no free real-time signal, then nothing is sampled.
bool prepare_sampling(void (*handler)(int, siginfo_t*, void*)) noexcept;

/// The signal in use, 0 for none.
int sampling_signal() noexcept;

/// The signal was sent by one of our clocks, also by one that has been stopped since.
bool is_our_signal(const siginfo_t& info) noexcept;

/// LIBPROFILE_SAMPLE_CLOCK=perf, and the kernel has refused it: the error number, else 0.
int perf_refusal() noexcept;

/// False: the kernel refused every clock; the thread then has no samples.
bool start_clock(Thread& thread, pid_t id) noexcept;
void stop_clock(Thread& thread) noexcept;

/// For the signal handler of the thread. False: a beat that is no sample.
bool is_due(Thread& thread, const siginfo_t& info, const void* context) noexcept;
/// What this sample stands for, in ns; `reading` is the new one. The thread's running MPI call, if there is one, is exact, and
/// what the counter does not see of it is left out.
std::uint64_t weigh(Thread& thread, const siginfo_t& info, std::uint64_t reading) noexcept;
/// The last thing it does: the next signal may come. nullptr: the thread is just opening its location.
void arm_again(Thread* thread, const siginfo_t& info) noexcept;

} // namespace libprofile
