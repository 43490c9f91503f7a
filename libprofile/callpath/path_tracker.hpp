// The call path of a thread at its last event, and how much of it still stands.
//
// Contract: belongs to one thread; every function runs with that thread's in-tool flag set. All except ready(), at_call() and check_call()
// are async-signal-safe. Memory comes from the thread's arena.
//
// Frames are raw activations, outermost first: (address, slot of the return address). The thread's mark (mark.hpp) lies in the slot of one of
// them; that frame and all beyond it are unchanged. So an event walks the stack only up to the mark. An MPI call on a path that was walked
// before need not walk at all: it compares the few words between the call and the mark that led the earlier walk, and checks that the
// mark stands on the same call path (KnownPath).
//
// The least common ancestor (LCA) of the paths of two adjacent samples is known exactly if the mark has moved in between: it then lies in
// the frame that the last return went to. Otherwise slots and return addresses are compared. That gives an upper bound, because the same
// call site in the same slot can be another activation. After Wei and Mellor-Crummey, section 3.1.
#pragma once

#include "format/path_counts.hpp"
#include "format/profile_file.hpp"
#include "format/trace.hpp"
#include "libprofile/base/process_state.hpp"
#include "libprofile/callpath/call_tree.hpp"
#include "libprofile/callpath/followed_path.hpp"
#include "libprofile/callpath/parallel_frames.hpp"
#include "libprofile/callpath/python_frames.hpp"
#include "libprofile/callpath/raw_path.hpp"
#include "libprofile/callpath/thread_block.hpp"

#include <atomic>
#include <cstdint>

namespace libprofile {

struct Row;
struct WalkStart;

/// The choice of LIBPROFILE_MARKS. Also Off after a check has failed or a mark was lost (lose_mark()): nothing is marked any more.
/// Thread-safe.
inline MarksChoice marks_mode() noexcept { return process_state.marks.load(std::memory_order_relaxed); }

/// The path of an MPI call from one call site at one stack depth, with the words of the stack that led the walk, innermost first: return
/// addresses, and frame pointers if the walk used them. Other data of an event are kept here, too, so an event touches one or two cache
/// lines.
struct alignas(64) KnownPath {
    const void* return_address = nullptr;
    std::uintptr_t frame = 0; // of the wrapper body
    Row* row = nullptr;       // of `node`; valid while the phase stack's rows are those of row_generation
    std::uint64_t row_generation = 0;
    std::uint32_t epoch = 0;      // of the load map
    NodeId node = 0;              // of the MPI function's call path; 0 if unknown
    std::uint32_t typical_ns = 0; // running mean duration of the events
    std::uint16_t function = 0;   // MPI function id
    std::uint8_t words = 0;
    std::uint8_t successor = 0; // see KnownPathTable
    std::uint64_t python = 0;   // of its Python functions (PythonFrames::fingerprint()), 0 if there are none
    KnownPath* next = nullptr;  // the path that came after this one, or itself: never nullptr in an entry that was used, but maybe of another path by now
    struct Word {
        std::uintptr_t value;
        std::uint32_t distance; // of its slot from `frame`, in bytes
        NodeId node;            // the call path to which this return address leads, without Python functions at its end; no_node for a frame pointer
    };
    static constexpr std::uint32_t max_words = 12;
    Word word[max_words];
};
static_assert(sizeof(KnownPath) == 256);

/// The least common ancestor of the call paths of this sample and the one before.
struct CommonAncestor {
    std::uint32_t depth = 0; // nodes of the call path from the outermost, without start-up code
    LcaKind kind = LcaKind::Unknown;
};

class PathTracker {
  public:
    PathTracker(CallTree& tree, Arena& arena) : tree_(&tree), arena_(&arena) {}

    /// Prepares for another thread: nothing is known of its stack.
    void begin_again() noexcept;
    /// Asks what must not be asked in a handler. Called in ordinary context when the thread begins and when modules were loaded.
    void ready() noexcept;

