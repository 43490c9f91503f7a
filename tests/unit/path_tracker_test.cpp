#include "libprofile/callpath/path_tracker.hpp"

#include "libprofile/callpath/frame_walk.hpp"
#include "tests/unit/tracked_thread.hpp"

#include <cstdlib>
#include <gtest/gtest.h>
#include <stdexcept>
#include <ucontext.h>
#include <vector>

namespace libprofile {

namespace {

#pragma GCC diagnostic ignored "-Winfinite-recursion"

/// Events of MPI calls and samples, in a thread that is not measured.
class PathTrackerTest : public TrackedThread<testing::Test, MarksChoice::On> {
  protected:
    /// Like the wrapper of an MPI function.
    NOT_INLINED NodeId call() {
        const InTool guard;
        const auto frame = reinterpret_cast<std::uintptr_t>(LIBPROFILE_OWN_FRAME);
        if (tracker_.is_unchanged(known_, frame)) {
            ++repeated_;
            return known_.node;
        }
        const NodeId node = tracker_.at_call(frame);
        tracker_.remember(known_, frame, node);
        return node;
    }
    NOT_INLINED CommonAncestor sample() {
        const InTool guard;
        ucontext_t context;
        getcontext(&context);
        last_ = tracker_.at_sample(&context);
        return tracker_.common_ancestor();
    }
    /// Like MPI with a callback of the application inside, which calls MPI from `depth` frames further in. `in_callback` runs before that returns.
    template <typename InCallback> NOT_INLINED void call_with_callback(int depth, const InCallback& in_callback) {
        const auto frame = reinterpret_cast<std::uintptr_t>(LIBPROFILE_OWN_FRAME);
        call();
        callback(depth, frame, in_callback);
        keep_ = 1;
    }
    template <typename InCallback> NOT_INLINED void callback(int depth, std::uintptr_t outer, const InCallback& in_callback) {
        if (depth != 0) {
            callback(depth - 1, outer, in_callback);
        } else {
            below(0);
            in_callback(outer);
        }
        keep_ = 1;
    }
    NOT_INLINED CommonAncestor sample_in_call(std::uintptr_t frame) {
        const InTool guard;
        return tracker_.at_sample_in_call(frame, reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)));
    }
    std::size_t depth_of(NodeId node) const {
        std::size_t depth = 0;
        for (; node != 0; node = tree_[node].parent) ++depth;
        return depth;
    }

    KnownPath known_;
    int repeated_ = 0; // calls whose path was known
    NodeId last_ = 0;

    NOT_INLINED NodeId below(int depth) {
        const NodeId node = depth == 0 ? call() : below(depth - 1);
        keep_ = 1;
        return node;
    }
    /// Functions whose frames are found by the frame pointer. Each saves that of its caller.
    NOT_INLINED void with_frame_pointer(int depth) {
        auto* room = static_cast<volatile char*>(__builtin_alloca(static_cast<std::size_t>(keep_) + 16));
        room[0] = 1;
        below(depth);
        keep_ = 1;
    }
    /// `between`: functions that do not use it, so that it is saved elsewhere.
    NOT_INLINED void save_frame_pointer_below(int between) {
        if (between == 0)
            with_frame_pointer(0);
        else
            save_frame_pointer_below(between - 1);
        keep_ = 1;
    }
    NOT_INLINED int repeat_after_another_function(int times) {
        auto* room = static_cast<volatile char*>(__builtin_alloca(static_cast<std::size_t>(keep_) + 16));
        room[0] = 1;
        with_frame_pointer(0); // the mark moves to our own return address
        for (int i = 0; i < times; ++i) save_frame_pointer_below(3);
        keep_ = 1;
        return repeated_;
    }
    NOT_INLINED CommonAncestor sample_below(int depth) {
        const CommonAncestor ancestor = depth == 0 ? sample() : sample_below(depth - 1);
        keep_ = 1;
        return ancestor;
    }

  public:
    NOT_INLINED void sample_below_for(int depth) {
        sample_below(depth);
        keep_ = 1;
    }
    std::size_t last_depth() const { return depth_of(last_); }

