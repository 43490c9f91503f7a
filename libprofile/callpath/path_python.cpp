// The part of a PathTracker that puts Python functions below the native frames that run them.
#include "libprofile/callpath/path_tracker.hpp"
#include "libprofile/callpath/python_process.hpp"

#include <algorithm>

namespace libprofile {

/// After each walk: Python functions may have changed although all native frames stand.
void PathTracker::see_python(std::uintptr_t stack_pointer, bool is_call) noexcept {
    if (!python_process.is_known()) return;
    const std::uintptr_t state = python_process.own_state();
    if (state == 0 && !has_python_) return;
    if (python_ == nullptr) {
        python_ = arena_->make<PythonFrames>();
        if (python_ == nullptr) return;
        python_->begin();
    }
    const PythonFrames::Change change = python_->look(state, stack_pointer, thread_local_block.stack_base, is_call && !path_.crossed_signal);
    const bool had_python = has_python_;
    has_python_ = false;
    if (!had_python && python_->size() == 0) return;
    // Both lists are in the order of the stack. An activation lies above the return slot of the call that its frame has made.
    std::size_t frame = 0;
    PythonChange changed;
    std::size_t stale = size_; // the first frame whose Python functions are not those of before
    std::uint32_t a = 0;
    for (; frame < size_; ++frame) {
        TrackedFrame& tracked = frames_[frame];
        std::uint16_t number = 0;
        if (tracked.slot != 0 || frame + 1 == size_) {
            const std::uint32_t first = a;
            while (a < python_->size() && (*python_)[a].at > tracked.slot) ++a;
            // Frames without slots (interrupted ones, and libunwind's) do not tell which of them an activation belongs to.
            if (a == first + 1 && frame != 0 && frames_[frame - 1].slot != 0) number = static_cast<std::uint16_t>(a);
        }
        if (number != 0) {
            has_python_ = true;
            if (change.is_any && number > change.outside && changed.frame > frame) changed = {frame, number == change.outside + 1 ? change.entries : 0};
        }
        if ((number != tracked.python || changed.frame == frame) && stale > frame) stale = frame;
        tracked.python = number;
    }
    for (std::size_t i = stale; i < size_; ++i) frames_[i].node = no_node;
    python_since_sample_.include(changed);
    python_since_followed_.include(changed);
}

NodeId PathTracker::node_after(NodeId outer, std::size_t index) noexcept {
    NodeId node = native_node_after(outer, index, frames_[index].address);
    const std::uint32_t number = frames_[index].python;
    if (number == 0 || node == 0 || number > python_->size()) return node;
    const PythonFrames::Activation& activation = (*python_)[number - 1];
    for (std::uint32_t i = activation.count; i-- > 0;) {
        const PythonCodes::Place& place = python_->entry(activation.first + i).place;
        node = tree_->child(node, NodeKind::Python, place.line, place.function);
    }
    return node;
}

/// Returns the number of nodes in the path of the first `frames` frames, as far as they stand.
std::size_t PathTracker::nodes_standing(std::size_t frames, const PythonChange& python) noexcept {
    if (python.frame >= frames) return nodes_in(frames);
    return std::min(nodes_in(frames), nodes_in(python.frame) + 1 + python.standing);
}

} // namespace libprofile
