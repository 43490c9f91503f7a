#include "libprofile/phases/poll_run.hpp"

#include "libprofile/thread/thread.hpp"

#include <gtest/gtest.h>
#include <memory>

namespace libprofile {

namespace {

/// A stack of which the call's frame is the first word, its return address the second, and the mark farther out.
class ExpectedPollTest : public testing::Test {
  protected:
    static constexpr std::size_t at_return = 1, at_word = 4, at_mark = 7;
    void SetUp() override {
        path_.frame = reinterpret_cast<std::uintptr_t>(stack_);
        path_.return_address = reinterpret_cast<const void*>(0x1000);
        path_.function = 7;
        path_.epoch = 12;
        stack_[at_return] = 0x1000;
        stack_[at_word] = 0x2000;
        stack_[at_mark] = mark_stub();
        mark_.slot = reinterpret_cast<std::uintptr_t>(&stack_[at_mark]);
        mark_.return_address = 0x3000;
        mark_.version = 5;
    }
    /// The words of the stack that lead to the mark: that of `between`, and the mark's.
    void lead_over(std::initializer_list<std::size_t> between) {
        path_.words = 0;
        for (const std::size_t i : between) path_.word[path_.words++] = {stack_[i], static_cast<std::uint32_t>(i * sizeof stack_[0]), 1};
        path_.word[path_.words++] = {mark_.return_address, at_mark * sizeof stack_[0], 1};
        poll_ = {};
        poll_.expect(path_, mark_);
    }
    void lead(bool has_word) {
        if (has_word)
            lead_over({at_word});
        else
            lead_over({});
    }
    bool leads() const { return poll_.leads_to(mark_, path_.return_address); }

    std::uintptr_t stack_[10] = {};
    KnownPath path_;
    Mark mark_;
    ExpectedPoll poll_;
};

/// A run has just begun.
class PollRunTest : public testing::Test {
  protected:
    void SetUp() override { run_.begin("here", nullptr, statistics_, row_, 0, 100, 0, 0); }
    Row row_;
    PollStatistics statistics_;
    PollRun run_;
};

} // namespace

TEST_F(ExpectedPollTest, LeadsToTheMarkWhileTheStackIsAsItWas) {
    for (const bool has_word : {false, true}) {
        lead(has_word);
        ASSERT_EQ(poll_.frame, path_.frame);
        EXPECT_EQ(poll_.function, path_.function);
        EXPECT_EQ(poll_.state, ProcessState::both(SessionState::Measuring, path_.epoch));
        EXPECT_TRUE(leads());
    }
}

TEST_F(ExpectedPollTest, AnotherCallSiteIsAnotherPoll) {
    lead_over({at_word});
    EXPECT_FALSE(poll_.leads_to(mark_, reinterpret_cast<const void*>(0x1008)));
}

TEST_F(ExpectedPollTest, AnotherCallerIsAnotherPoll) {
    lead_over({at_word});
    stack_[at_word] = 0x2008;
    EXPECT_FALSE(leads());
}

TEST_F(ExpectedPollTest, AMarkThatHasMovedMayHaveLetTheCallerReturn) {
    lead_over({});
    mark_.slot = reinterpret_cast<std::uintptr_t>(&stack_[at_mark + 1]);
    EXPECT_FALSE(leads());
}

TEST_F(ExpectedPollTest, AMarkThatWasPlacedAgainMayBeOfAnotherActivation) {
    lead_over({});
    ++mark_.version;
    EXPECT_FALSE(leads());
}

TEST_F(ExpectedPollTest, AMarkThatWasOverwrittenProvesNothing) {
    for (const bool has_word : {false, true}) {
        lead(has_word);
        stack_[at_mark] = 0x3000;
        EXPECT_FALSE(leads());
        stack_[at_mark] = mark_stub();
    }
}

TEST_F(ExpectedPollTest, APathOfMoreWordsOrWithoutTheMarkIsNotExpected) {
    lead_over({at_return, at_word});
    EXPECT_EQ(poll_.frame, 0u);
    path_.words = 0;
    path_.word[path_.words++] = {0x2000, at_word * sizeof stack_[0], 1};
    poll_.expect(path_, mark_);
    EXPECT_EQ(poll_.frame, 0u);
}

TEST_F(PollRunTest, ItsRowGetsTheCallsThatOnlyLeftTellsOf) {
    run_.grant(10);
    run_.next.left -= 3;
    run_.count_repeats();
    EXPECT_EQ(row_[Metric::Visits], 3u);
    run_.next.left -= 2;
    run_.grant(20); // the rest of the first grant is not counted
    EXPECT_EQ(row_[Metric::Visits], 5u);
    run_.next.left -= 20;
    run_.next.frame = 1;
    run_.end();
    EXPECT_EQ(row_[Metric::Visits], 25u);
    EXPECT_EQ(row_.chance_visits, 25u);
    EXPECT_EQ(run_.calls_without_time(), 25u);
    EXPECT_EQ(run_.next.frame, 0u);
    run_.end();
    EXPECT_EQ(row_[Metric::Visits], 25u);
}

TEST_F(PollRunTest, ACallThatIsGivenBackIsNoneOfTheOthers) {
    Row another;
    run_.grant(10);
    run_.next.left -= 4;
    EXPECT_TRUE(run_.give_back(&row_));
    EXPECT_FALSE(run_.give_back(&another));
    run_.end();
    EXPECT_EQ(row_[Metric::Visits], 3u);
    EXPECT_FALSE(run_.give_back(&row_)) << "it was counted when the run ended";
}

TEST_F(PollRunTest, APollThatIsLookedAtThoughOthersWouldBeCountedIsOneOfThem) {
    for (int i = 0; i < 20; ++i) statistics_.add(true, 100);
    for (int i = 0; i < 20; ++i) statistics_.add(false, 100);
    int timed = 0;
    for (int i = 0; i < 11000; ++i) timed += run_.is_due() ? 1 : 0; // as from Python
    EXPECT_GT(timed, 60);
    EXPECT_LT(timed, 180);
    run_.end();
    EXPECT_EQ(row_[Metric::Visits], 0u) << "the caller has counted them";
}

TEST(ProcessState, SessionAndEpochAreReadTogether) {
    ProcessState state;
    state.session = SessionState::Silent;
    state.load_map_epoch = 77;
    EXPECT_EQ(state.session_and_epoch(), ProcessState::both(SessionState::Silent, 77));
}

TEST_F(PollRunTest, ADisturbedRunExpectsNoMore) {
    run_.grant(10);
    run_.next.frame = 1;
    EXPECT_TRUE(run_.goes_on(&row_));
    run_.disturb();
    EXPECT_FALSE(run_.goes_on(&row_));
    EXPECT_EQ(run_.next.frame, 0u);
}

TEST(Thread, WhatEveryCallUsesIsOneCacheLineAndWhatEveryPollUsesTheNext) {
    const auto thread = std::make_unique<Thread>();
    const auto offset_of = [&](const void* member) { return reinterpret_cast<std::uintptr_t>(member) - reinterpret_cast<std::uintptr_t>(thread.get()); };
    const PollRun& run = thread->phases.time().polls();
    EXPECT_EQ(offset_of(&run.site) + sizeof run.site, 64u);
    EXPECT_EQ(offset_of(&run.next), 64u);
    EXPECT_EQ(offset_of(thread.get()) % 64, 0u);
}

} // namespace libprofile
