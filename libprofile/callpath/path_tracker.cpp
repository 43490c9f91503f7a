#include "libprofile/callpath/path_tracker.hpp"

#include "libprofile/callpath/arch/machine.hpp"
#include "libprofile/callpath/frame_walk.hpp"
#include "libprofile/callpath/load_map.hpp"
#include "libprofile/callpath/python_process.hpp"
#include "libprofile/callpath/recipe_table.hpp"
#include "libprofile/callpath/thread_block.hpp"
#include "libprofile/callpath/unwinder.hpp"
#include "libprofile/mpi/weak_references.hpp"

#include <algorithm>
#include <atomic>
#include <ucontext.h>

namespace libprofile {

namespace {

/// An MPI call places the mark anew if it is farther out than this: each frame in between costs about 10 ns a call, a return through the
/// mark 5 ns.
constexpr std::size_t far_from_mark = 6;

/// Sets the flags of a path that libunwind found; libunwind knows neither unmarkable code nor binding layers.
void find_flags(RawPath& path) {
    for (std::size_t i = 0; i < path.size; ++i) path.flags[i] = recipe_table.find(path.addresses[i], load_map.epoch()).flags;
}

constexpr std::uint8_t never_marked = InLibc | InLibprofile | InBindingLayer | InUnwinder | Unmarkable | SignedReturn;

} // namespace

void PathTracker::begin_again() noexcept {
    size_ = 0;
    complete_ = jumping_ = has_sample_ = marks_possible_ = false;
    parallel_.clear();
    modules_ready_ = 0;
    exceptions_ = nullptr; // it pointed into the storage of a thread that is gone
    has_python_ = false;
    limit_standing(0);
    common_since_look_ = common_since_call_ = RawPath::capacity + 1;
    returns_seen_ = 0;
    python_stale_ = RawPath::capacity;
    if (python_ != nullptr) python_->begin();
}

void PathTracker::ready() noexcept {
    if (modules_ready_ == 0) marks_possible_ = are_marks_possible();
    modules_ready_ = load_map.arrivals();
    if (exceptions_ == nullptr) exceptions_ = load_map.exceptions_in_flight();
    python_process.look_for_new();
}

void PathTracker::forget(std::uintptr_t stack_pointer) noexcept {
    remove_mark(mark(), stack_pointer);
    size_ = 0;
    limit_standing(0);
    common_since_followed_ = 0;
}

/// Evaluates what the mark tells about the time since the last event.
void PathTracker::observe(std::uintptr_t stack_pointer) noexcept {
    Mark& own = mark();
    counts_[static_cast<std::size_t>(PathCount::Returns)] += own.returns;
    note_returns_to_python();
    own.returns = returns_seen_ = 0;
    if (own.fired != Mark::never_fired) {
        const auto standing = static_cast<std::size_t>(own.fired);
        common_at_most_ = std::min(common_at_most_, standing);
        common_since_followed_ = std::min(common_since_followed_, standing);
    }
    if (mark_stands(own, stack_pointer) || (may_have_moved(own, stack_pointer) && !is_about_to_stand(own, stack_pointer))) {
        limit_standing(static_cast<std::size_t>(own.index) + 2);
        return;
    }
    limit_standing(0);
    was_unmarked_ = true;
    if (own.slot == 0) return;
    if (is_about_to_stand(own, stack_pointer))
        remove_mark(own, stack_pointer);
    else
        lose_mark(stack_pointer);
}

/// The mark is missing, although all known ways to leave frames remove it first. So the program jumps by hand, which would do no harm, or it
/// copies stretches of stack away and back. In that case the copy holds a mark, and the next mark could lie in the same slot. So nothing is
/// marked any more, and what is known of this mark is kept for its return.
void PathTracker::lose_mark(std::uintptr_t stack_pointer) noexcept {
    count(PathCount::Lost);
    limit_standing(0);
    process_state.marks.store(MarksChoice::Off, std::memory_order_relaxed);
    if (mark_stands(mark(), stack_pointer)) note_loss(mark());
    remove_mark(mark(), stack_pointer);
}

/// Puts the walked frames after the first `kept` tracked ones.
void PathTracker::splice(std::size_t kept) noexcept {
    const std::size_t fresh = path_.size;
    ++mark().version;
    if (kept + fresh > RawPath::capacity) { // the innermost ones are more useful
        remove_mark(mark(), 0);
        complete_ = false;
        kept = 0;
    }
    std::size_t common = kept;
    bool is_start_up = kept == 0;
    for (std::size_t i = 0; i < fresh; ++i) {
        TrackedFrame& frame = frames_[kept + i];
        const std::size_t from = fresh - 1 - i;
        const std::uint8_t here = path_.flags[from];
        is_start_up = is_start_up && (here & (InLibc | InLibprofile)) != 0;
        const bool known = common == kept + i && kept + i < size_ && frame.address == path_.addresses[from] && frame.slot == path_.slots[from];
        if (known) {
            ++common;
        } else {
            if (common == kept + i) note_change(common);
            frame.address = path_.addresses[from];
            frame.slot = path_.slots[from];
            frame.end = path_.ends[from];
            frame.node = no_node;
            frame.python = 0;
        }
        frame.origin = path_.origins[from];
        // The slot belongs to the function of the next inner frame. A thread's start function is not marked: when a thread ends, the C library
        // jumps to the start function's caller once all frames inside are left, and the mark would stay. (A process begins in the program.)
        frame.markable = from != 0 && frame.slot != 0 && !is_start_up && (here & NoReturnAddress) == 0 && (path_.flags[from - 1] & never_marked) == 0;
    }
    size_ = kept + fresh;
    common_at_most_ = std::min(common_at_most_, common + 1);
    common_since_followed_ = std::min(common_since_followed_, common + 1);
    common_since_look_ = std::min(common_since_look_, common + 1);
    common_since_call_ = std::min(common_since_call_, common + 1);
}

/// The walk has met the mark, perhaps not where it was: its function has ended by a jump to another one, or is at its end.
void PathTracker::follow_mark() noexcept {
    Mark& own = mark();
    const std::uintptr_t slot = path_.found.slot();
    if (beyond_mark_ != 0 && frames_[beyond_mark_ - 1].slot != slot) {
        TrackedFrame& frame = frames_[beyond_mark_ - 1];
        frame.slot = path_.found.was_interrupted() ? 0 : slot;
        frame.markable = frame.slot != 0 && path_.size != 0 && (path_.flags[path_.size - 1] & never_marked) == 0;
    }
    if (own.slot == 0) return;
    own.signing = path_.size == 0 ? Signing::Unknown : return_signing(path_.addresses[path_.size - 1], path_.flags[path_.size - 1]);
    own.slot = is_own_stack(slot) ? slot : reinterpret_cast<std::uintptr_t>(&Mark::unknown_slot);
}

/// Takes over the walk's result.
void PathTracker::take(std::uintptr_t stack_pointer) noexcept {
    if (path_.bridged) count(PathCount::Bridged);
    if (path_.end == PathEnd::Mark) {
        count(PathCount::Spliced);
        // The function inside may have saved the frame pointer elsewhere than the one before.
        if (beyond_mark_ != 0) frames_[beyond_mark_ - 1].origin = path_.marked;
        if constexpr (!has_fixed_return_slot) follow_mark();
        return splice(beyond_mark_);
    }
    if (mark().slot != 0) {
        if constexpr (!has_fixed_return_slot) was_unmarked_ = true; // nobody knows since when
        if (path_.end == PathEnd::Root && !path_.bridged) {         // the mark lies in the middle of a frame
            lose_mark(stack_pointer);
        } else { // the walk ended before the mark
            count(PathCount::Lost);
            limit_standing(0);
            remove_mark(mark(), stack_pointer);
        }
    }
    count(PathCount::Walked);
    const bool complete = path_.end == PathEnd::Root;
    if (complete != complete_) size_ = 0; // nodes of partial paths have another parent
    complete_ = complete;
    if (!complete) tree_->count_partial_path();
    splice(0);
}

/// Returns the number of parallel regions around the frame.
std::uint32_t PathTracker::level_of(std::size_t index) const noexcept {
    if (frames_[index].slot == 0 && index + 1 == size_) return parallel_.depth(); // the interrupted frame
    while (index != 0 && frames_[index].slot == 0) --index;
    return frames_[index].slot == 0 ? 0 : parallel_.level_of(frames_[index].slot);
}

/// `address`: in the function of that frame.
NodeId PathTracker::native_node_after(NodeId outer, std::size_t index, std::uintptr_t address) noexcept {
    if (!parallel_.is_empty()) {
        const std::uint32_t level = level_of(index);
        if (level == 0 && parallel_.begins_in_runtime()) return 0;
        if (level != 0) {
            if (index == 0 || level_of(index - 1) != level) outer = parallel_.node(level);
            const bool is_runtime = (recipe_table.find(address, epoch_).flags & (InLibprofile | InBindingLayer)) != 0;
            return is_runtime ? outer : tree_->frame(outer, address);
        }
    }
    if (outer == 0 && complete_ && index + 1 < size_) { // start-up code of the process or thread belongs to no call path
        const bool is_start = index == 0 && unwinder.is_process_start(address);
        if (is_start || (recipe_table.find(address, epoch_).flags & (InLibc | InLibprofile)) != 0) return 0;
    }
    return tree_->frame(outer, address);
}

/// Returns the number of nodes in the path of the first `frames` frames, without start-up code.
std::size_t PathTracker::nodes_in(std::size_t frames) noexcept {
    if (!parallel_.is_empty() || has_python_) { // path and stack differ
        const NodeId node = frames == 0 ? 0 : frames_[frames - 1].node;
        return node == no_node ? 0 : (*tree_)[node].depth;
    }
    return frames - std::min(start_up_frames(), frames);
}

std::size_t PathTracker::start_up_frames() const noexcept {
    std::size_t start_up = 0;
    while (start_up < size_ && frames_[start_up].node == 0) ++start_up;
    return start_up;
}

/// The node of the tracked path up to frame `end` (exclusive).
NodeId PathTracker::nodes(std::size_t end) noexcept {
    if (end == 0) return 0;
    const std::uint32_t epoch = load_map.epoch();
    if (epoch != epoch_) {
        for (std::size_t i = 0; i < size_; ++i) frames_[i].node = no_node;
        epoch_ = epoch_to_keep(epoch);
    }
    std::size_t i = end;
    while (i > 0 && frames_[i - 1].node == no_node) --i;
    NodeId node = i > 0 ? frames_[i - 1].node : complete_ ? 0 : tree_->partial();
    for (; i < end; ++i) frames_[i].node = node = node_after(node, i);
    Mark& own = mark();
    if (own.index >= 0 && static_cast<std::size_t>(own.index) < size_) own.node = frames_[own.index].node;
    return node;
}

NodeId PathTracker::node_at_mark() noexcept {
    const Mark& own = mark();
    const std::int32_t standing = own.fired != Mark::never_fired ? own.fired : own.index + 1;
    return nodes(standing > 0 ? std::min(static_cast<std::size_t>(standing), size_) : size_);
}

/// Returns true if marks do no harm here.
bool PathTracker::may_mark(bool in_handler) noexcept {
    if (marks_mode() == MarksChoice::Off || !marks_possible_ || !complete_ || path_.crossed_signal || path_.bridged || load_map.has_stack_copier())
        return false;
    for (std::size_t i = 0; i < path_.size; ++i)
        if ((path_.flags[i] & (InUnwinder | ForeignPersonality)) != 0) return false;
    if (jumping_ && in_handler && (path_.flags[0] & (InLibc | InLibprofile)) != 0) return false;
    jumping_ = false;
    // While destructors run because of an exception, the frame that will catch it must not get a mark (libgcc aborts).
    if (exceptions_ != nullptr) return *exceptions_ == 0;
    return !load_map.has_cxx_runtime() && !load_map.is_stale();
}

/// Returns true if the path is that of an unwinder, or an exception is in flight.
bool PathTracker::is_unwinding() const noexcept {
    for (std::size_t i = 0; i < path_.size; ++i)
        if ((path_.flags[i] & InUnwinder) != 0) return true;
    return exceptions_ != nullptr && *exceptions_ != 0;
}

/// Places a new mark in the innermost markable frame from `index` outwards.
void PathTracker::mark_from(std::int32_t index, std::uintptr_t stack_pointer) noexcept {
    remove_mark(mark(), stack_pointer, has_fixed_return_slot || path_.end != PathEnd::Mark || !path_.found.was_interrupted());
    if (index < 0) return;
    place_mark(mark(), frames_, index);
    count(PathCount::Placed);
}

NodeId PathTracker::at_call(std::uintptr_t frame) noexcept {
    if (load_map.is_stale()) load_map.refresh(); // new modules: asking the loader is allowed in ordinary context
    if (load_map.arrivals() != modules_ready_) {
        ready();
        clear_new_weak_references(modules_ready_);
    }
    return find_call(frame, false);
}

/// The call returns through the mark: the marked function has ended by a jump to MPI instead of a call. Its caller's frame is the
/// innermost one.
void PathTracker::end_at_own_return(std::uintptr_t slot) noexcept {
    limit_standing(beyond_mark_);
    path_.clear();
    path_.end_at_mark({}, slot, false);
    path_.flags[0] = 0; // of the innermost frame: no frame was walked
}

/// Where the walk from a call begins. Where a mark may move, one that was lost may have come to the call by a jump.
WalkStart PathTracker::start_of_call(std::uintptr_t frame) noexcept {
    WalkStart start = calling_frame(frame);
    if constexpr (!has_fixed_return_slot)
        if (start.address == mark_stub() - 1) start.address = lost_return_address(mark(), start.stack_pointer) - 1;
    return start;
}

NodeId PathTracker::find_call(std::uintptr_t frame, bool in_handler) noexcept {
    if (!is_own_stack(frame)) { // a coroutine; what is known of the thread's own stack stays
        forget(thread_local_block.stack_low);
        path_.clear();
        unwinder.here(reinterpret_cast<void*>(return_address_of(frame)), path_);
        find_flags(path_);
        take(frame);
        has_python_ = false; // all frames are new
        return nodes(size_);
    }
    observe(frame);
    beyond_mark_ = static_cast<std::size_t>(mark().index + 1);
    if (is_own_return(frame))
        end_at_own_return(return_slot(frame));
    else
        walk_stack(start_of_call(frame), end_of(mark()), path_);
    if (path_.end == PathEnd::Hard) {
        forget(frame);
        if (in_handler) { // libunwind's fast way is not for handlers, and the other one needs a context
            complete_ = has_sample_ = false;
            return 0;
        }
        count(PathCount::Unwound);
        unwinder.here(reinterpret_cast<void*>(return_address_of(frame)), path_);
        find_flags(path_);
    }
    take(frame);
    see_python(frame, !in_handler);
    if (!in_handler) jumping_ = false;
    std::size_t inner = 0; // frames to leave out at the inner end
    while (inner + 1 < path_.size && (path_.flags[inner] & InBindingLayer) != 0) ++inner;
    const NodeId node = nodes(size_ - inner);
    if (marks_mode() == MarksChoice::Check && path_.end == PathEnd::Mark && !in_handler) check(nullptr, frame);
    if (!in_handler && (mark().slot == 0 || path_.size > far_from_mark) && may_mark(false)) mark_from(static_cast<std::int32_t>(size_) - 2, frame);
    return node;
}

NodeId PathTracker::at_followed_call(std::uintptr_t frame, std::uint32_t& common) noexcept {
    const NodeId node = at_call(frame);
    follow_walked(frame, common);
    return node;
}

void PathTracker::follow_walked(std::uintptr_t frame, std::uint32_t& common) noexcept {
    common = static_cast<std::uint32_t>(nodes_standing(std::min(common_since_followed_, size_), python_since_followed_));
    if (!complete_ && common != 0) ++common; // below "(partial)"
    if (was_unmarked_ && common != 0) ++bounded_calls_;
    was_unmarked_ = false;
    python_since_followed_ = {};
    marks_followed_ = is_own_stack(frame) && may_mark(false);
    end_follow(marks_followed_, frame);
}

/// What has returned until now is evaluated. `moves_mark`: as far inside as possible.
void PathTracker::end_follow(bool moves_mark, std::uintptr_t frame) noexcept {
    common_since_followed_ = followed_at_least_ = RawPath::capacity + 1;
    if (moves_mark) mark_from(static_cast<std::int32_t>(size_) - 2, frame);
    mark().fired = Mark::never_fired;
}

void PathTracker::watch_returns(std::uint64_t* ticks, std::uint32_t level, std::uint64_t now) noexcept {
    Mark& own = mark();
    own.returned_at = ticks;
    std::size_t outside = start_up_frames() + level;
    if (has_python_) // the frame of that function stands for those around it
        for (outside = std::min(outside, size_); outside != 0 && nodes_in(outside) > level;) --outside;
    own.watched = static_cast<std::int32_t>(outside) - 1;
    own.has_returned = false;
    watched_since_ = now;
    watched_since_ticks_ = processor_ticks();
}

std::uint32_t PathTracker::see_returns() noexcept {
    Mark& own = mark();
    own.has_returned = false;
    std::size_t standing = std::min(common_since_followed_, size_);
    if (own.fired != Mark::never_fired) standing = std::min(standing, static_cast<std::size_t>(own.fired));
    return static_cast<std::uint32_t>(nodes_in(standing));
}

std::uint64_t PathTracker::returned_at(std::uint32_t level, std::uint64_t now) const noexcept {
    const Mark& own = mark();
    const std::size_t frame = start_up_frames() + level; // the next one inside is the function's
    if (own.returned_at == nullptr || !complete_ || !parallel_.is_empty() || has_python_ || frame < 2 || frame > size_) return 0;
    const std::uint64_t ticks = own.returned_at[frame - 2], ticks_now = processor_ticks();
    if (ticks <= watched_since_ticks_ || ticks >= ticks_now || now <= watched_since_) return 0;
    const auto share = static_cast<unsigned __int128>(ticks - watched_since_ticks_) * (now - watched_since_) / (ticks_now - watched_since_ticks_);
    return watched_since_ + static_cast<std::uint64_t>(share);
}

void PathTracker::remember(KnownPath& known, std::uintptr_t frame, NodeId node) const noexcept {
    known.node = node;
    known.epoch = epoch_;
    known.python = python_of_path();
    known.frame = known.python == PythonFrames::unknown ? 0 : frame;
    known.words = size_ == 0 || !is_own_stack(frame) ? 0 : static_cast<std::uint8_t>(find_words(known.word, frame));
}

/// Returns their number.
std::uint32_t PathTracker::find_words(KnownPath::Word* words, std::uintptr_t frame) const noexcept {
    KnownPath::Word* to = words;
    const auto add = [frame, words, &to](std::uintptr_t slot, std::uintptr_t value, NodeId node) {
        if (to == words + KnownPath::max_words || slot - frame > 0xffffffffu) return false;
        *to++ = {value, static_cast<std::uint32_t>(slot - frame), node};
        return true;
    };
    // The call site is compared by the return address of the call itself.
    std::uintptr_t compared = 0;
    for (std::size_t i = size_ - 1; i-- > 0;) {
        const TrackedFrame& outer = frames_[i];
        if (outer.slot == 0 || outer.origin.kind == SlotOrigin::Kind::Unknown) break;
        if (outer.origin.kind == SlotOrigin::Kind::FramePointer) {
            const std::uintptr_t slot = outer.slot + static_cast<std::uintptr_t>(static_cast<std::intptr_t>(outer.origin.saved_at));
            const std::uintptr_t value = outer.slot + static_cast<std::uintptr_t>(static_cast<std::intptr_t>(outer.origin.value));
            if (slot != compared && !add(slot, value, no_node)) break;
            compared = slot;
        }
        if (!add(outer.slot, stored_return(outer.slot, outer.address + 1), without_python(outer.node))) break;
    }
    return static_cast<std::uint32_t>(to - words);
}

NodeId PathTracker::at_sample(void* context) noexcept {
    const std::uintptr_t sp = registers_of(context).stack;
    observe(sp);
    beyond_mark_ = static_cast<std::size_t>(mark().index + 1);
    walk_stack(interrupted_frame(context), end_of(mark()), path_);
    if (path_.end == PathEnd::Hard) {
        forget(sp);
        count(PathCount::Unwound);
        unwinder.interrupted(context, path_);
        find_flags(path_);
    }
    const bool spliced = path_.end == PathEnd::Mark;
    take(sp);
    see_python(sp, false);
    const NodeId node = nodes(size_);
    set_ancestor(size_);
    if (marks_mode() == MarksChoice::Check && spliced) check_sample(context, sp);
    // Not the innermost frame: setjmp, getcontext and vfork keep a copy of their own return address. A mark that a call has placed there
    // stays: it will tell when the function returns.
    const std::int32_t index = static_cast<std::int32_t>(size_) - 3;
    if (spliced && (may_mark(true) ? mark().index >= index : is_unwinding())) return node;
    if (may_mark(true))
        mark_from(index, sp);
    else
        remove_mark(mark(), sp);
    return node;
}

/// Returns the number of tracked frames up to the one to which the frame that ends at `end` returns, or 0 if there is no such frame.
std::size_t PathTracker::frames_outside(std::uintptr_t end) const noexcept {
    for (std::size_t i = size_; i-- > 0;)
        if (frames_[i].frame_end() == end) return i + 1;
    return 0;
}

CommonAncestor PathTracker::at_sample_in_call(std::uintptr_t frame, std::uintptr_t stack_pointer) noexcept {
    observe(stack_pointer);
    if (mark().slot == 0 || end_of(mark()) >= stack_of_caller(frame)) {
        find_call(frame, true);
        set_ancestor(size_);
        return ancestor_;
    }
    // A call from a callback has placed the mark. All frames outside of it stand, and they include the path of the outer call.
    const std::size_t outside = frames_outside(stack_of_caller(frame));
    if (outside == 0) { // the call that seems to be running has been left
        ancestor_ = {};
        miss_sample();
        return ancestor_;
    }
    nodes(outside); // modules may have been unloaded
    set_ancestor(outside);
    common_at_most_ = outside;
    return ancestor_;
}

/// `size`: the number of frames of this sample's path.
void PathTracker::set_ancestor(std::size_t size) noexcept {
    const std::size_t most = std::min(common_at_most_, size);
    ancestor_.depth = 0;
    ancestor_.kind = LcaKind::Unknown;
    if (has_sample_ && complete_) {
        ancestor_.depth = static_cast<std::uint32_t>(nodes_standing(most, python_since_sample_));
        // Python functions leave no trace when they return: others may run in the same frames.
        const bool is_sure = common_at_least_ >= most && (!has_python_ || most == 0 || frames_[most - 1].python == 0);
        ancestor_.kind = is_sure ? LcaKind::Exact : LcaKind::Bound;
    }
    has_sample_ = complete_;
    common_at_least_ = common_at_most_ = RawPath::capacity + 1;
    python_since_sample_ = {};
    mark().fired = Mark::never_fired; // evaluated
}

std::uint64_t PathTracker::count_of(PathCount what) const noexcept { return counts_[static_cast<std::size_t>(what)]; }

} // namespace libprofile