  protected:
    NOT_INLINED double doubles_below(int depth, double a, double b) {
        const double result = depth == 0 ? (sample(), a * b) : doubles_below(depth - 1, a + 1, b) + a;
        keep_ = 1;
        return result;
    }
    NOT_INLINED long double extended_below(int depth, long double a) {
        const long double result = depth == 0 ? (sample(), a) : extended_below(depth - 1, a * 3) / 3;
        keep_ = 1;
        return result;
    }
    NOT_INLINED void throw_below(int depth) {
        if (depth == 0) {
            sample();
            throw std::runtime_error("below");
        }
        throw_below(depth - 1);
        keep_ = 1;
    }
};

/// libunwind's path at the same address.
std::vector<std::uintptr_t> unwound_by_libunwind(void* return_address) {
    const InTool guard;
    static RawPath path;
    unwinder.here(return_address, path);
    return {path.addresses, path.addresses + path.size};
}

} // namespace

TEST_F(PathTrackerTest, TheWalkFindsWhatLibunwindFinds) {
    struct Tricks {
        NOT_INLINED static void run(PathTracker& tracker, int depth, std::vector<std::uintptr_t>& want) {
            if (depth == 0) {
                want = unwound_by_libunwind(__builtin_return_address(0));
                const InTool guard;
                tracker.at_call(reinterpret_cast<std::uintptr_t>(LIBPROFILE_OWN_FRAME));
            } else {
                run(tracker, depth - 1, want);
            }
            asm volatile("" ::: "memory");
        }
    };
    std::vector<std::uintptr_t> want;
    Tricks::run(tracker_, 40, want);
    ASSERT_TRUE(tracker_.is_complete());
    ASSERT_EQ(tracker_.size(), want.size());
    for (std::size_t i = 0; i < want.size(); ++i) EXPECT_EQ(tracker_[want.size() - 1 - i].address, want[i]) << i;
}

TEST_F(PathTrackerTest, StartUpCodeIsNoPartOfTheCallPath) {
    call();
    EXPECT_LT(depth_of(known_.node), tracker_.size()); // main and its callees, without _start and libc
}

TEST_F(PathTrackerTest, TheSameCallHasTheSameNodeWithoutAWalk) {
    const NodeId first = below(60);
    const std::uint64_t walks = tracker_.count_of(PathCount::Walked);
    NodeId nodes[10];
    for (NodeId& node : nodes) node = below(60); // one call site: the frames are new each time, their content is not
    for (const NodeId node : nodes) EXPECT_EQ(tree_[node].b, tree_[first].b);
    for (int i = 1; i < 10; ++i) EXPECT_EQ(nodes[i], nodes[0]);
    EXPECT_EQ(tracker_.count_of(PathCount::Walked), walks);
}

TEST_F(PathTrackerTest, RepeatsInOneActivationNeedNoWalk) {
    NodeId last = 0;
    for (int i = 0; i < 100; ++i) {
        const NodeId node = call();
        if (i > 1) {
            ASSERT_EQ(node, last);
        }
        last = node;
    }
    EXPECT_GE(repeated_, 97);
}

TEST_F(PathTrackerTest, CallsRepeatWithoutAWalkWhereverTheFramePointerWasSavedBefore) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "sanitizers lay out frames of their own";
#endif
    EXPECT_GE(repeat_after_another_function(100), 97);
}

TEST_F(PathTrackerTest, AReturnThroughTheMarkShowsWhereTheCommonAncestorIs) {
    sample_below(20);
    const std::size_t deep = depth_of(last_);
    // All twenty frames have returned to this function: it is the ancestor.
    const CommonAncestor ancestor = sample_below(5);
    EXPECT_EQ(ancestor.kind, LcaKind::Exact);
    EXPECT_EQ(ancestor.depth, deep - 22); // without sample(), sample_below() x 21
}

