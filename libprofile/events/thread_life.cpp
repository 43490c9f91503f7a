#include "libprofile/thread/thread_life.hpp"

#include "libprofile/events/calibration.hpp"
#include "libprofile/events/openmp_events.hpp"
#include "libprofile/loops/iteration_point.hpp"
#include "libprofile/loops/loop_watch.hpp"
#include "libprofile/regions/regions.hpp"
#include "libprofile/sampling/sample_clock.hpp"
#include "libprofile/thread/counting.hpp"

namespace libprofile {

namespace {

void look_for_loops(Thread& thread) noexcept { thread.loops = LoopWatch::create(); }

void interrupt(Thread& thread) noexcept {
    if (thread.loops != nullptr) thread.loops->interrupt(thread);
}

void close(Thread& thread, std::uint64_t now, std::uint64_t cpu_now) noexcept {
    if (thread.loops != nullptr) {
        thread.loops->finish(thread, now, cpu_now);
        count_own(thread);
    }
    if (iteration_point.is_on() && !thread.openmp.is_worker) thread.phases.end_if_open(PhaseKind::Iterations, iteration_point.name(), now, cpu_now);
    if (thread.regions != nullptr) thread.regions->finish();
    close_openmp(thread, now, cpu_now);
}

} // namespace

constinit const ThreadLife thread_life = {calibrate, look_for_loops, interrupt, close, start_clock, stop_clock};

} // namespace libprofile
