#include "libprofile/events/calibration.hpp"

#include "libprofile/base/process_state.hpp"
#include "libprofile/base/signals_wait.hpp"
#include "libprofile/base/unseen_cost.hpp"
#include "libprofile/callpath/arch/machine.hpp"
#include "libprofile/callpath/path_tracker.hpp"
#include "libprofile/events/mpi_events.hpp"
#include "libprofile/events/poll_call.hpp"
#include "libprofile/thread/checkpoint_time.hpp"

#include <algorithm>

namespace libprofile {

namespace {

constexpr unsigned calls = 32, batches = 40;

/// Where a function is called from, as it sees that itself.
struct Caller {
    const void* return_address = nullptr;
    std::uintptr_t frame = 0;
    bool is_asked = true;
};

int nothing(Caller&) {
    asm volatile("");
    return 0;
}
int (*volatile real)(Caller&) = nothing; // as the pointers to the functions of an MPI library

/// As the generated bodies of MPI functions (wrappers/mpi/generator).
[[gnu::noinline]] int body(Caller& caller) {
    if (caller.is_asked) {
        caller = {__builtin_return_address(0), reinterpret_cast<std::uintptr_t>(LIBPROFILE_OWN_FRAME), false};
        return 0;
    }
    MpiEvent event(0, __builtin_return_address(0), LIBPROFILE_OWN_FRAME);
    const int result = real(caller);
    event.stop();
    if (event.counted() && result == 0) event.add(Metric::Visits, 0);
    return result;
}

[[gnu::noinline]] int complete_poll(const PollCall& call, Caller& caller) {
    MpiEvent event(MpiEvent::polls, 0, call);
    const int result = event.has_returned() ? call.result : real(caller);
    if (event.repeats_poll() && result == 0) return event.count_repeated(), result;
    event.stop();
    return result;
}

[[gnu::noinline]] int body_of_poll(Caller& caller) {
    if (caller.is_asked) {
        caller = {__builtin_return_address(0), reinterpret_cast<std::uintptr_t>(LIBPROFILE_OWN_FRAME), false};
        return 0;
    }
    void* const own_frame = LIBPROFILE_OWN_FRAME;
    int result = 0;
    Thread* const thread = begin_expected_poll(0, __builtin_return_address(0), own_frame);
    if (thread != nullptr) [[likely]] {
        result = real(caller);
        if (result == 0 && end_expected_poll(*thread, own_frame)) [[likely]]
            return result;
    }
    return complete_poll({__builtin_return_address(0), own_frame, thread, result}, caller);
}

/// The only place that calls them, so all calls have one return address and one frame.
[[gnu::noipa]] void call(int (*volatile& function)(Caller&), Caller& caller, unsigned times) {
    for (unsigned i = 0; i < times; ++i) function(caller);
}

/// ns of a call: the fastest of many batches. `prepare` learns where the calls come from, before the first one that counts; `after_batch` comes after
/// each batch.
template <class Prepare, class AfterBatch> std::uint32_t time_of(int (*function)(Caller&), Prepare prepare, AfterBatch after_batch) {
    int (*volatile slot)(Caller&) = function;
    Caller caller;
    call(slot, caller, 1);
    prepare(caller);
    std::uint64_t least = UINT64_MAX;
    for (unsigned i = 0; i < batches; ++i) {
        const std::uint64_t begin = session_clock.now();
        call(slot, caller, calls);
        least = std::min(least, session_clock.now() - begin);
        after_batch(i);
    }
    return static_cast<std::uint32_t>((least + calls / 2) / calls);
}

/// A call path of three words of the stack, the last of which is marked. No function returns there.
class MarkedWords {
  public:
    static constexpr NodeId node = 0;
    MarkedWords() noexcept : before_(own_mark()) {
        Mark& mark = own_mark();
        mark.slot = reinterpret_cast<std::uintptr_t>(&words_[2]);
        mark.return_address = 3;
        mark.node = node;
        words_[2] = mark_stub();
    }
    ~MarkedWords() noexcept { own_mark() = before_; }
    MarkedWords(const MarkedWords&) = delete;
    MarkedWords& operator=(const MarkedWords&) = delete;

