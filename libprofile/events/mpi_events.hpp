// The interface between the generated MPI wrapper bodies and the runtime.
//
// Contract: every function may be called before the constructor of the library, after MPI_Finalize, on any thread,
// and from inside MPI callbacks. None throws or touches the application's malloc; none is called by a signal handler.
// A body looks like this:
//
//     MpiEvent event(function_id, __builtin_return_address(0), LIBPROFILE_OWN_FRAME);
//     event.before_waiting();                               // blocking collectives only
//     int result = real.MPI_Send(...);
//     event.stop();
//     if (event.counted() && result == MPI_SUCCESS) account(event, ...);
//     return result;                                        // the destructor closes the event
//
// That of a poll begins with a PollCall (poll_call.hpp); in the rest of it the event is made of that one, and after the real call comes
//
//     if (event.repeats_poll() && result == MPI_SUCCESS && !*flag) return event.count_repeated(), result;
#pragma once

#include "format/metrics.hpp"
#include "format/partners.hpp"
#include "libprofile/base/function_records.hpp"
#include "libprofile/callpath/arch/machine.hpp"
#include "libprofile/metrics/accumulator.hpp"
#include "libprofile/trace/envelope.hpp"

#include <cstdint>

namespace libprofile {

struct CallSite;
struct KnownPath;
class OwnCost;
struct PollCall;
struct RunningCall;
struct Thread;

/// One MPI call of the application, from the entry of its wrapper body to its return.
class MpiEvent {
  public:
    /// `return_address` is where the application (or the MPI library itself) called from, `frame` is LIBPROFILE_OWN_FRAME of the wrapper body.
    /// A call made by the MPI library from inside another MPI call is not counted.
    MpiEvent(unsigned function_id, void* return_address, void* frame) noexcept { begin(function_id, return_address, frame); }
    /// The same of a function that polls. One more of a run of unsuccessful polls costs little.
    enum Polls : std::uint8_t { polls };
    MpiEvent(Polls, unsigned function_id, const PollCall& call) noexcept;
    /// An operation of the application's, which the MPI library calls from inside a call. Not counted if no counted call is around it.
    enum Operation : std::uint8_t { operation };
    MpiEvent(Operation, void* return_address, void* frame) noexcept { begin_operation(return_address, frame); }
    MpiEvent(const MpiEvent&) = delete;
    MpiEvent& operator=(const MpiEvent&) = delete;

    /// The call may wait for other ranks: time for work that the end of an iteration has left. Right after the constructor.
    void before_waiting() noexcept;

    /// The real call was made before the event: PollCall::thread.
    bool has_returned() const noexcept { return state_.has_returned; }

    /// The call continues a run of unsuccessful polls and need not be timed. If it was unsuccessful, too: count_repeated(), and nothing else.
    bool repeats_poll() const noexcept { return state_.repeats; }
    void count_repeated() noexcept;

    /// Ends the time of the MPI call itself; what follows is measurement overhead. Call once, right after the real call.
    void stop() noexcept;

    /// Returns false if nothing is measured or the MPI library made the call for itself. Then account nothing.
    bool counted() const noexcept { return row_ != nullptr; }

    /// The requests that this call makes must be remembered: it is counted, or it is the application's and cannot be counted
    /// (recording is off, or the thread has no location), but a later call that completes them may be.
    bool follows_requests() const noexcept { return row_ != nullptr || state_.unrecorded; }

    /// Adds to a metric of this call path. Only after stop() and when counted().
    void add(Metric metric, std::uint64_t value) noexcept { (*row_)[metric] += value; }

    /// Counts a message, and notes it in the trace of events. As add().
    void message(MessageDirection direction, const Envelope& envelope, std::uint64_t bytes) noexcept;

    /// MPI has sent or received a message that cannot be counted.
    static void miss_message() noexcept;

    /// The calling thread keeps events: collective() is wanted.
    bool keeps_events() const noexcept;
    /// Notes in the trace of events that this call is a collective operation of a communicator (Envelope's). As add(), and if keeps_events().
    void collective(std::uint32_t communicator) noexcept;
    /// A collective operation that others may have counted, and this process has not.
    static void miss_collective() noexcept;

    /// Counted, but left out of the iteration's structure signature.
    void leave_out_of_signature() noexcept;
    /// The call was a poll that found nothing. Their number is random: left out, too; several in a row are timed together.
    void was_unsuccessful() noexcept;

    /// There is no memory to follow `requests`, so what they move will not be counted. Only when counted().
    void count_lost_requests(std::uint64_t requests) const noexcept;

    /// An operation of the application's will not be followed. Before the real call.
    void count_lost_operation() const noexcept;