    /// Returns the node of the call path that calls MPI, for a wrapper body with the frame `frame` (LIBPROFILE_OWN_FRAME). Frames of
    /// MPI's binding layers at the inner end are left out.
    NodeId at_call(std::uintptr_t frame) noexcept;
    /// Like at_call(), for callers that ask what has returned since the last such call. Leaves the mark as far inside as possible.
    /// `common`: this many of the path's functions, from the outermost, have not returned; an upper bound if no mark was possible.
    NodeId at_followed_call(std::uintptr_t frame, std::uint32_t& common) noexcept;
    /// The same for a call whose path at_call() has just found.
    void follow_walked(std::uintptr_t frame, std::uint32_t& common) noexcept;
    /// Keeps what at_followed_call() has just found for the call of `function` (a node). Returns false if the next call on this path must be walked, too.
    bool learn_followed(FollowedPath& path, NodeId function) const noexcept;
    /// As at_followed_call() for a call whose path is_unchanged(), without a walk. Returns false, and changes nothing, if a walk is needed.
    bool follow_known(const FollowedPath& path, std::uintptr_t frame, std::uint32_t& common) noexcept;
    /// The number of calls with only an upper bound, because there was no mark for some time before.
    std::uint64_t bounded_calls() const { return bounded_calls_; }
    /// Returns true if it is certain without a walk that nothing has returned and the same function makes the call. `function`: the call's node.
    bool is_same_activation(NodeId function, std::uintptr_t frame) const noexcept {
        const Node& caller = (*tree_)[(*tree_)[function].parent];
        return caller.kind == NodeKind::Frame && nothing_has_returned_to(caller.parent, frame);
    }
    /// The same if `outer` is the path of the function that makes the call: of the call site that has called it.
    bool nothing_has_returned_to(NodeId outer, std::uintptr_t frame) const noexcept {
        const Mark& own = mark();
        return own.returns == 0 && common_since_followed_ > RawPath::capacity && own.node == outer && mark_stands(own, frame);
    }
    /// Whether it is certain without a walk that the function at `level` of the last followed call's path has not returned since, seen from a call at
    /// `frame` whose path is_unchanged(). The mark may lie farther out than that call: what is inside of it may have returned unseen.
    bool stands_since_followed(std::uint32_t level, std::uintptr_t frame) const noexcept {
        const Mark& own = mark();
        if (own.index < 0 || !complete_ || has_python_ || !parallel_.is_empty() || !mark_stands(own, frame)) return false;
        const std::size_t at_mark = static_cast<std::size_t>(own.index) + 2; // frames that stand since it was placed, as in observe()
        return (followed_at_least_ < at_mark ? followed_at_least_ : at_mark) >= start_up_frames() + level;
    }
    /// For callers that ask when functions return: from `now` (ns) on, stores times in `ticks` (RawPath::capacity elements); nullptr ends it.
    /// has_returned() tells when functions on the last call's path, at `level` or further inside, return between that call and the next event.
    void watch_returns(std::uint64_t* ticks, std::uint32_t level, std::uint64_t now) noexcept;
    static bool has_returned() noexcept { return mark().has_returned; }
    /// The same again at the clock's `now`, read together with the processor's `ticks`, for the path that follow_known() has taken over.
    void watch_followed(std::uint64_t* ticks, const FollowedPath& path, std::uint64_t now, std::uint64_t ticks_now) noexcept {
        Mark& own = mark();
        own.returned_at = ticks;
        own.watched = static_cast<std::int32_t>(path.size) - 1;
        own.has_returned = false;
        watched_since_ = now;
        watched_since_ticks_ = ticks_now;
    }
    /// Resets has_returned(). Returns the number of the path's functions that stand.
    std::uint32_t see_returns() noexcept;
    /// Returns when the function at `level` of the path has returned, before `now`; 0 if it has not, or if unknown.
    std::uint64_t returned_at(std::uint32_t level, std::uint64_t now) const noexcept;
    /// A number for the Python functions around the call at `frame`, 0 if there are none; PythonFrames::unknown if their path is not known.
    std::uint64_t python_at(std::uintptr_t frame) noexcept { return has_python_ ? look_at_python(frame) : 0; }
    /// The same for the call that at_call() has found.
    std::uint64_t python_of_path() const noexcept { return has_python_ ? python_->fingerprint() : 0; }
    /// After python_at(), if the path of this number is_unchanged(): notes which Python functions have returned.
    void see_known_python() noexcept;
    /// After at_call(): stores in `known` the words that determine the path, and its Python functions: the interpreter may run others in the same native
    /// frames. `node` is that of the MPI function.
    void remember(KnownPath& known, std::uintptr_t frame, NodeId node) const noexcept;
    /// Returns true if the call at `frame` has the path `known`; known.node is then right. Walks nothing. Python functions are compared by python_at().
    bool is_unchanged(const KnownPath& known, std::uintptr_t frame) const noexcept {
        // The nodes of the tracked frames are of the same epoch: it was the tracker's when `known` was remembered.
        if (known.frame != frame || known.epoch != process_state.load_map_epoch.load(std::memory_order_acquire)) return false;
        const Mark& own = mark();
        return mark_stands(own, frame) && leads_to_mark(known, frame, own);
    }
    /// The part of that which is not the same for all known paths with this frame. The mark stands.
    [[gnu::always_inline]] bool leads_to_mark(const KnownPath& known, std::uintptr_t frame, const Mark& own) const noexcept {
        for (const KnownPath::Word *word = known.word, *end = word + known.words; word != end; ++word) {
            const std::uintptr_t slot = frame + word->distance;
            if (*reinterpret_cast<const std::uintptr_t*>(slot) == word->value) continue;
            return slot == own.slot && own.return_address == word->value && (known.python == 0 ? own.node : without_python(own.node)) == word->node;
        }
        return false; // the mark lies farther out, or is a leftover that is not on the path
    }
    bool is_to_be_checked() const noexcept { return marks_mode() == MarksChoice::Check; }
    /// LIBPROFILE_MARKS=check: the path of is_unchanged(), found by a full unwind, must end at the parent of known.node.
    /// Returns the right node.
    NodeId check_call(const KnownPath& known, std::uintptr_t frame) noexcept;