TEST_F(PathTrackerTest, WithoutMarksTheCommonAncestorIsABound) {
    process_state.marks.store(MarksChoice::Off);
    sample_below(20);
    const std::size_t deep = depth_of(last_);
    CommonAncestor ancestor{};
    volatile int times = 5; // not unrolled: from one call site, so that slots and return addresses are the same
    for (int i = 0; i < times; ++i) ancestor = sample_below(20);
    EXPECT_EQ(ancestor.kind, LcaKind::Bound);
    EXPECT_EQ(ancestor.depth, deep);
}

/// Which function has not returned between two samples: this many nodes outside of that of the last sample. Its own node is not that of a call in it.
TEST_F(PathTrackerTest, TheInnermostFunctionThatSurelyStandsIsNamed) {
    struct Shape {
        NOT_INLINED static NodeId twice(PathTrackerTest& test, PathTracker& tracker, int first, int second, std::size_t& depth) {
            test.sample_below_for(first);
            tracker.begin_standing();
            test.sample_below_for(second);
            depth = test.last_depth();
            return tracker.standing_function();
        }
    };
    std::size_t depth = 0;
    const NodeId node = Shape::twice(*this, tracker_, 20, 5, depth);
    ASSERT_NE(node, 0u);
    EXPECT_EQ(depth_of(node), depth - 8); // without sample_below_for(), sample_below() x 6 and sample()
    EXPECT_EQ(tree_[node].kind, NodeKind::Frame);
    const auto begin = reinterpret_cast<std::uintptr_t>(&Shape::twice) - load_map[tree_[node].a].bias;
    EXPECT_EQ(tree_[node].b, begin); // not a line in it
    process_state.marks.store(MarksChoice::Off);
    EXPECT_EQ(Shape::twice(*this, tracker_, 20, 5, depth), 0u); // without marks nothing is sure
}

/// A jump leaves the frame to another function: which of the two ran in between is unknown.
TEST_F(PathTrackerTest, AFunctionThatHasTakenAFrameOverDoesNotCount) {
    struct Tail {
        NOT_INLINED static NodeId second(PathTrackerTest& test, PathTracker& tracker, const void* end_of_frame, bool& is_jump) {
            is_jump = end_of_frame == __builtin_dwarf_cfa();
            test.sample_below_for(2);
            return tracker.standing_function();
        }
        NOT_INLINED static NodeId first(PathTrackerTest& test, PathTracker& tracker, bool& is_jump) {
            test.sample_below_for(4);
            tracker.begin_standing();
            return second(test, tracker, __builtin_dwarf_cfa(), is_jump);
        }
    };
    bool is_jump = false;
    const NodeId node = Tail::first(*this, tracker_, is_jump);
    ASSERT_NE(node, 0u);
    EXPECT_EQ(depth_of(node), last_depth() - 6); // without second(), sample_below_for(), sample_below() x 3 and sample()
    const auto begin = [&](auto* function) { return reinterpret_cast<std::uintptr_t>(function) - load_map[tree_[node].a].bias; };
    EXPECT_NE(tree_[node].b, begin(&Tail::second));
    EXPECT_EQ(tree_[node].b == begin(&Tail::first), !is_jump);
}

TEST_F(PathTrackerTest, NothingIsSaidOfTheTimeBeforeTheFirstSample) {
    sample_below(3);
    EXPECT_EQ(tracker_.standing_function(), 0u);
}

/// Figure 2 of Wei and Mellor-Crummey: a loop calls A twice from one call site; A calls B; a sample each time. Slots and return
/// addresses are the same, so only the mark tells that these are two activations of A.
TEST_F(PathTrackerTest, TwoActivationsOfOneCallSiteAreToldApartByTheMark) {
    for (const MarksChoice mode : {MarksChoice::On, MarksChoice::Off}) {
        process_state.marks.store(mode);
        volatile int times = 4;
        for (int i = 0; i < times; ++i) {
            const CommonAncestor ancestor = sample_below(1); // A; B is sample_below(0)
            if (i < 2) continue;                             // compilers may give the first pass a separate call
            const std::size_t here = depth_of(last_) - 3;    // without A, B and sample()
            EXPECT_EQ(ancestor.kind, mode == MarksChoice::On ? LcaKind::Exact : LcaKind::Bound);
            EXPECT_EQ(ancestor.depth, mode == MarksChoice::On ? here : here + 3);
        }
    }
}

