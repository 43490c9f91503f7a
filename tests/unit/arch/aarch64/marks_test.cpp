// Marks whose return address does not stay where it was: a function that ends by a jump has it in its register, and the next one saves it elsewhere.
#include "libprofile/callpath/frame_walk.hpp"
#include "tests/unit/tracked_thread.hpp"

#include <csignal>
#include <gtest/gtest.h>
#include <stdexcept>
#include <vector>

namespace {
using Callback = void (*)(void*);
using Function = void();
} // namespace

// Calls `before`, and ends by a jump to one of those below it, which call `after`. They return 7.
extern "C" int jumps_at_its_end(Callback before, Callback after, void* data, Function* to);
extern "C" Function saves_alone, signs, signs_by_key_b, leaf_with_signal, jumps_on;
__asm__(R"(
    .text
    .globl jumps_at_its_end, saves_alone, signs, signs_by_key_b, leaf_with_signal, jumps_on
    .type jumps_at_its_end, %function
jumps_at_its_end:
    .cfi_startproc
    stp x29, x30, [sp, #-64]!
    .cfi_def_cfa_offset 64
    .cfi_offset x29, -64
    .cfi_offset x30, -56
    mov x29, sp
    stp x1, x2, [sp, #16]
    str x3, [sp, #32]
    mov x4, x0
    mov x0, x2
    blr x4
    ldp x1, x2, [sp, #16]
    ldr x3, [sp, #32]
    ldp x29, x30, [sp], #64
    .cfi_restore x29
    .cfi_restore x30
    .cfi_def_cfa_offset 0
    br x3
    .cfi_endproc
    .size jumps_at_its_end, . - jumps_at_its_end

    .type saves_alone, %function
saves_alone:
    .cfi_startproc
    sub sp, sp, #96
    .cfi_def_cfa_offset 96
    str x30, [sp, #80]
    .cfi_offset x30, -16
    mov x0, x2
    blr x1
    ldr x30, [sp, #80]
    .cfi_restore x30
    add sp, sp, #96
    .cfi_def_cfa_offset 0
    mov w0, #7
    ret
    .cfi_endproc
    .size saves_alone, . - saves_alone

    .macro SIGNED name, sign, authenticate
    .type \name, %function
\name:
    hint \sign
    .cfi_negate_ra_state
    stp x29, x30, [sp, #-32]!
    .cfi_def_cfa_offset 32
    .cfi_offset x29, -32
    .cfi_offset x30, -24
    mov x29, sp
    mov x0, x2
    blr x1
    mov w0, #7
    ldp x29, x30, [sp], #32
    .cfi_restore x29
    .cfi_restore x30
    .cfi_def_cfa_offset 0
    hint \authenticate
    .cfi_negate_ra_state
    ret
    .cfi_endproc
    .size \name, . - \name
    .endm
    .cfi_startproc
    SIGNED signs, 25, 29
    .cfi_startproc
    .cfi_b_key_frame
    SIGNED signs_by_key_b, 27, 31

    .type leaf_with_signal, %function
leaf_with_signal:
    .cfi_startproc
    mov x8, #172
    svc #0
    mov x1, #10
    mov x8, #129
    svc #0
    mov w0, #7
    ret
    .cfi_endproc
    .size leaf_with_signal, . - leaf_with_signal

    .type jumps_on, %function
jumps_on:
    .cfi_startproc
    b saves_alone
    .cfi_endproc
    .size jumps_on, . - jumps_on
)");

namespace libprofile {

namespace {

class MovedMarkTest : public TrackedThread<testing::TestWithParam<Function*>, MarksChoice::Check> {
  protected:
    void TearDown() override {
        EXPECT_EQ(tracker_.count_of(PathCount::Lost), 0u);
        EXPECT_EQ(tracker_.count_of(PathCount::Wrong), 0u);
        TrackedThread::TearDown();
    }

    /// Like an MPI function.
    NOT_INLINED void call() {
        const InTool guard;
        tracker_.at_call(reinterpret_cast<std::uintptr_t>(LIBPROFILE_OWN_FRAME));
    }
    /// Marks: when this has returned, the mark is at the frame of jumps_at_its_end().
    NOT_INLINED static void before(void* test) {
        auto& self = *static_cast<MovedMarkTest*>(test);
        self.call();
        self.spliced_ = self.tracker_.count_of(PathCount::Spliced);
        self.keep_ = 1;
    }
    template <typename After> NOT_INLINED int run(After after) {
        static After* current;
        current = &after;
        const auto run_it = [](void* test) {
            (*current)();
            static_cast<MovedMarkTest*>(test)->keep_ = 1;
        };
        const int result = jumps_at_its_end(before, run_it, this, GetParam());
        keep_ = 1;
        return result;
    }
    std::uint64_t spliced() const { return tracker_.count_of(PathCount::Spliced) - spliced_; }

    std::uint64_t spliced_ = 0;
};

} // namespace

INSTANTIATE_TEST_SUITE_P(MarkTest, MovedMarkTest, testing::Values(saves_alone, signs, signs_by_key_b, jumps_on));

TEST_P(MovedMarkTest, APathEndsAtTheMarkWhereverItIs) {
    Mark& mark = thread_local_block.mark;
    std::uintptr_t end = 0, slot = 0;
    EXPECT_EQ(run([&] {
                  end = end_of(mark);
                  slot = mark.slot;
                  call();
                  EXPECT_EQ(spliced(), 1u);
                  const bool knows = GetParam() != signs && GetParam() != signs_by_key_b; // libunwind 1.6 ends there
                  EXPECT_EQ(tracker_.count_of(PathCount::Checked), knows ? 1u : 0u);
                  EXPECT_NE(stored_as(*reinterpret_cast<std::uintptr_t*>(mark.slot), mark_stub(), 1, end_of(mark), mark.signing), 0u);
              }),
              7);
    EXPECT_NE(end, 0u);
    EXPECT_NE(slot, mark.slot);
    call();
    EXPECT_EQ(spliced(), 2u) << "the mark has moved to the frame outside";
}

TEST_P(MovedMarkTest, ItFiresWhereNobodyHasSeenItMove) {
    std::uint64_t returns = 0;
    EXPECT_EQ(run([&] { returns = thread_local_block.mark.returns; }), 7);
    EXPECT_GT(thread_local_block.mark.returns, returns);
}

TEST(SignedMark, AnEqualSignatureIsToldByWhatIsKnown) {
    constexpr std::uintptr_t to = 0x123450;
    if (signed_by_key_a(mark_stub(), 16) == mark_stub() && signed_by_key_a(mark_stub(), 32) == mark_stub() && signed_by_key_a(to, 16) == to)
        GTEST_SKIP() << "this processor signs nothing";
    unsigned equal_keys = 0, equal_to_none = 0;
    for (std::uintptr_t end = 0x7ff000000000; equal_keys == 0 || equal_to_none == 0; end += 16) {
        ASSERT_LT(end, 0x7ff000100000u) << "there are more than seven bits";
        const std::uintptr_t a = signed_by_key_a(mark_stub(), end), b = signed_by_key_b(mark_stub(), end);
        equal_keys += a == b;
        equal_to_none += a == mark_stub();
        EXPECT_EQ(stored_as(a, mark_stub(), to, end, Signing::KeyA), signed_by_key_a(to, end));
        EXPECT_EQ(stored_as(b, mark_stub(), to, end, Signing::KeyB), signed_by_key_b(to, end));
        EXPECT_EQ(stored_as(mark_stub(), mark_stub(), to, end, Signing::None), to);
    }
}

TEST_P(MovedMarkTest, ExceptionsPass) {
    bool caught = false;
    try {
        run([] { throw std::runtime_error("below"); });
    } catch (const std::runtime_error&) {
        caught = true;
    }
    EXPECT_TRUE(caught);
    call();
    EXPECT_GE(spliced(), 1u);
}

TEST_P(MovedMarkTest, ItIsTakenAwayWhereItIs) {
    Mark& mark = thread_local_block.mark;
    const std::uintptr_t stack = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
    std::uintptr_t slot = 0, return_address = 0;
    EXPECT_EQ(run([&] {
                  const auto frame = reinterpret_cast<std::uintptr_t>(LIBPROFILE_OWN_FRAME);
                  EXPECT_TRUE(find_marks(mark, calling_frame(frame)));
                  slot = mark.slot;
                  return_address = mark.return_address;
                  remove_mark(mark, frame, true);
                  EXPECT_EQ(code_address(*reinterpret_cast<std::uintptr_t*>(slot)), return_address);
              }),
              7);
    EXPECT_LT(slot, stack);
    EXPECT_EQ(lost_return_address(mark, end_of(mark)), 0u);
}

TEST_P(MovedMarkTest, OneThatWasNotFoundIsKnownWhenItReturns) {
    Mark& mark = thread_local_block.mark;
    EXPECT_EQ(run([&] { remove_mark(mark, reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0))); }), 7);
    EXPECT_EQ(mark.slot, 0u);
}

TEST_P(MovedMarkTest, OneThatWasNotFoundIsPassedByExceptionsAndWalks) {
    Mark& mark = thread_local_block.mark;
    bool caught = false;
    try {
        run([&] {
            remove_mark(mark, reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)));
            call();
            EXPECT_TRUE(tracker_.is_complete());
            throw std::runtime_error("below");
        });
    } catch (const std::runtime_error&) {
        caught = true;
    }
    EXPECT_TRUE(caught);
}

namespace {

class MarkInRegisterTest : public MovedMarkTest {
  protected:
    void SetUp() override {
        MovedMarkTest::SetUp();
        self = this;
        struct sigaction action {};
        action.sa_flags = SA_SIGINFO;
        action.sa_sigaction = [](int, siginfo_t*, void* context) { self->in_handler(context); };
        sigaction(SIGUSR1, &action, &before_);
    }
    void TearDown() override {
        sigaction(SIGUSR1, &before_, nullptr);
        MovedMarkTest::TearDown();
    }
    void in_handler(void* context) {
        const InTool guard;
        link_is_mark_ = registers_of(context).extra == mark_stub();
        if (!removes_) {
            tracker_.at_sample(context);
            path_ = path();
            spliced_before_ = spliced();
            tracker_.forget(reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)));
            tracker_.at_sample(context);
            full_path_ = path();
            return;
        }
        Mark& mark = thread_local_block.mark;
        const bool found = find_marks(mark, calling_frame(reinterpret_cast<std::uintptr_t>(LIBPROFILE_OWN_FRAME)));
        EXPECT_FALSE(found) << "it may be in the register, and in a slot";
        remove_mark(mark, reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)), found);
        EXPECT_NE(registers_of(context).extra, mark_stub());
    }

    std::vector<std::uintptr_t> path() const {
        std::vector<std::uintptr_t> addresses;
        for (std::size_t i = 0; i < tracker_.size(); ++i) addresses.push_back(tracker_[i].address);
        return addresses;
    }

    static inline MarkInRegisterTest* self;
    std::vector<std::uintptr_t> path_, full_path_;
    std::uint64_t spliced_before_ = 0;
    bool link_is_mark_ = false, removes_ = false;
    struct sigaction before_ {};
};

} // namespace

INSTANTIATE_TEST_SUITE_P(MarkTest, MarkInRegisterTest, testing::Values(leaf_with_signal));

TEST_P(MarkInRegisterTest, ASampleEndsAtIt) {
    EXPECT_EQ(run([] {}), 7);
    EXPECT_TRUE(link_is_mark_);
    EXPECT_EQ(spliced_before_, 1u);
    EXPECT_GT(path_.size(), 3u);
    EXPECT_EQ(path_, full_path_);
}

TEST_P(MarkInRegisterTest, AHandlerTakesItAway) {
    removes_ = true;
    EXPECT_EQ(run([] {}), 7);
    EXPECT_TRUE(link_is_mark_);
}

} // namespace libprofile
