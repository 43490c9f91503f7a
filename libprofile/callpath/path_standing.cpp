// The part of a PathTracker that tells which function has not returned for some time.
#include "libprofile/callpath/path_tracker.hpp"
#include "libprofile/callpath/unwind_table.hpp"

#include <algorithm>

namespace libprofile {

namespace {

/// 0 if unknown.
std::uintptr_t begin_of_function(std::uintptr_t address) noexcept {
    UnwindSection section;
    UnwindEntry entry;
    return find_unwind_section(address, section) && find_unwind_entry(section, address, entry) == EntrySearch::Found ? entry.start : 0;
}

} // namespace

/// The call sites outside the innermost function that stands are those of all that time. In that function others may have run.
NodeId PathTracker::standing_function() noexcept {
    std::size_t frames = std::min(stands_at_least_, size_);
    if (has_python_) { // which of them have returned is known between two looks only
        std::size_t outside = 0;
        while (outside < frames && !is_python(outside)) ++outside;
        frames = outside;
    }
    if (frames == 0 || !complete_) return 0;
    const std::size_t innermost = frames - 1;
    const NodeId outer = innermost == 0 ? 0 : frames_[innermost - 1].node;
    if (outer == no_node) return 0;
    const std::uintptr_t begin = begin_of_function(frames_[innermost].address);
    // A function that ends by a jump to another one leaves it its frame.
    const bool is_same = begin != 0 && (innermost != changed_frame_ || begin_of_function(changed_from_) == begin);
    if (!is_same) return parallel_.is_empty() ? outer : 0;
    const NodeId node = native_node_after(outer, innermost, begin);
    return node == outer && !parallel_.is_empty() ? 0 : node; // a runtime's: other regions may have run meanwhile
}

} // namespace libprofile
