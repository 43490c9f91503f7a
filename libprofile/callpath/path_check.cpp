// LIBPROFILE_MARKS=check: compares the paths that a mark shortened with full ones.
#include "libprofile/callpath/arch/machine.hpp"
#include "libprofile/callpath/frame_walk.hpp"
#include "libprofile/callpath/load_map.hpp"
#include "libprofile/callpath/path_tracker.hpp"
#include "libprofile/callpath/recipe_table.hpp"
#include "libprofile/callpath/thread_block.hpp"
#include "libprofile/callpath/unwinder.hpp"
#include "libprofile/callpath/wrong_path.hpp"

#include <algorithm>

namespace libprofile {

NodeId PathTracker::check_call(const KnownPath& known, std::uintptr_t frame) noexcept {
    if (!parallel_.is_empty()) return known.node; // libunwind does not know the regions
    if (!unwind_in_full(nullptr, frame)) return known.node;
    const Node& function = (*tree_)[known.node];
    if (function.parent == node_of_full()) {
        count_check(true);
        return known.node;
    }
    walk_in_full(nullptr, frame);
    const NodeId caller = node_of_full();
    if (function.parent == caller) {
        count_dispute();
        return known.node;
    }
    note_wrong_call(function.parent, caller);
    count_check(false);
    return tree_->child(caller, function.kind, function.a, function.b);
}

/// Stores libunwind's path in full_. The mark stays, so later paths are found as they would be without checks.
/// `context`: the signal's, or nullptr for the call at `frame`. Returns false if libunwind finds nothing.
bool PathTracker::unwind_in_full(void* context, std::uintptr_t frame) noexcept {
    if (full_ == nullptr) full_ = static_cast<RawPath*>(arena_->allocate(sizeof(RawPath)));
    if (full_ == nullptr) return false;
    full_->clear();
    const std::uintptr_t lifted = lift_mark(mark(), frame);
    if (context != nullptr)
        unwinder.interrupted(context, *full_);
    else
        unwinder.here(reinterpret_cast<void*>(return_address_of(frame)), *full_);
    put_back_mark(mark(), lifted);
    return full_->end == PathEnd::Root;
}

/// Returns the node of the MPI call path in full_.
NodeId PathTracker::node_of_full() noexcept {
    const auto flags = [this](std::size_t i) { return recipe_table.find(full_->addresses[i], load_map.epoch()).flags; };
    std::size_t inner = 0;
    while (inner + 1 < full_->size && (flags(inner) & InBindingLayer) != 0) ++inner;
    NodeId node = 0;
    for (std::size_t i = full_->size; i-- > inner;) {
        const bool is_start = unwinder.is_process_start(full_->addresses[i]) || (flags(i) & (InLibc | InLibprofile)) != 0;
        if (node == 0 && i > inner && is_start) continue;
        node = tree_->frame(node, full_->addresses[i]);
    }
    return node;
}

/// Stores in full_ the path that our own walk finds without the mark.
void PathTracker::walk_in_full(void* context, std::uintptr_t frame) noexcept {
    const std::uintptr_t lifted = lift_mark(mark(), frame);
    walk_stack(context != nullptr ? interrupted_frame(context) : calling_frame(frame), 0, *full_);
    put_back_mark(mark(), lifted);
}

/// Returns how many inner frames of the tracked path equal those in full_.
std::size_t PathTracker::frames_as_in_full() const noexcept {
    const std::size_t least = std::min(full_->size, size_);
    std::size_t i = 0;
    for (; i < least; ++i) {
        const TrackedFrame& tracked = frames_[size_ - 1 - i];
        // Unwinder::here() does not distinguish interrupted instructions from return addresses.
        const bool interrupted = i != 0 && tracked.slot == 0 && full_->slots[i] == 0 && tracked.address == full_->addresses[i] + 1;
        if (tracked.address != full_->addresses[i] && !interrupted) break;
        if (full_->slots[i] != 0 && full_->slots[i] != tracked.slot) break;
    }
    return i;
}

/// Returns true if the tracked path equals the one in full_.
bool PathTracker::is_full_path() const noexcept {
    const std::size_t most = std::max(full_->size, size_);
    return frames_as_in_full() == std::min(full_->size, size_) && most - frames_as_in_full() <= 1; // libunwind may leave out the outermost frame
}

/// The tracked path is not the one in full_.
void PathTracker::note_wrong_path(bool is_call) const noexcept {
    const std::size_t inner = frames_as_in_full();
    WrongPath::Frame found, full;
    if (inner < size_) found = WrongPath::frame_at(frames_[size_ - 1 - inner].address, frames_[size_ - 1 - inner].slot);
    if (inner < full_->size) full = WrongPath::frame_at(full_->addresses[inner], full_->slots[inner]);
    first_wrong_path.note(is_call, inner, found, full);
}

/// A call's path that was known without a walk is not the one of a full walk.
void PathTracker::note_wrong_call(NodeId found, NodeId full) const noexcept {
    const CallTree& tree = *tree_;
    std::size_t inner = 0;
    for (; found != 0 && full != 0 && tree[found].a == tree[full].a && tree[found].b == tree[full].b; ++inner) {
        found = tree[found].parent;
        full = tree[full].parent;
    }
    first_wrong_path.note(true, inner, {tree[found].a, tree[found].b, 0}, {tree[full].a, tree[full].b, 0});
}

/// Compares the tracked path with libunwind's, and if they differ with a full walk of our own.
void PathTracker::check(void* context, std::uintptr_t frame) noexcept {
    if (!unwind_in_full(context, frame)) return;
    if (is_full_path()) return count_check(true);
    walk_in_full(context, frame);
    if (is_full_path()) return count_dispute();
    note_wrong_path(context == nullptr);
    count_check(false);
}

/// The same for a sample. Its mark may be in a register, where libunwind must not meet it.
void PathTracker::check_sample(void* context, std::uintptr_t stack_pointer) noexcept {
    const bool is_in_register = !has_fixed_return_slot && path_.found.slot() == 0;
    if (is_in_register) mark().slot = reinterpret_cast<std::uintptr_t>(context) + extra_offset;
    check(context, stack_pointer);
    if (is_in_register && mark().slot != 0) mark().slot = reinterpret_cast<std::uintptr_t>(&Mark::unknown_slot);
}

void PathTracker::count_dispute() noexcept {
    count(PathCount::Checked);
    count(PathCount::Disputed);
}

void PathTracker::count_check(bool right) noexcept {
    count(PathCount::Checked);
    if (right) return;
    count(PathCount::Wrong);
    process_state.marks.store(MarksChoice::Off, std::memory_order_relaxed);
    remove_mark(mark(), thread_local_block.stack_low);
}

} // namespace libprofile