TEST_F(PathTrackerTest, WhenAMarkIsLostNothingIsMarkedAnyMore) {
    sample_below(10);
    Mark& mark = thread_local_block.mark;
    ASSERT_NE(mark.slot, 0u);
    const std::uintptr_t slot = mark.slot, end = end_of(mark);
    const std::uintptr_t return_address = mark.return_address;
    // The stack belongs to other code now. Where marks may move, only a walk to the stack's base can tell that this one is not there any more.
    *reinterpret_cast<std::uintptr_t*>(slot) = has_fixed_return_slot ? 0x1234 : return_address;
    sample();
    EXPECT_EQ(marks_mode(), MarksChoice::Off);
    EXPECT_EQ(lost_return_address(mark, end), return_address);
    *reinterpret_cast<std::uintptr_t*>(slot) = return_address;
    sample_below(3);
    EXPECT_EQ(mark.slot, 0u);
}

TEST_F(PathTrackerTest, AThreadThatTakesOverHasNoPathAndNoSample) {
    sample_below(4);
    tracker_.forget(reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)));
    tracker_.begin_again();
    tracker_.ready();
    EXPECT_EQ(sample_below(4).kind, LcaKind::Unknown);
    EXPECT_TRUE(tracker_.is_complete());
}

TEST_F(PathTrackerTest, TheFirstSampleHasNoCommonAncestor) { EXPECT_EQ(sample().kind, LcaKind::Unknown); }

TEST_F(PathTrackerTest, ReturnValuesPassThroughTheMark) {
    double want = 0;
    double a = 1.5;
    for (int i = 0; i < 12; ++i, a += 1) want += i < 12 ? a : 0;
    want += a * 2.25;
    EXPECT_EQ(doubles_below(12, 1.5, 2.25), want);
    EXPECT_EQ(extended_below(12, 1.0L), 1.0L);
    EXPECT_GT(thread_local_block.mark.returns, 0u);
}

TEST_F(PathTrackerTest, ExceptionsPassTheMarkAndTakeItAway) {
    const std::uint64_t lost = tracker_.count_of(PathCount::Lost);
    for (int i = 0; i < 50; ++i) {
        bool caught = false;
        try {
            throw_below(i % 20);
        } catch (const std::runtime_error&) {
            caught = true;
        }
        ASSERT_TRUE(caught);
    }
    EXPECT_EQ(tracker_.count_of(PathCount::Lost), lost);
    EXPECT_EQ(sample_below(3).kind == LcaKind::Unknown, false);
}

TEST_F(PathTrackerTest, ASampleDuringACallLeavesTheMarkOfACallFromACallback) {
    const Mark& mark = thread_local_block.mark;
    bool is_inside = false;
    CommonAncestor first{}, second{};
    call_with_callback(6, [&](std::uintptr_t outer) {
        is_inside = mark.slot != 0 && mark.slot < outer;
        const std::uintptr_t slot = mark.slot;
        first = sample_in_call(outer);
        second = sample_in_call(outer);
        is_inside = is_inside && mark.slot == slot && mark_stands(mark, slot);
    });
    EXPECT_TRUE(is_inside);
    EXPECT_EQ(marks_mode(), MarksChoice::On);
    EXPECT_EQ(tracker_.count_of(PathCount::Lost), 0u);
    EXPECT_EQ(second.kind, LcaKind::Exact);
    EXPECT_EQ(second.depth, depth_of(known_.node) - 9); // without call_with_callback(), the callback's seven frames and below()
}

TEST_F(PathTrackerTest, ASampleDuringACallPlacesNoMark) {
    const Mark& mark = thread_local_block.mark;
    std::uintptr_t slot = 1;
    call_with_callback(3, [&](std::uintptr_t outer) { // the stack there may be an unwinder's
        {
            const InTool guard;
            tracker_.forget(reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)));
        }
        sample_in_call(outer);
        slot = mark.slot;
    });
    EXPECT_EQ(slot, 0u);
}