    /// An aligned buffer of at least `bytes` bytes for the length of this call; nullptr when memory ran out or the call is
    /// not counted (then pass the application's own arguments).
    void* scratch(std::uint64_t bytes) const noexcept;

    ~MpiEvent() noexcept {
        if (thread_ != nullptr) end();
    }

  private:
    void begin(unsigned function_id, void* return_address, void* frame) noexcept;
    bool begins_plainly(Thread& thread, unsigned function_id, void* return_address, std::uintptr_t frame, KnownPath*& noted, std::uint32_t& set) noexcept;
    void begin_noted(Thread& thread, KnownPath& path, std::uint32_t set, unsigned function_id, void* return_address, void* frame) noexcept;
    RunningCall& take(Thread& thread, KnownPath& path, unsigned function_id, void* return_address, std::uintptr_t frame) noexcept;
    static CallSite& call_site(Thread& thread, unsigned function_id, const void* return_address) noexcept;
    void begin_in_full(unsigned function_id, void* return_address, void* frame) noexcept;
    void leave_uncounted(void* return_address) noexcept;
    void begin_operation(void* return_address, void* frame) noexcept;
    void open(Thread& thread, void* return_address, std::uintptr_t frame) noexcept;
    bool begins_repeated_poll(unsigned function_id, const void* return_address, void* frame) noexcept;
    void stop_in_full() noexcept;
    void end() noexcept;
    void end_in_full() noexcept;
    bool begins_to_record(void* return_address, std::uintptr_t frame) noexcept;
    bool is_nested_call(Thread& thread, void* return_address, std::uintptr_t frame) noexcept;
    bool find_path(Thread& thread, KnownPath* known, unsigned function_id, void* return_address, std::uintptr_t frame) noexcept;
    bool find_operation(Thread& thread, std::uintptr_t frame) noexcept;
    void find_row(Thread& thread, KnownPath& path, std::uintptr_t frame) noexcept;
    bool begins_quickly(Thread& thread, KnownPath& path, std::uintptr_t frame) noexcept;
    bool follow(Thread& thread, std::uint32_t node, std::uintptr_t frame, bool is_walked) noexcept;
    bool continues_polls(Thread& thread, unsigned function_id, void* return_address, std::uintptr_t frame) noexcept;
    void begin_polls() noexcept;
    void do_pending_work(std::uint32_t iterations) noexcept;
    void end_poll() noexcept;
    void note_message(MessageDirection direction, const Envelope& envelope, std::uint64_t bytes) noexcept;
    OwnCost* noted_cost() const noexcept;
    void learn_own_time() noexcept;
    std::uint64_t cpu_of_call(const RunningCall& call, std::uint64_t own) noexcept;
    std::uint64_t cpu_of_long_call(std::uint64_t start, std::uint64_t own) noexcept;
    void clear() noexcept {
        thread_ = nullptr;
        row_ = nullptr;
        state_ = {};
    }

    // begin() sets them, not the constructor, which is in every body.
    Thread* thread_; // nullptr if nothing is measured
    Row* row_;
    struct State {
        std::uint32_t level : 20 = 0;                // of this call among the running ones
        std::uint32_t is_plain : 1 = false;          // nothing about it is unusual: what begins_plainly() asks
        std::uint32_t is_stopped : 1 = false;        //
        std::uint32_t is_cheap : 1 = false;          // its call path was known without looking at the stack
        std::uint32_t is_looked_at : 1 = false;      // by the search for the time loop
        std::uint32_t is_noted : 1 = false;          // by the search: LoopWatch::begin_quickly()
        std::uint32_t is_measured : 1 = false;       // entered_ and the end are read from the clock
        std::uint32_t is_poll : 1 = false;           // one of a run of polls (phases/poll_run.hpp)
        std::uint32_t repeats : 1 = false;           // of these: ExpectedPoll::left covers it
        std::uint32_t has_returned : 1 = false;      // of these: before the event was made
        std::uint32_t is_timed : 1 = false;          // of these: the clock is read
        std::uint32_t unsuccessful : 1 = false;      //
        std::uint32_t checkpoint_is_due : 1 = false; // noticed where the time is known anyway
        std::uint32_t unrecorded : 1 = false;        // a call of the application that cannot be counted
    } state_;
    std::uint32_t function_id_;
    const KnownPath* path_;    // nullptr if none is remembered
    std::uint64_t stopped_at_; // ns, when the real call returned
    std::uint64_t entered_;    // ns, if is_measured
    int in_tool_before_;       // see enter_tool(); of a plain call it is 0
};

/// Called by the body of MPI_Pcontrol, around the event of the call; `frame` as for MpiEvent. docs/how-it-works.md, Control.
void before_pcontrol(int level, void* frame) noexcept;
void after_pcontrol(int level, void* frame) noexcept;

} // namespace libprofile