    /// Returns the node of the call path that a signal has interrupted. `context` is the handler's third argument.
    NodeId at_sample(void* context) noexcept;
    /// A sample during the MPI call of the wrapper body at `frame`. The call's path acts as the sample's path in the series. Places no mark and
    /// does not look inside the call, where an unwinder may be running. A mark in a callback inside the call stays. `stack_pointer`: where the
    /// sample hit.
    CommonAncestor at_sample_in_call(std::uintptr_t frame, std::uintptr_t stack_pointer) noexcept;
    /// That of the last sample and the one before it.
    CommonAncestor common_ancestor() const { return ancestor_; }
    /// The path up to the innermost function that has certainly not returned since begin_standing(), which a sample with a path has called. Right
    /// after at_sample(). Which line of the function ran meanwhile is unknown: its node is that of its first instruction. 0: not even main() is known.
    NodeId standing_function() noexcept;
    void begin_standing() noexcept {
        stands_at_least_ = RawPath::capacity + 1;
        changed_frame_ = RawPath::capacity;
    }
    /// A sample whose path was not determined: it has no known common ancestor with the next.
    void miss_sample() noexcept { has_sample_ = false; }
    /// While a return passes through the mark: the node of the path to which it returns.
    NodeId node_at_mark() noexcept;
    /// Returns true if the last path ended at a known root.
    bool is_complete() const { return complete_; }
    /// The last path's raw addresses, outermost first.
    std::size_t size() const { return size_; }
    const TrackedFrame& operator[](std::size_t i) const { return frames_[i]; }

