#include "libprofile/regions/regions.hpp"

#include "libprofile/base/hashing.hpp"
#include "libprofile/base/loaded_objects.hpp"
#include "libprofile/base/process.hpp"
#include "libprofile/callpath/load_map.hpp"
#include "libprofile/counters/counter_choice.hpp"
#include "libprofile/loops/loop_watch.hpp"
#include "libprofile/regions/function_filter.hpp"
#include "libprofile/regions/region_names.hpp"
#include "libprofile/thread/event_path.hpp"
#include "libprofile/thread/noted_event.hpp"

#include <cerrno>
#include <new>

namespace libprofile {

namespace {

/// The function number in remembered paths of regions.
constexpr unsigned no_function = 0xffff;

/// Called at the border of a region, as late at its entry and as early at its exit as possible. Counts in a pause belong to no region.
inline void look_at_counters(Thread& thread) noexcept {
    if (!thread.counters.is_on() || thread.phases.time().is_paused()) [[likely]]
        return;
    const int saved = errno;
    thread.counters.look(true);
    errno = saved;
}

/// Returns the present time; in a pause the time when it began, since nothing may be booked in it.
std::uint64_t time_of(const Thread& thread) noexcept { return thread.phases.time().is_paused() ? thread.phases.time().earliest_end() : session_clock.now(); }

/// Returns true for code that the program has made at run time: it has no name and no address that is valid in another process.
bool is_in_no_module(std::uintptr_t function) noexcept {
    LoadedObject module;
    return !find_loaded_object(function, module);
}

} // namespace

Regions* Regions::create(Thread& thread) noexcept {
    void* memory = thread.arena.allocate(sizeof(Regions));
    auto* known = thread.arena.array<KnownFunction>(std::size_t{1} << known_bits);
    auto* table = thread.arena.array<RegionCounter*>(std::size_t{1} << table_bits);
    if (memory == nullptr || known == nullptr || table == nullptr) return nullptr;
    auto* regions = new (memory) Regions(thread.arena);
    regions->known_ = known;
    regions->table_ = table;
    regions->book = book_all;
    if (thread.counters.is_on()) regions->named_.count(thread.counters, counter_choice.count());
    thread.regions = regions;
    thread.phases.hooks().source = regions;
    return regions;
}

void Regions::book_all(SegmentSource& self, PhaseStack& phases, std::uint64_t now) noexcept {
    auto& regions = static_cast<Regions&>(self);
    const std::uint64_t own = now - phases.time().booked_ns();
    const auto touch = [&regions](RegionCounter& counter) { regions.touch(counter); };
    regions.functions_.book(now, own, touch);
    regions.named_.book(now, own, touch);
    for (RegionCounter* counter = regions.touched_; counter != nullptr; counter = counter->next_touched) {
        Row& row = phases.row(counter->node);
        row[Metric::Visits] += counter->visits;
        row[Metric::RegionTime] += counter->inclusive_ns;
        row[Metric::RegionOwnTime] += counter->exclusive_ns;
        if (phases.counts_for_structure(row.node)) row.is_event = true; // others may have been folded into this one
        counter->visits = counter->inclusive_ns = counter->exclusive_ns = 0;
        if (counter->counted != nullptr) [[unlikely]]
            regions.book_counted(*counter, row);
        counter->is_touched = false;
    }
    regions.touched_ = nullptr;
}

void Regions::book_counted(RegionCounter& counter, Row& row) noexcept {
    const std::uint32_t counters = named_.counters();
    for (std::uint32_t i = 0; i < counters; ++i) {
        if (counter.counted[i] != 0) row.region_counter(i, counters) += counter.counted[i];
        counter.counted[i] = 0;
    }
}

RegionCounter* Regions::counter_of(NodeId node) noexcept {
    RegionCounter*& first = table_[mix(node) >> (64 - table_bits)];
    for (RegionCounter* counter = first; counter != nullptr; counter = counter->next)
        if (counter->node == node) return counter;
    RegionCounter* counter = counters_.append(*arena_);
    if (counter == nullptr) return nullptr;
    counter->node = node;
    counter->next = first;
    return first = counter;
}

RegionCounter* Regions::find_function(Thread& thread, NodeId parent, std::uintptr_t function) noexcept {
    function_filter.follow_modules();
    if (function_filter.excludes(function)) return nullptr;
    std::uint32_t module = load_map.find(function);
    if (module == LoadMap::none && load_map.is_stale()) { // perhaps of a library that was just loaded
        const int saved = errno;
        load_map.refresh();
        errno = saved;
        module = load_map.find(function);
    }
    if (module == LoadMap::none) return nullptr;
    function_filter.note_measured(module);
    const std::uint64_t offset = function - load_map[module].bias;
    NodeId node = parent;
    const auto is_same = [&](const Node& n) { return n.a == module && n.b == offset; };
    while (thread.tree[node].kind == NodeKind::FunctionRegion && !is_same(thread.tree[node])) node = thread.tree[node].parent;
    if (thread.tree[node].kind != NodeKind::FunctionRegion) node = thread.tree.child(parent, NodeKind::FunctionRegion, module, offset);
    RegionCounter* counter = counter_of(node);
    if (counter != nullptr && epoch_ != 0) known(parent, function) = {function, parent, counter};
    return counter;
}

inline RegionCounter* Regions::function_below(Thread& thread, NodeId parent, std::uintptr_t function) noexcept {
    const KnownFunction& entry = known(parent, function);
    return entry.key == function && entry.parent == parent ? entry.counter : find_function(thread, parent, function);
}

RegionCounter* Regions::outermost_function(Thread& thread, std::uintptr_t function, std::uintptr_t frame) noexcept {
    const int saved = errno;
    NodeId caller = calling_path(thread, frame);
    errno = saved;
    // The node is that of the function itself. The region belongs to its caller.
    if (thread.tree[caller].kind == NodeKind::Frame) caller = thread.tree[caller].parent;
    return function_below(thread, caller, function);
}

/// A jump out of a hook may have left a counter changed, but not yet the related data.
[[gnu::cold, gnu::noinline]] void Regions::recover() noexcept {
    is_abandoned_ = false;
    touched_ = nullptr;
    for (std::size_t i = 0; i < counters_.size(); ++i) {
        RegionCounter& counter = counters_[i];
        counter.active = 0;
        counter.is_touched = false;
        if (counter.visits != 0 || counter.inclusive_ns != 0 || counter.exclusive_ns != 0) touch(counter);
    }
    functions_.recount();
    named_.recount();
}

/// Counts an entry that is not followed.
void Regions::count_refused(std::uintptr_t function) noexcept {
    if (function_filter.excludes(function)) return; // excluded since its library was looked at just now
    ++(is_in_no_module(function) ? counts_.without_module : counts_.without_memory);
}

/// Counts an exit without an open entry. If the function's entries are never followed, that was already counted.
void Regions::count_unmatched(std::uintptr_t function) noexcept {
    if (!is_in_no_module(function)) ++counts_.unmatched;
}

/// Drops functions whose frames lie inside of `stack`.
void Regions::drop_left(std::uintptr_t stack, std::uint64_t now, std::uint64_t own) noexcept {
    if (!is_own_stack(stack)) return;
    while (!functions_.is_empty() && functions_.top().stack < stack && is_own_stack(functions_.top().stack)) {
        ++counts_.left;
        touch(*functions_.top().counter);
        functions_.pop(now, own);
        beyond_ = 0;
    }
}

[[gnu::hot]] void Regions::enter_function(Thread& thread, std::uintptr_t function, std::uintptr_t frame, std::uintptr_t stack) noexcept {
    see_returns(thread);
    std::uint64_t entered = 0;
    if (entries_.is_due()) [[unlikely]]
        entered = session_clock.now();
    if (is_abandoned_) [[unlikely]]
        recover();
    const std::uint32_t epoch = load_map.epoch();
    if (epoch != epoch_) [[unlikely]] {
        if (epoch_ != 0)
            for (std::size_t i = 0; i < std::size_t{1} << known_bits; ++i) known_[i] = {};
        epoch_ = epoch_to_keep(epoch);
    }
    if (!functions_.is_empty() && functions_.top().stack < stack) [[unlikely]] {
        const std::uint64_t now = session_clock.now();
        drop_left(stack, now, now - thread.phases.time().booked_ns());
    }
    if (!functions_.has_room(*arena_)) [[unlikely]] {
        ++counts_.too_deep;
        ++beyond_;
        return;
    }
    RegionCounter* counter = nullptr;
    if (functions_.is_empty()) [[unlikely]]
        counter = outermost_function(thread, function, frame);
    else
        counter = function_below(thread, functions_.top().counter->node, function);
    if (counter == nullptr) [[unlikely]] {
        count_refused(function);
        return;
    }
    ++counter->visits;
    touch(*counter);
    thread.phases.time().book_overhead(entries_.typical());
    const std::uint64_t now = session_clock.now();
    functions_.push(*counter, function, stack, now, now - thread.phases.time().booked_ns());
    if (entered != 0) [[unlikely]] {
        entries_.learn(now - entered);
        entry_costs_.add(now - entered);
    }
}

/// Returns true if the ending function was entered when there was no room. Such functions lie inside of the innermost open one, but an exception or
/// a jump may have left any number of them. A compiler may jump to the hook instead of calling it. The hook then seems to be called from one
/// frame further out. So the frame of the innermost open function alone tells nothing, unless more than one would be left.
[[gnu::cold, gnu::noinline]] bool Regions::is_beyond(std::uintptr_t function, std::uintptr_t stack) noexcept {
    const OpenRegion& top = functions_.top();
    const bool is_comparable = is_own_stack(stack) && is_own_stack(top.stack);
    if (!is_comparable || stack < top.stack) return --beyond_, true;
    const bool is_stale = stack > top.stack || beyond_ > 1;
    beyond_ = is_stale ? 0 : beyond_ - 1;
    return stack == top.stack && (!is_stale || top.key != function);
}

/// Finds the ending activation if it is not the innermost one. Returns true if it is on top now.
[[gnu::noinline]] bool Regions::find_exit(std::uintptr_t function, std::uintptr_t stack, std::uint64_t now, std::uint64_t own) noexcept {
    const bool is_own = is_own_stack(stack);
    for (std::uint32_t i = functions_.depth(); i-- > 0;) {
        const OpenRegion& region = functions_[i];
        if (is_own && (!is_own_stack(region.stack) || region.stack > stack)) break; // it is still running
        if (region.key != function) continue;
        for (; functions_.depth() > i + 1; ++counts_.left) {
            touch(*functions_.top().counter);
            functions_.pop(now, own);
        }
        beyond_ = 0;
        return true;
    }
    drop_left(stack, now, own);
    count_unmatched(function);
    return false;
}

[[gnu::hot]] void Regions::exit_function(Thread& thread, std::uintptr_t function, std::uintptr_t stack) noexcept {
    see_returns(thread);
    if (is_abandoned_) [[unlikely]]
        recover();
    const bool is_paused = thread.phases.time().is_paused();
    const std::uint64_t now = time_of(thread);
    const std::uint64_t own = now - thread.phases.time().booked_ns();
    if (beyond_ != 0 && is_beyond(function, stack)) [[unlikely]]
        return;
    if (functions_.is_empty()) [[unlikely]] {
        count_unmatched(function);
        return;
    }
    if (functions_.top().key != function && !find_exit(function, stack, now, own)) [[unlikely]]
        return;
    touch(*functions_.top().counter);
    functions_.pop(now, own);
    if (is_paused) [[unlikely]]
        return; // nothing may be booked
    thread.phases.time().book_overhead(exits_.typical());
    if (exits_.is_due()) [[unlikely]] {
        const std::uint64_t cost = session_clock.now() - now;
        exits_.learn(cost);
        exit_costs_.add(cost);
    }
}

void Regions::enter_exactly(Thread& thread, std::uintptr_t function, std::uintptr_t frame, std::uintptr_t stack) noexcept {
    if (!functions_.is_empty() && functions_.top().stack == stack) [[unlikely]] {
        const std::uint64_t now = session_clock.now();
        drop_left(stack + 1, now, now - thread.phases.time().booked_ns());
    }
    enter_function(thread, function, frame, stack);
}

void Regions::exit_exactly(Thread& thread, std::uintptr_t function, std::uintptr_t stack) noexcept {
    const bool is_own = is_own_stack(stack);
    if (is_own && !functions_.is_empty() && functions_.top().stack < stack) [[unlikely]] {
        const std::uint64_t now = time_of(thread);
        drop_left(stack, now, now - thread.phases.time().booked_ns());
    }
    if (!functions_.is_empty() && functions_.top().stack == stack && functions_.top().key == function) [[likely]] {
        beyond_ = 0; // those would lie inside
    } else if (is_own) {
        if (beyond_ != 0)
            --beyond_;
        else
            ++counts_.unmatched;
        return;
    }
    exit_function(thread, function, stack);
}

void Regions::leave_to(Thread& thread, std::uintptr_t stack) noexcept {
    if (functions_.is_empty() || functions_.top().stack >= stack) return;
    const std::uint64_t now = session_clock.now();
    drop_left(stack, now, now - thread.phases.time().booked_ns());
}

void Regions::begin_named(Thread& thread, std::uint32_t kind, std::uint64_t id, std::uintptr_t frame) noexcept {
    see_returns(thread);
    if (is_abandoned_) [[unlikely]]
        recover();
    const std::uint64_t entered = session_clock.now();
    const NodeId node = thread.tree.child(calling_path(thread, frame), NodeKind::Region, kind, id);
    RegionCounter* counter = counter_of(node);
    if (counter != nullptr && counter->counted == nullptr && named_.counters() != 0) [[unlikely]] {
        counter->counted = arena_->array<std::uint64_t>(named_.counters());
        if (counter->counted == nullptr) counter = nullptr;
    }
    if (counter == nullptr) {
        ++counts_.without_memory;
        return;
    }
    if (!named_.has_room(*arena_)) {
        ++counts_.too_deep;
        ++named_beyond_;
        return;
    }
    ++counter->visits;
    touch(*counter);
    const bool is_open_already = named_.is_open(id, kind); // at each depth of a recursion its call path is different
    look_at_counters(thread);
    const std::uint64_t now = session_clock.now();
    thread.phases.time().book_overhead(now - entered);
    named_.push(*counter, id, kind, now, now - thread.phases.time().booked_ns(), is_open_already);
    if (thread.listeners.any()) [[unlikely]]
        note_begin(thread, node);
}

/// Ends the innermost open region that is meant, and all inside of it. Returns false if none is open.
template <class IsMeant> bool Regions::end_named_region(Thread& thread, IsMeant is_meant) noexcept {
    see_returns(thread);
    if (is_abandoned_) [[unlikely]]
        recover();
    if (named_beyond_ != 0) [[unlikely]] {
        --named_beyond_;
        return true;
    }
    const std::uint64_t now = time_of(thread);
    for (std::uint32_t i = named_.depth(); i-- > 0;) {
        if (!is_meant(named_[i])) continue;
        look_at_counters(thread);
        const std::uint64_t own = now - thread.phases.time().booked_ns();
        if (named_.depth() > i + 1) ++counts_.repairs;
        while (named_.depth() > i) {
            const OpenRegion& ended = named_.top();
            touch(*ended.counter);
            if (thread.listeners.any() && !thread.phases.time().is_paused()) [[unlikely]] {
                note_event(thread, ended.counter->node, ended.began_at, now - ended.began_at);
                std::uint64_t at_entry[most_counters] = {};
                if (thread.listeners.trace && named_.counted_at_entry(at_entry)) thread.events->add_counts(at_entry);
            }
            named_.pop(now, own);
        }
        if (!thread.phases.time().is_paused()) thread.phases.time().book_overhead(session_clock.now() - now);
        return true;
    }
    return false;
}

void Regions::end_named(Thread& thread, std::uint32_t kind, std::uint64_t id) noexcept {
    const bool is_ended = end_named_region(thread, [&](const OpenRegion& region) { return region.key == id && region.stack == kind; });
    // A name without room was counted when it began.
    if (!is_ended && (!region_names.is_full() || region_names.knows(kind, id))) ++counts_.repairs;
}

void Regions::end_innermost(Thread& thread, std::uint32_t kind) noexcept {
    if (!end_named_region(thread, [&](const OpenRegion& region) { return region.stack == kind; })) ++counts_.repairs;
}

NodeId calling_path(Thread& thread, std::uintptr_t frame) noexcept {
    if (!process.records_call_paths()) return 0;
    const void* return_address = reinterpret_cast<void* const*>(frame)[1];
    const bool is_checked = thread.paths.is_to_be_checked();
    if (!is_checked)
        if (const KnownPath* known = find_known_path(thread, no_function, return_address, frame)) return known->node;
    const NodeId node = thread.paths.at_call(frame);
    if (!is_checked) remember_path(thread, no_function, return_address, frame, node);
    return node;
}

} // namespace libprofile
