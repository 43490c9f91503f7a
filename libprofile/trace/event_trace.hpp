// What one thread does, event by event, in the parts of the run that are kept (LIBPROFILE_TRACE=events): calls of MPI, waits and constructs of OpenMP,
// visits to named regions, messages, tasks of OpenMP.
// Contract: belongs to one thread, used with its in-tool flag set or after its end; async-signal-safe, but decide(); nothing throws; memory from the quota,
// at most the limit. An event costs some 8 ns.
// Counters that the user chose are read by the caller, with ThreadCounters::look() or read(), at the border that they are for.
//
// Parts are the iterations of the rank's main thread that lie in no other, and where there are none windows of real time: PartStore says which are kept.
// Other threads follow the main thread's iterations. A part has the events that ended in it. That an iteration is one of the slowest of its rank, or the
// first of its cluster, is known after its end only: until then it stays.
#pragma once

#include "format/partners.hpp"
#include "libprofile/base/processor_number.hpp"
#include "libprofile/callpath/call_tree.hpp"
#include "libprofile/counters/thread_counters.hpp"
#include "libprofile/trace/envelope.hpp"
#include "libprofile/trace/message_numbers.hpp"
#include "libprofile/trace/part_store.hpp"
#include "libprofile/trace/task_state.hpp"

#include <atomic>
#include <cstdint>

namespace libprofile {

class alignas(64) EventTrace {
  public:
    static constexpr std::uint64_t window_ns = std::uint64_t{1} << 26;

    /// Makes one for a thread that began at `now`. `leads`: it is the main thread, whose iterations are those of the rank. Returns nullptr if memory is
    /// short.
    static EventTrace* create(std::uint64_t limit, bool leads, std::uint64_t now, ThreadCounters& counters, Arena& arena) noexcept;

    /// An event comes within the next microseconds. Most programs compute between their calls, and what add() needs is in no cache then.
    void expect() const noexcept {
        __builtin_prefetch(this, 1);
        __builtin_prefetch(store_.next(), 1);
    }
    /// An event of `node` is over.
    [[gnu::noinline]] void add(NodeId node, std::uint64_t begin, std::uint64_t end) noexcept;
    /// A task was made at a place in the program. Its dependences follow at once.
    void add_creation(NodeId place, std::uint64_t at, std::uint64_t task, std::uint64_t creator, std::uint64_t flags) noexcept {
        add_task(TaskEvent::Creation, flags, place, at, at, task, creator);
    }
    void add_dependence(std::uint64_t address, TaskDependence kind) noexcept {
        EventRecord event;
        event.type = EventType::Task;
        event.rest = task_rest(TaskEvent::Depends, static_cast<std::uint64_t>(kind));
        event.address = address;
        store_.add(event);
    }
    /// A stretch of a task's execution is over.
    void add_run(NodeId node, std::uint64_t begin, std::uint64_t end, std::uint64_t task, std::uint64_t flags) noexcept {
        add_task(TaskEvent::Run, flags, node, begin, end, task, 0);
    }
    /// A taskgroup is over, for whose tasks `task` has waited.
    void add_group(std::uint64_t begin, std::uint64_t end, std::uint64_t task) noexcept { add_task(TaskEvent::Further, 0, 0, begin, end, task, 0); }
    TaskState& tasks() { return tasks_; }

    /// The counters as they were read last are those at the begin of the call or wait that comes.
    void begin_counts() noexcept {
        counters_->values(begin_of_call_);
        has_begin_of_call_ = true;
    }
    /// And these at its end, if those at its begin were told. It was added last.
    void add_counts() noexcept {
        if (has_begin_of_call_) add_counts(begin_of_call_);
        has_begin_of_call_ = false;
    }
    /// The same for an event, a run, for which the caller has kept them.
    void add_counts(const std::uint64_t (&at_begin)[most_counters]) noexcept;

    /// A message of a call that began at `begin` on the path of `node`; it is over, but may not have been added.
    void add_message(NodeId node, std::uint64_t begin, std::uint64_t end, MessageDirection direction, const Envelope& envelope, std::uint64_t bytes) noexcept {
        if (node_ != node || begin_of_last_ != begin) [[unlikely]]
            add(node, begin, end);
        EventRecord event;
        event.type = EventType::Message;
        event.rest = direction == MessageDirection::Received ? std::uint64_t{MessageIsReceived} : 0;
        if (envelope.partner != UINT32_MAX) {
            event.rest |= MessageHasPartner;
            event.partner = envelope.partner;
            event.number = shared.message_numbers.next(direction, envelope.partner, envelope.communicator, envelope.tag);
            if (event.number != 0) event.rest |= MessageHasNumber;
        }
        event.communicator = envelope.communicator;
        event.tag = envelope.tag;
        event.bytes = bytes;
        store_.add(event);
    }

    /// As add_message(): the call is a collective operation.
    void add_collective(NodeId node, std::uint64_t begin, std::uint64_t end, std::uint32_t communicator) noexcept {
        EventRecord event;
        event.type = EventType::Message;
        event.rest = MessageIsCollective;
        event.communicator = communicator;
        event.number = shared.message_numbers.next_collective(communicator);
        if (event.number == 0) return;
        if (node_ != node || begin_of_last_ != begin) [[unlikely]]
            add(node, begin, end);
        store_.add(event);
    }