    /// The OpenMP regions on this thread's stack. After replacing a region by another, call forget_nodes().
    ParallelFrames& parallel() { return parallel_; }
    void forget_nodes() noexcept {
        for (std::size_t i = 0; i < size_; ++i) frames_[i].node = no_node;
    }
    /// The same for the frames inside `frame`.
    void forget_nodes_below(std::uintptr_t frame) noexcept {
        for (std::size_t i = size_; i-- > 0 && frames_[i].slot < frame;) frames_[i].node = no_node;
    }

    /// Removes the mark and forgets the path. `stack_pointer`: that of the innermost live frame.
    void forget(std::uintptr_t stack_pointer) noexcept;
    /// The thread is about to jump or to look at its stack: no mark until it has arrived. See wrappers/process/jumps.cpp.
    void about_to_jump() noexcept { jumping_ = true; }

    /// All counts but PathCount::Repeated, which the events count (Thread::paths_repeated).
    std::uint64_t count_of(PathCount what) const noexcept;

  private:
    /// Where the Python frames of the path have changed: in which frame, and how many of its Python functions stand.
    struct PythonChange {
        std::size_t frame = RawPath::capacity;
        std::uint32_t standing = 0;
        void include(const PythonChange& other) {
            if (other.frame < frame || (other.frame == frame && other.standing < standing)) *this = other;
        }
    };
    void count(PathCount what) noexcept { ++counts_[static_cast<std::size_t>(what)]; }
    static Mark& mark() noexcept { return own_mark(); }
    NodeId find_call(std::uintptr_t frame, bool in_handler) noexcept;
    std::uint32_t find_words(KnownPath::Word* words, std::uintptr_t frame) const noexcept;
    void observe(std::uintptr_t stack_pointer) noexcept;
    /// The call returns through the mark.
    bool is_own_return(std::uintptr_t frame) const noexcept {
        if (end_of(mark()) != stack_of_caller(frame)) return false;
        return has_fixed_return_slot ? mark_stands(mark(), frame) : return_address_of(frame) == mark_stub();
    }
    void end_at_own_return(std::uintptr_t slot) noexcept;
    WalkStart start_of_call(std::uintptr_t frame) noexcept;
    void follow_mark() noexcept;
    void lose_mark(std::uintptr_t stack_pointer) noexcept;
    void take(std::uintptr_t stack_pointer) noexcept;
    void splice(std::size_t kept) noexcept;
    NodeId nodes(std::size_t end) noexcept;
    bool may_mark(bool in_handler) noexcept;
    std::size_t frames_outside(std::uintptr_t end) const noexcept;
    bool is_unwinding() const noexcept;
    void mark_from(std::int32_t index, std::uintptr_t stack_pointer) noexcept;
    void end_follow(bool moves_mark, std::uintptr_t frame) noexcept;
    NodeId node_after(NodeId outer, std::size_t index) noexcept;
    NodeId native_node_after(NodeId outer, std::size_t index, std::uintptr_t address) noexcept;
    /// At most this many frames are sure to stand.
    void limit_standing(std::size_t frames) noexcept {
        if (frames < common_at_least_) common_at_least_ = frames;
        if (frames < stands_at_least_) stands_at_least_ = frames;
        if (frames < followed_at_least_) followed_at_least_ = frames;
    }
    /// The address of this frame, or what it runs, is about to change; those outside of it stay.
    void note_change(std::size_t frame) noexcept {
        if (frame >= changed_frame_ || frame >= size_) return;
        changed_frame_ = frame;
        changed_from_ = frames_[frame].address;
    }
    bool is_in_interpreter() const noexcept;
    void see_python(std::uintptr_t stack_pointer, bool is_call) noexcept;
    PythonFrames::Stretch returned_to(std::size_t standing) const noexcept;
    void note_returns_to_python() noexcept;
    std::size_t note_changed_python() noexcept;
    PythonChange place(const PythonFrames::Change& change) const noexcept;
    std::uint64_t look_at_python(std::uintptr_t frame) noexcept;
    /// The node, or the native frame that runs the Python functions at its end.
    NodeId without_python(NodeId node) const noexcept {
        while (node != no_node && (*tree_)[node].kind == NodeKind::Python) node = (*tree_)[node].parent;
        return node;
    }
    bool is_python(std::size_t index) const noexcept;
    std::size_t nodes_standing(std::size_t frames, const PythonChange& python) noexcept;
    std::uint32_t level_of(std::size_t index) const noexcept;
    std::size_t nodes_in(std::size_t frames) noexcept;
    std::size_t start_up_frames() const noexcept;
    void set_ancestor(std::size_t size) noexcept;
    bool unwind_in_full(void* context, std::uintptr_t frame) noexcept;
    void walk_in_full(void* context, std::uintptr_t frame) noexcept;
    std::size_t frames_as_in_full() const noexcept;
    bool is_full_path() const noexcept;
    void note_wrong_path(bool is_call) const noexcept;
    void note_wrong_call(NodeId found, NodeId full) const noexcept;
    NodeId node_of_full() noexcept;
    void check(void* context, std::uintptr_t frame) noexcept;
    void check_sample(void* context, std::uintptr_t stack_pointer) noexcept;
    void count_check(bool right) noexcept;
    void count_dispute() noexcept;

