// The part of a PathTracker that puts Python functions in the place of the native frames that run them.
#include "libprofile/callpath/path_tracker.hpp"
#include "libprofile/callpath/python_process.hpp"

#include <algorithm>

namespace libprofile {

bool PathTracker::is_in_interpreter() const noexcept {
    return std::any_of(frames_, frames_ + size_, [](const TrackedFrame& frame) { return python_process.contains(frame.address); });
}

/// After each walk: Python functions may have changed although all native frames stand.
void PathTracker::see_python(std::uintptr_t stack_pointer, bool is_call) noexcept {
    if (!python_process.is_known()) return;
    std::uintptr_t state = python_process.known_state();
    // Programs that only link the interpreter never begin it, so they do not pay for a look at every path.
    if (state == 0 && is_in_interpreter()) state = python_process.own_state();
    if (state == 0 && !has_python_) return;
    if (python_ == nullptr) {
        python_ = arena_->make<PythonFrames>();
        if (python_ == nullptr) return;
        python_->begin();
    }
    python_->look(state, stack_pointer, thread_local_block.stack_base, is_call && !path_.crossed_signal);
    const bool had_python = has_python_;
    has_python_ = false;
    // Both lists are in the order of the stack. An activation lies above the return slot of the call that its frame has made.
    std::size_t stale = std::min(size_, python_stale_); // the first frame whose Python functions are not those of before
    python_stale_ = RawPath::capacity;
    std::uint32_t a = 0;
    for (std::size_t frame = 0; (had_python || python_->size() != 0) && frame < size_; ++frame) {
        TrackedFrame& tracked = frames_[frame];
        std::uint16_t number = 0;
        if (tracked.slot != 0 || frame + 1 == size_) {
            const std::uint32_t first = a;
            while (a < python_->size() && (*python_)[a].at > tracked.slot) ++a;
            // Frames without slots (interrupted ones, and libunwind's) do not tell which of them an activation belongs to.
            if (a == first + 1 && frame != 0 && frames_[frame - 1].slot != 0) number = static_cast<std::uint16_t>(a);
        }
        has_python_ = has_python_ || number != 0;
        if (number != tracked.python && stale > frame) stale = frame;
        tracked.python = number;
    }
    stale = std::min(stale, note_changed_python());
    for (std::size_t i = stale; i < size_; ++i) frames_[i].node = no_node;
}

/// After a look. Returns the first frame whose Python functions have changed since the look before, RawPath::capacity if there is none.
std::size_t PathTracker::note_changed_python() noexcept {
    const PythonChange changed = place(python_->since_look(returned_to(common_since_look_)));
    python_since_sample_.include(changed);
    common_since_look_ = RawPath::capacity + 1;
    if (python_->is_call()) {
        python_since_followed_.include(place(python_->since_call(returned_to(common_since_call_))));
        common_since_call_ = RawPath::capacity + 1;
    }
    returns_seen_ = mark().returns;
    return changed.frame;
}

PathTracker::PythonChange PathTracker::place(const PythonFrames::Change& change) const noexcept {
    for (std::size_t frame = 0; change.is_any && frame < size_; ++frame) {
        const std::uint32_t number = frames_[frame].python;
        if (number > change.outside) return {frame, number == change.outside + 1 ? change.entries : 0};
    }
    return {};
}

/// The part of the stack of the innermost of the frames that stand since a look, if others were inside of it then.
PythonFrames::Stretch PathTracker::returned_to(std::size_t standing) const noexcept {
    if (standing < 2 || standing > size_ || frames_[standing - 1].slot == 0) return {};
    return {frames_[standing - 1].slot, frames_[standing - 2].slot};
}

/// A mark only moves outwards, so its last return has gone farthest.
void PathTracker::note_returns_to_python() noexcept {
    const Mark& own = mark();
    if (own.returns == returns_seen_ || own.fired == Mark::never_fired) return;
    common_since_look_ = std::min(common_since_look_, static_cast<std::size_t>(own.fired));
    common_since_call_ = std::min(common_since_call_, static_cast<std::size_t>(own.fired));
}

std::uint64_t PathTracker::look_at_python(std::uintptr_t frame) noexcept {
    const std::uintptr_t state = python_process.own_state();
    if (state == 0 || marks_mode() == MarksChoice::Check || !is_own_stack(frame)) return PythonFrames::unknown;
    return python_->look_quickly(state, frame, thread_local_block.stack_base);
}

/// As see_python(), where the native frames are those of the last walk as far as they stand.
void PathTracker::see_known_python() noexcept {
    python_->take();
    note_returns_to_python();
    python_stale_ = std::min(python_stale_, note_changed_python());
}

/// Whether Python functions stand for the frame. In the part of a thread that runs an OpenMP region the runtime's frames decide what is whose.
bool PathTracker::is_python(std::size_t index) const noexcept {
    const std::uint32_t number = frames_[index].python;
    if (number == 0 || number > python_->size() || (*python_)[number - 1].count == 0) return false;
    return parallel_.is_empty() || (level_of(index) == 0 && !parallel_.begins_in_runtime());
}

/// A frame that runs Python functions is not in the path: which of its many calls it makes says nothing that they do not say.
NodeId PathTracker::node_after(NodeId outer, std::size_t index) noexcept {
    if (!is_python(index)) return native_node_after(outer, index, frames_[index].address);
    const PythonFrames::Activation& activation = (*python_)[frames_[index].python - 1u];
    NodeId node = outer;
    for (std::uint32_t i = activation.count; i-- > 0;) {
        const PythonCodes::Place& place = python_->entry(activation.first + i).place;
        node = tree_->child(node, NodeKind::Python, place.line, place.function);
    }
    return node;
}

/// Returns the number of nodes in the path of the first `frames` frames, as far as they stand.
std::size_t PathTracker::nodes_standing(std::size_t frames, const PythonChange& python) noexcept {
    if (python.frame >= frames) return nodes_in(frames);
    return std::min(nodes_in(frames), nodes_in(python.frame) + std::max<std::size_t>(python.standing, 1));
}

} // namespace libprofile