TEST_F(PathTrackerTest, ExceptionsPassMarksThatWereLost) {
    Mark& mark = thread_local_block.mark;
    bool caught = false;
    try {
        call_with_callback(5, [&](std::uintptr_t) {
            note_loss(mark);
            mark.slot = 0; // its stub stays where it is
            throw std::runtime_error("below");
        });
    } catch (const std::runtime_error&) {
        caught = true;
    }
    EXPECT_TRUE(caught);
}

TEST_F(PathTrackerTest, WhoReadsReturnAddressesFindsNoMarkThatWasLost) {
    Mark& mark = thread_local_block.mark;
    std::uintptr_t slot = 0, return_address = 0;
    call_with_callback(5, [&](std::uintptr_t) {
        note_loss(mark);
        slot = mark.slot;
        mark.slot = 0;
        restore_losses(mark, reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)));
        return_address = *reinterpret_cast<const std::uintptr_t*>(slot);
    });
    EXPECT_NE(slot, 0u);
    EXPECT_EQ(return_address, mark.return_address);
}

TEST_F(PathTrackerTest, AnOverwrittenMarkIsForgotten) {
    sample_below(10);
    Mark& mark = thread_local_block.mark;
    ASSERT_NE(mark.slot, 0u);
    mark.slot += 8; // the slot of a frame that is gone: it does not hold the stub
    *reinterpret_cast<std::uintptr_t*>(mark.slot - 8) = mark.return_address;
    sample_below(2);
    EXPECT_EQ(tracker_.count_of(PathCount::Lost), 1u);
    EXPECT_TRUE(tracker_.is_complete());
}

namespace {

/// A program that calls MPI at two sites of functions that call each other, in an order that looks random and is always the same.
class FollowedPathTest : public PathTrackerTest {
  protected:
    struct Known {
        const void* return_address;
        KnownPath path;
        FollowedPath followed;
        bool is_learned;
    };
    using Calls = std::vector<std::pair<NodeId, std::uint32_t>>; // node, and functions that have not returned

    struct Running {
        int number;                     // of the activation
        std::uint32_t level = 0;        // in the call path, once it has made a followed call
        bool is_called_by_libc = false; // by a function whose return cannot be marked
    };
    class Activation {
      public:
        explicit Activation(FollowedPathTest& of, bool is_called_by_libc = false) : of_(of) {
            of.running_.push_back({++of.activations_, 0, is_called_by_libc});
        }
        ~Activation() { of_.running_.pop_back(); }
        Activation(const Activation&) = delete;
        Activation& operator=(const Activation&) = delete;

      private:
        FollowedPathTest& of_;
    };