    CallTree* tree_;
    Arena* arena_;
    ParallelFrames parallel_;
    std::size_t size_ = 0;
    // The frames that the mark stood for when the last walk began. A signal handler of the application may interrupt us and look at the
    // stack, and that removes the mark (wrappers/process/jumps.cpp).
    std::size_t beyond_mark_ = 0;
    bool complete_ = false;
    bool marks_possible_ = false; // for this thread
    bool jumping_ = false;
    std::uint32_t epoch_ = 0;                   // of the load map, when the nodes were found (epoch_to_keep())
    std::uint32_t modules_ready_ = 0;           // load_map.arrivals() when ready() was last called
    const std::uint32_t* exceptions_ = nullptr; // number of C++ exceptions in flight in this thread

    // Bounds on the number of frames that stand since the last sample.
    std::size_t common_at_least_ = 0;
    std::size_t common_at_most_ = 0;
    bool has_sample_ = false;
    CommonAncestor ancestor_;
    // Since begin_standing().
    std::size_t stands_at_least_ = 0;
    std::size_t changed_frame_ = RawPath::capacity; // the outermost one with another address
    std::uintptr_t changed_from_ = 0;               // its first address
    std::size_t common_since_followed_ = 0;         // upper bound, since the last at_followed_call()
    std::size_t followed_at_least_ = 0;             // lower bound since then
    bool was_unmarked_ = false;                     // at some time since then
    bool marks_followed_ = false;                   // it was allowed to place a mark
    std::uint64_t bounded_calls_ = 0;
    std::uint64_t watched_since_ = 0, watched_since_ticks_ = 0;

    PythonFrames* python_ = nullptr;                        // once the interpreter is there
    bool has_python_ = false;                               // on the path
    std::size_t common_since_look_ = RawPath::capacity + 1; // upper bound, since the last look at Python's frames
    std::size_t common_since_call_ = RawPath::capacity + 1; // the same since that of a call
    std::uint64_t returns_seen_ = 0;                        // of Mark::returns, at that look
    std::size_t python_stale_ = RawPath::capacity;          // nodes from this frame on have Python functions of earlier
    PythonChange python_since_sample_;
    PythonChange python_since_followed_;

    std::uint64_t counts_[path_count_count] = {};
    RawPath* full_ = nullptr; // for checks
    RawPath path_;            // of the last walk
    TrackedFrame frames_[RawPath::capacity];
};

} // namespace libprofile