    void lead(KnownPath& path, const Caller& caller, Row& row, std::uint64_t row_generation, std::size_t words = 3) const noexcept {
        path = {};
        path.next = &path;
        path.return_address = caller.return_address;
        path.frame = caller.frame;
        path.row = &row;
        path.row_generation = row_generation;
        path.epoch = process_state.load_map_epoch.load(std::memory_order_relaxed);
        for (std::size_t i = 3 - words; i != 3; ++i) {
            const auto distance = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(&words_[i]) - caller.frame);
            path.word[path.words++] = {words_[i] == mark_stub() ? own_mark().return_address : words_[i], distance, 0};
        }
    }

  private:
    volatile std::uintptr_t words_[3] = {1, 2, 3};
    Mark before_;
};

std::uint32_t more(std::uint32_t than, std::uint32_t what) { return than > what ? than - what : 0; }

/// The costs, where `thread` has booked nothing of a call yet. `assumed`: what is taken for what cannot be measured.
UnseenCost measure(Thread& thread, const UnseenCost& assumed) {
    WallLedger& time = thread.phases.time();
    const MarkedWords words;
    Row row;
    const auto nothing_more = [](unsigned) {};
    const std::uint32_t plain = time_of(
        nothing, [](const Caller&) {}, nothing_more);

    KnownPath* path = nullptr;
    const auto lead = [&](const Caller& caller) {
        path = thread.known_paths.replace(caller.return_address, caller.frame, 0, MarkedWords::node, thread.tree, thread.arena);
        if (path == nullptr) return;
        words.lead(*path, caller, row, thread.phases.row_generation());
        path->python = thread.paths.python_at(caller.frame);
    };
    // Medians, since an interruption is in one batch; means inside a batch, since the clock may be coarser than a call.
    std::uint32_t seen[batches], booked[batches];
    std::uint64_t before = time.booked().events_ns;
    const std::uint32_t whole = time_of(body, lead, [&](unsigned batch) {
        if (batch == batches / 4) thread.cheap_event = {}; // the caches are warm now
        seen[batch] = static_cast<std::uint32_t>(thread.cheap_event.typical());
        booked[batch] = static_cast<std::uint32_t>((time.booked().events_ns - before) / calls);
        before = time.booked().events_ns;
    });
    if (path == nullptr) return assumed;
    *path = {};
    const auto middle = [](std::uint32_t(&of)[batches]) {
        std::sort(of + batches / 4 + 1, of + batches);
        return of[batches / 8 * 5];
    };
    process_state.clock_reading_ns = more(middle(booked), plain);

    KnownPath path_of_poll;
    PollStatistics statistics;
    CallSite site;
    const auto lead_polls = [&](const Caller& caller) {
        words.lead(path_of_poll, caller, row, thread.phases.row_generation(), 2); // so that it is expected
        time.polls().begin(&site, &path_of_poll, statistics, row, session_clock.now(), 1, 1, 0);
        time.polls().grant(2 * calls * batches);
    };
    const std::uint32_t poll = time_of(body_of_poll, lead_polls, nothing_more);
    time.polls().count_repeats();
    const bool were_polls = time.polls().repeats == calls * batches;
    return {more(more(whole, plain), middle(seen)), were_polls ? more(poll, plain) : assumed.poll_ns};
}

} // namespace

void calibrate(Thread& thread) noexcept {
    if (thread_local_block.in_tool != 0 || thread.is_silent() || thread.paths.is_to_be_checked() || thread.call_depth != 0 || own_mark().slot != 0) return;
    const SignalsWait wait;
    WallLedger& time = thread.phases.time();
    const UnseenCost assumed = unseen_cost;
    const SegmentCounters booked = time.booked();
    const PollRun run = time.polls();
    const OwnCost cheap_event = thread.cheap_event;
    const std::uint64_t repeated = thread.paths_repeated;
    const std::uint64_t checkpoint = checkpoint_due_at.exchange(checkpoint_never, std::memory_order_relaxed);
    unseen_cost = {}; // while it is measured, nothing is added
    unseen_cost = measure(thread, assumed);
    checkpoint_due_at.store(checkpoint, std::memory_order_relaxed);
    thread.paths_repeated = repeated;
    thread.cheap_event = cheap_event;
    time.polls() = run;
    time.go_back(booked);
    if (thread.events != nullptr) thread.events->begin_again(thread.started_at);
}

} // namespace libprofile