    /// An iteration that lies in no other begins. Of the leading thread.
    void begin_iteration(std::uint32_t phase, std::uint64_t number, std::uint64_t now) noexcept;
    /// It is over; decide() follows. Not if its begin was not told.
    void end_iteration(std::uint64_t now) noexcept;
    /// The iteration that ended last is in the series, `wall_ns` long, or has no number. `was_new`: is asked whether the one of its phase before it was the
    /// first of its cluster, if that matters.
    template <class WasNew> void decide(std::uint32_t phase, std::uint64_t number, std::uint64_t wall_ns, bool has_number, WasNew&& was_new) noexcept {
        if (ended_ != code(phase, number)) return;
        ended_ = 0;
        if (tentative_ != 0) decide_tentative(was_new(key_of_iteration(tentative_)));
        decide_last(key_of_iteration(code(phase, number)), wall_ns, has_number);
    }
    /// An iteration inside another one is over.
    void add_inner(std::uint32_t phase, std::uint64_t number, std::uint64_t begin, std::uint64_t end) noexcept;
    /// Nothing more comes.
    void finish(std::uint64_t now) noexcept {
        cut(0, now);
        if (tentative_ != 0) decide_tentative(false);
    }
    /// Why a part is there, as far as that is decided; 0: it may not stay.
    unsigned reasons_of(const Part& part) const noexcept {
        const bool is_open = tentative_ != 0 && part.key == key_of_iteration(tentative_);
        return is_open ? part.reasons & ~static_cast<unsigned>(PartIsFirstOfKind) : part.reasons;
    }

    /// What it has is of no interest: a thread that left nothing, or calls that were made to measure what they cost.
    void begin_again(std::uint64_t now) noexcept {
        store_.clear();
        tasks_.begin_again();
        stays_ = false;
        begin_part(0, now);
    }
    /// What still comes is told by another thread, which closes this one's: it ended where its thread was seen last.
    void stay() noexcept { stays_ = true; }

    const PartStore& store() const { return store_; }

    /// Of the process.
    static MessageNumbers& message_numbers() { return shared.message_numbers; }

  private:
    EventTrace(std::uint64_t limit, bool leads, ThreadCounters& counters, Arena& arena) : leads_(leads), counters_(&counters) {
        store_.start(arena, limit, counters);
    }

    static constexpr std::uint32_t most_slow = 4, most_first = 32;

    // An iteration as a number: its phase + 1 above its number in the phase. 0: none.
    static constexpr unsigned number_bits = 40;
    static constexpr std::uint64_t code(std::uint32_t phase, std::uint64_t number) { return (std::uint64_t{phase} + 1) << number_bits | number; }
    static constexpr PartKey key_of_iteration(std::uint64_t code) {
        return {PartKind::Iteration, static_cast<std::uint32_t>((code >> number_bits) - 1), code & ((std::uint64_t{1} << number_bits) - 1)};
    }
    /// What the traces of all threads share: one cache line.
    struct alignas(64) Shared {
        std::atomic<std::uint64_t> running{0};   // the iteration in which the main thread is
        std::atomic<std::uint64_t> slow_last{0}; // the last one that was among the slowest
        MessageNumbers message_numbers;
    };
    static Shared shared;

    /// An event that began at `begin` comes: it may be the first of another part.
    void go_on(std::uint64_t begin) noexcept {
        const std::uint64_t now = shared.running.load(std::memory_order_relaxed);
        if (now != part_ || (now == 0 && begin >= window_end_)) [[unlikely]]
            follow(now, begin);
    }
    /// An event is over on this processor. The kernel keeps the number where the thread can read it.
    void see_processor() noexcept {
        if (const int now = processor_number(); now != processor_) [[unlikely]]
            move_to(now);
    }
    [[gnu::cold, gnu::noinline]] void move_to(int processor) noexcept;
    [[gnu::cold, gnu::noinline]] void follow(std::uint64_t part, std::uint64_t begin) noexcept;
    void add_task(TaskEvent what, std::uint64_t says, NodeId node, std::uint64_t begin, std::uint64_t end, std::uint64_t task, std::uint64_t creator) noexcept;
    void cut(std::uint64_t next, std::uint64_t at) noexcept;
    void begin_part(std::uint64_t part, std::uint64_t at) noexcept;
    void decide_tentative(bool is_first) noexcept;
    void decide_last(const PartKey& key, std::uint64_t wall_ns, bool has_number) noexcept;
    bool keep_if_slow(const PartKey& key, std::uint64_t length) noexcept;

    // What each event needs, with the first members of store_: one cache line.
    std::uint64_t part_ = 0;       // as `running`
    std::uint64_t window_end_ = 0; // of the session's clock, if part_ is 0
    std::uint64_t at_ = 0;         // end of the last event of the part that has one
    std::uint64_t begin_of_last_ = 0;
    NodeId node_ = 0;    // the last call path
    int processor_ = -1; // of the last event; -1: not known
    PartStore store_;

    bool leads_;
    bool stays_ = false;
    std::uint64_t window_ = 0;    // number of the window, if part_ is 0
    std::uint64_t ended_ = 0;     // the iteration that decide() is to be called for
    std::uint64_t tentative_ = 0; // one that stays only if it is the first of its cluster
    std::uint32_t firsts_ = 0;
    struct Slow {
        std::uint64_t length = 0;
        PartKey key;
    };
    Slow slow_[most_slow];        // the longest first
    std::uint64_t thinnings_ = 0; // of the store, when slow_ was looked at
    TaskState tasks_;
    ThreadCounters* counters_;
    std::uint64_t counted_[most_counters] = {}; // that the part had last
    std::uint64_t begin_of_call_[most_counters] = {};
    bool has_begin_of_call_ = false; // a sample may have read the time in a call at whose begin nothing was read
};

} // namespace libprofile
