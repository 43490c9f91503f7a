#include "libprofile/trace/event_trace.hpp"

#include <algorithm>
#include <iterator>

#include "libprofile/base/process_state.hpp"
#include "libprofile/base/real_time.hpp"

#include <new>

namespace libprofile {

constinit EventTrace::Shared EventTrace::shared;
constinit std::atomic<std::uint64_t> TaskState::taken{0};

namespace {

/// Real time when the session's clock began. Windows are cut by real time, which machines agree on better than on when a process began.
std::uint64_t real_origin() noexcept {
    static constinit std::atomic<std::uint64_t> origin{0};
    std::uint64_t known = origin.load(std::memory_order_relaxed);
    if (known != 0) return known;
    return origin.compare_exchange_strong(known, real_time() - session_clock.now()) ? origin.load() : known;
}

} // namespace

EventTrace* EventTrace::create(std::uint64_t limit, bool leads, std::uint64_t now, ThreadCounters& counters, Arena& arena) noexcept {
    void* memory = arena.allocate(sizeof(EventTrace), alignof(EventTrace));
    if (memory == nullptr) return nullptr;
    auto* made = new (memory) EventTrace(limit, leads, counters, arena);
    made->begin_part(0, now);
    return made;
}

void EventTrace::begin_part(std::uint64_t part, std::uint64_t at) noexcept {
    if (!stays_) processor_ = processor_number();
    store_.open(at, processor_);
    std::fill(std::begin(counted_), std::end(counted_), 0);
    part_ = part;
    at_ = at;
    begin_of_last_ = ~std::uint64_t{0};
    node_ = 0;
    if (part != 0) return;
    window_ = (at + real_origin()) / window_ns;
    window_end_ = (window_ + 1) * window_ns - real_origin();
}

/// The open part is over at `at`, and another one begins.
void EventTrace::cut(std::uint64_t next, std::uint64_t at) noexcept {
    constexpr std::uint64_t nothing_ns = 10000; // between two iterations
    const std::uint64_t begin = store_.begin_of_open();
    if (at < begin) at = begin;
    const PartKey key = part_ == 0 ? PartKey{PartKind::Window, 0, window_} : key_of_iteration(part_);
    if (part_ != 0 || store_.events_of_open() != 0 || at - begin > nothing_ns) {
        // One of the main thread's iterations stays until decide().
        unsigned reasons = store_.has_turn(key) ? PartHasItsTurn : 0;
        if (part_ != 0 && leads_) reasons |= PartIsFirstOfKind;
        const bool is_there = store_.close(key, at, static_cast<std::uint8_t>(reasons));
        if (is_there && part_ != 0 && !leads_ && shared.slow_last.load(std::memory_order_relaxed) == part_) keep_if_slow(key, at - begin);
        if (is_there && (part_ == 0 || !leads_)) store_.decide(key, PartIsFirstOfKind, false); // goes, if nothing speaks for it
    }
    begin_part(next, at);
}

void EventTrace::follow(std::uint64_t part, std::uint64_t begin) noexcept {
    std::uint64_t at = at_;
    if (part == 0 && part_ == 0) {
        const std::uint64_t window_begin = (begin + real_origin()) / window_ns * window_ns - real_origin();
        if (at < window_begin) at = window_begin;
    }
    cut(part, at);
}

// Flat, since calls cost lines of code, for which events with cold caches wait.
[[gnu::hot, gnu::flatten, gnu::aligned(64)]] void EventTrace::add(NodeId node, std::uint64_t begin, std::uint64_t end) noexcept {
    go_on(begin);
    see_processor();
    const std::uint64_t difference = std::uint64_t{node} - node_;
    EventRecord event;
    event.rest = difference << 1 ^ (difference >> 63 != 0 ? ~std::uint64_t{0} : 0);
    event.gap = static_cast<std::int64_t>(begin - at_);
    event.length = end - begin;
    store_.add(event);
    node_ = node;
    at_ = end;
    begin_of_last_ = begin;
}

/// Creations, runs and taskgroups: what has times.
[[gnu::hot]] void EventTrace::add_task(TaskEvent what, std::uint64_t says, NodeId node, std::uint64_t begin, std::uint64_t end, std::uint64_t task,
                                       std::uint64_t creator) noexcept {
    go_on(begin);
    if (what == TaskEvent::Run) see_processor();
    EventRecord event;
    event.type = EventType::Task;
    event.rest = task_rest(what, says);
    event.gap = static_cast<std::int64_t>(begin - at_);
    event.length = end - begin;
    event.number = task;
    event.creator = creator;
    if (what != TaskEvent::Further) {
        event.path = static_cast<std::int64_t>(std::uint64_t{node} - node_);
        node_ = node;
    }
    store_.add(event);
    at_ = end;
    begin_of_last_ = ~std::uint64_t{0};
}

void EventTrace::move_to(int processor) noexcept {
    if (processor < 0 || stays_) return;
    processor_ = processor;
    EventRecord event;
    event.type = EventType::Task;
    event.rest = further_rest(FurtherEvent::Moved);
    event.number = static_cast<std::uint64_t>(processor) + 1;
    store_.add(event);
}

[[gnu::cold]] void EventTrace::add_counts(const std::uint64_t (&at_begin)[most_counters]) noexcept {
    for (std::size_t i = 0; i < most_counters; ++i) {
        if ((counters_->mask() >> i & 1) == 0) continue;
        const std::uint64_t now = counters_->of_program(i), growth = now > at_begin[i] ? now - at_begin[i] : 0;
        EventRecord event;
        event.type = EventType::Task;
        event.rest = further_rest(FurtherEvent::Count, i);
        event.gap = static_cast<std::int64_t>(at_begin[i] - counted_[i]);
        event.length = growth;
        store_.add(event);
        counted_[i] = at_begin[i] + growth;
    }
}

void EventTrace::begin_iteration(std::uint32_t phase, std::uint64_t number, std::uint64_t now) noexcept {
    const std::uint64_t iteration = number >> number_bits == 0 ? code(phase, number) : 0;
    cut(iteration, now);
    shared.running.store(iteration, std::memory_order_relaxed);
}

void EventTrace::end_iteration(std::uint64_t now) noexcept {
    if (part_ == 0) return;
    ended_ = part_;
    shared.running.store(0, std::memory_order_relaxed);
    cut(0, now);
}

void EventTrace::decide_tentative(bool is_first) noexcept {
    const PartKey key = key_of_iteration(tentative_);
    tentative_ = 0;
    const bool stays = is_first && firsts_ < most_first;
    if (store_.decide(key, PartIsFirstOfKind, stays) && stays) ++firsts_;
}

void EventTrace::decide_last(const PartKey& key, std::uint64_t wall_ns, bool has_number) noexcept {
    if (!has_number) {
        store_.forget(key, PartHasItsTurn);
        store_.decide(key, PartIsFirstOfKind, false);
        return;
    }
    if (keep_if_slow(key, wall_ns)) shared.slow_last.store(code(key.phase, key.number), std::memory_order_relaxed);
    tentative_ = code(key.phase, key.number);
}

/// Whether it is there, and among the slowest until now. Another one then no longer is.
bool EventTrace::keep_if_slow(const PartKey& key, std::uint64_t length) noexcept {
    if (thinnings_ != store_.thinnings()) {
        thinnings_ = store_.thinnings();
        std::uint32_t left = 0;
        for (const Slow& slow : slow_)
            if (slow.length != 0 && store_.has(slow.key)) slow_[left++] = slow;
        for (; left < most_slow; ++left) slow_[left] = {};
    }
    Slow& least = slow_[most_slow - 1];
    if (length <= least.length || !store_.decide(key, PartIsSlow, true)) return false;
    if (least.length != 0) store_.forget(least.key, PartIsSlow);
    std::uint32_t at = most_slow - 1;
    for (; at > 0 && slow_[at - 1].length < length; --at) slow_[at] = slow_[at - 1];
    slow_[at] = {length, key};
    return true;
}

void EventTrace::add_inner(std::uint32_t phase, std::uint64_t number, std::uint64_t begin, std::uint64_t end) noexcept {
    go_on(begin);
    EventRecord event;
    event.type = EventType::Inner;
    event.rest = phase;
    event.gap = static_cast<std::int64_t>(begin - at_);
    event.length = end - begin;
    event.number = number;
    store_.add(event);
    at_ = end;
    begin_of_last_ = ~std::uint64_t{0};
}

} // namespace libprofile
