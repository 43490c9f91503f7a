// The part of a PathTracker that follows calls on known paths without a walk.
#include "libprofile/callpath/followed_path.hpp"
#include "libprofile/callpath/load_map.hpp"
#include "libprofile/callpath/path_tracker.hpp"

#include <algorithm>

namespace libprofile {

bool PathTracker::learn_followed(FollowedPath& path, NodeId function) const noexcept {
    const Mark& own = mark();
    // A mark was placed, so marks do no harm in any frame of this path.
    if (epoch_ == 0 || !marks_followed_ || !complete_ || has_python_ || !parallel_.is_empty() || own.index < 0 || size_ < 2) return false;
    const NodeId caller = (*tree_)[function].parent;
    std::size_t at = size_;
    while (at != 0 && frames_[at - 1].node != caller) --at;
    if (at == 0 || size_ - at > FollowedPath::most_frames / 2) return false;
    path.epoch = epoch_;
    path.size = static_cast<std::uint32_t>(size_);
    path.start_up = static_cast<std::uint32_t>(start_up_frames());
    path.marked = own.index;
    path.count = std::min(path.size, FollowedPath::most_frames);
    for (std::uint32_t i = 0; i < path.count; ++i) path.frame[i] = frames_[size_ - 1 - i];
    return true;
}

bool PathTracker::follow_known(const FollowedPath& path, std::uintptr_t frame, std::uint32_t& common) noexcept {
    Mark& own = mark();
    const std::int32_t index = own.index;
    const auto outside = static_cast<std::uint32_t>(index + 1); // frames that stand
    // The mark must lie in one of the kept frames, and there must be one inside of it.
    if (index < 0 || outside >= path.size || path.size - outside >= path.count || path.frame[path.size - outside].slot != own.slot) return false;
    if (path.epoch != epoch_ || was_unmarked_ || !complete_ || has_python_ || !parallel_.is_empty() || outside > size_) return false;
    if (marks_mode() != MarksChoice::On || jumping_ || exceptions_ == nullptr || *exceptions_ != 0 || load_map.has_stack_copier()) return false;
    observe(frame);
    ++own.version;
    std::uint32_t same = outside;
    for (std::uint32_t i = outside; i < path.size; ++i) {
        const TrackedFrame& known = path.frame[path.size - 1 - i];
        TrackedFrame& tracked = frames_[i];
        if (same == i) {
            if (i < size_ && tracked.address == known.address && tracked.slot == known.slot)
                ++same;
            else
                note_change(i);
        }
        tracked = known;
    }
    size_ = path.size;
    common_at_most_ = std::min<std::size_t>(common_at_most_, same + 1);
    const auto standing = static_cast<std::uint32_t>(std::min<std::size_t>({common_since_followed_, same + 1, size_}));
    common = standing - std::min(path.start_up, standing);
    end_follow(own.index != path.marked, frame);
    return true;
}

} // namespace libprofile