    void note_followed(NodeId node, std::uint32_t common) {
        calls_.emplace_back(node, common);
        if (running_.empty()) return;
        running_.back().level = static_cast<std::uint32_t>(depth_of(node)) - 1;
        followed_ = running_;
    }
    /// A call that is not followed: asks of functions of the last followed call's path whether they stand.
    NOT_INLINED void ask_what_stands() {
        const InTool guard;
        const auto frame = reinterpret_cast<std::uintptr_t>(LIBPROFILE_OWN_FRAME);
        bool stands = true;
        for (std::size_t i = 0; i < followed_.size(); ++i) {
            stands = stands && i < running_.size() && running_[i].number == followed_[i].number;
            if (followed_[i].level == 0) continue;
            for (std::uint32_t level = followed_[i].level; level != followed_[i].level - 1 - followed_[i].is_called_by_libc; --level) {
                const bool is_said = tracker_.stands_since_followed(level, frame);
                standing_ += stands ? 1 : 0;
                said_to_stand_ += is_said ? 1 : 0;
                wrong_ += is_said && !stands ? 1 : 0;
            }
        }
    }
    static int compare(const void*, const void*) {
        FollowedPathTest& test = *in_libc_;
        const Activation here(test, true);
        test.followed_call();
        test.stray(test.depth_in_libc_);
        return 0;
    }
    NOT_INLINED void through_libc(int depth) {
        int two[2] = {};
        in_libc_ = this;
        depth_in_libc_ = depth;
        std::qsort(two, 2, sizeof *two, compare);
        ask_what_stands(); // the library's functions have returned unseen
        keep_ = 1;
    }
    NOT_INLINED void followed_call() {
        const InTool guard;
        const auto frame = reinterpret_cast<std::uintptr_t>(LIBPROFILE_OWN_FRAME);
        const void* return_address = __builtin_return_address(0);
        std::uint32_t common = 0;
        for (const Known& known : known_calls_) {
            if (known.return_address != return_address || !tracker_.is_unchanged(known.path, frame)) continue;
            if (!known.is_learned || !tracker_.follow_known(known.followed, frame, common)) break;
            ++quick_;
            note_followed(known.path.node, common);
            return;
        }
        const NodeId node = tree_.child(tracker_.at_followed_call(frame, common), NodeKind::Mpi, 0, 0);
        note_followed(node, common);
        if (!is_learning_) return;
        Known& known = known_calls_.emplace_back();
        known.return_address = return_address;
        tracker_.remember(known.path, frame, node);
        known.is_learned = tracker_.learn_followed(known.followed, node);
    }
    std::uint32_t random(std::uint32_t below) {
        state_ = state_ * 1664525u + 1013904223u;
        return static_cast<std::uint32_t>((std::uint64_t{state_} * below) >> 32);
    }
    NOT_INLINED void wander(int depth) {
        const Activation here(*this);
        for (std::uint32_t left = 1 + random(3); left != 0; --left) {
            if (random(2) == 0) followed_call();
            if (depth != 0 && random(2) == 0) wander(depth - 1);
            if (depth != 0 && random(3) == 0) stray(depth - 1);
            if (random(3) == 0) followed_call();
            if (!asks_) continue;
            ask_what_stands();
            if (depth != 0 && random(3) == 0) through_libc(depth - 1);
            ask_what_stands();
        }
        keep_ = 1;
    }
    NOT_INLINED void stray(int depth) {
        const Activation here(*this);
        if (random(16) == 0) sample();
        wander(depth);
        keep_ = 1;
    }
    /// The program twice, since paths are learned by the way.
    NOT_INLINED Calls run(bool learns) {
        is_learning_ = learns;
        state_ = 7;
        quick_ = 0;
        calls_.clear();
        known_calls_.clear();
        for (int i = 0; i < 40; ++i) wander(5);
        return calls_;
    }

    std::vector<Known> known_calls_;
    Calls calls_;
    bool is_learning_ = false;
    std::uint32_t state_ = 0;
    int quick_ = 0;
    std::vector<Running> running_, followed_; // functions now, from the outermost, and at the last followed call
    static inline FollowedPathTest* in_libc_ = nullptr;
    int depth_in_libc_ = 0;
    int activations_ = 0, standing_ = 0, said_to_stand_ = 0, wrong_ = 0;
    bool asks_ = false;
};

} // namespace

TEST_F(FollowedPathTest, WithoutAWalkTheSameFunctionsHaveReturned) {
    const auto run_here = [this](bool learns) { return run(learns); };
    Calls walked, known;
    int quick = 0;
    volatile int runs = 2; // not unrolled: from one place, so that the nodes are the same
    for (int i = 0; i < runs; ++i) {
        const bool learns = i == 1;
        (learns ? known : walked) = run_here(learns);
        quick = quick_;
    }
    ASSERT_EQ(walked.size(), known.size());
    for (std::size_t i = 1; i < walked.size(); ++i) ASSERT_EQ(walked[i], known[i]) << "call " << i;
    EXPECT_GT(quick, static_cast<int>(walked.size() * 3 / 4)) << "of " << walked.size();
}

TEST_F(FollowedPathTest, WhatIsSaidToStandSinceTheLastFollowedCallDoes) {
    asks_ = true;
    for (const bool learns : {false, true}) run(learns);
    EXPECT_EQ(wrong_, 0) << "of " << said_to_stand_;
    EXPECT_GT(said_to_stand_, standing_ / 2) << "of " << standing_;
    process_state.marks.store(MarksChoice::Off);
    said_to_stand_ = 0;
    run(false);
    EXPECT_EQ(said_to_stand_, 0) << "without marks nothing is certain";
}

} // namespace libprofile
