// The order of events in iterations: hashes, folding, timelines, and memory.
#include "libprofile/phases/phase_stack.hpp"

#include <gtest/gtest.h>
#include <random>
#include <set>
#include <vector>

namespace libprofile {

namespace {

class IterationOrderTest : public testing::Test {
  protected:
    void SetUp() override {
        ASSERT_TRUE(tree_.start());
        for (NodeId& node : calls_) node = tree_.child(0, NodeKind::Mpi, static_cast<std::uint32_t>(&node - calls_), 0);
        begin(std::uint64_t{1} << 20);
    }
    void begin(std::uint64_t memory) {
        order_ = IterationOrder::create(is_running_, memory, tree_, arena_, pool_);
        ASSERT_NE(order_, nullptr);
        phase_ = nullptr;
        iterations_ = 0;
    }
    /// An iteration of calls, each of which takes 10 ns and begins 100 ns after the one before, or after the iteration.
    void iterate(const std::vector<int>& calls) {
        const std::uint64_t from = now_;
        order_->begin(phase_, now_);
        for (const int call : calls) {
            now_ += 100;
            order_->add(calls_[call], now_, 10);
        }
        now_ += 100;
        order_->end(1, 1, now_);
        order_->append(*phase_, iterations_++);
        EXPECT_EQ(now_ - from, 100 * (calls.size() + 1));
    }
    const Sequence& sequence(std::uint32_t number) { return phase_->sequences[number - 1]; }
    static std::vector<std::uint32_t> numbers(const PhaseOrder& order) {
        std::vector<unsigned char> bytes;
        order.numbers.for_each_piece([&](const unsigned char* piece, std::size_t size) { bytes.insert(bytes.end(), piece, piece + size); });
        unsigned char tail[SequenceNumbers::most_held_back];
        bytes.insert(bytes.end(), tail, tail + order.numbers.held_back(tail));
        RangeDecoder decoder(bytes.data(), bytes.size());
        SequenceCode code;
        std::vector<std::uint32_t> found;
        for (std::uint64_t i = 0; i < order.numbers.size(); ++i) found.push_back(code.code(decoder, 0));
        EXPECT_FALSE(decoder.failed());
        return found;
    }

    Arena arena_;
    Pool pool_{arena_};
    CallTree tree_{arena_};
    bool is_running_ = false;
    NodeId calls_[64];
    IterationOrder* order_ = nullptr;
    PhaseOrder* phase_ = nullptr;
    std::uint64_t iterations_ = 0;
    std::uint64_t now_ = 1000000;
};

using Numbers = std::vector<std::uint32_t>;

} // namespace

TEST_F(IterationOrderTest, IterationsOfTheSameCallsInAnotherOrderAreOtherSequences) {
    for (const std::vector<int>& calls : {std::vector{1, 2, 3}, {1, 3, 2}, {1, 2, 3}, {}, {1, 2}, {}, {1, 2, 3, 3}}) iterate(calls);
    EXPECT_EQ(numbers(*phase_), (Numbers{1, 2, 1, 3, 4, 3, 5}));
    std::set<std::pair<std::uint64_t, std::uint64_t>> hashes;
    for (std::uint32_t i = 0; i < phase_->sequences.size(); ++i) hashes.emplace(phase_->sequences[i].hash.part[0], phase_->sequences[i].hash.part[1]);
    EXPECT_EQ(hashes.size(), 5u);
    EXPECT_EQ(sequence(1).iterations, 2u);
    EXPECT_FALSE(is_running_);
}

TEST_F(IterationOrderTest, HashesAreThoseOfThePathsAlone) {
    iterate({1, 2, 3});
    CallTree other(arena_);
    ASSERT_TRUE(other.start());
    other.child(0, NodeKind::Mpi, 60, 0); // so that nodes have other numbers
    bool runs = false;
    IterationOrder* order = IterationOrder::create(runs, 1 << 20, other, arena_, pool_);
    PhaseOrder* phase = nullptr;
    order->begin(phase, 5);
    EXPECT_TRUE(runs);
    for (const std::uint32_t call : {1u, 2u, 3u}) order->add(other.child(0, NodeKind::Mpi, call, 0), 7, 1);
    order->end(1, 1, 9);
    EXPECT_EQ(phase->sequences[0].hash, sequence(1).hash);
}

TEST_F(IterationOrderTest, WhatLiesInsideARegionTellsIterationsApart) {
    const NodeId region = tree_.child(0, NodeKind::Region, 0, 77);
    for (const bool is_inside : {false, true, false}) {
        order_->begin(phase_, now_);
        if (is_inside) order_->add_begin(region);
        order_->add(calls_[1], now_, 10);
        if (!is_inside) order_->add_begin(region);
        order_->add(region, now_, 10);
        order_->end(1, 1, now_ += 100);
        order_->append(*phase_, iterations_++);
    }
    EXPECT_EQ(numbers(*phase_), (Numbers{1, 2, 1}));
    EXPECT_EQ(sequence(1).size, 2u);
}

TEST_F(IterationOrderTest, TimelinesHaveSumsAndMaximaByPosition) {
    std::mt19937_64 random(5);
    std::uint64_t begins[4] = {}, most_begin[4] = {}, lengths[4] = {}, most_length[4] = {};
    for (int i = 0; i < 1000; ++i) {
        const std::uint64_t from = now_;
        order_->begin(phase_, from);
        for (int e = 0; e < 4; ++e) {
            const std::uint64_t begin = now_ + random() % 5000, length = random() % 3000;
            order_->add(calls_[e], begin, length);
            now_ = begin + length;
            begins[e] += begin - from;
            most_begin[e] = std::max(most_begin[e], begin - from);
            lengths[e] += length;
            most_length[e] = std::max(most_length[e], length);
        }
        order_->end(1, 1, now_);
        order_->append(*phase_, iterations_++);
    }
    ASSERT_EQ(phase_->sequences.size(), 1u);
    EXPECT_EQ(sequence(1).iterations, 1000u);
    ASSERT_EQ(sequence(1).size, 4u);
    for (int e = 0; e < 4; ++e) {
        const TimelineEvent& event = sequence(1).events[e];
        EXPECT_EQ(event.key.node(), calls_[e]);
        EXPECT_EQ(event.count, 1u);
        EXPECT_EQ(event.begin_sum, begins[e]);
        EXPECT_EQ(event.begin_most, most_begin[e]);
        EXPECT_EQ(event.length_sum, lengths[e]);
        EXPECT_EQ(event.length_most, most_length[e]);
    }
}

TEST_F(IterationOrderTest, EqualNeighboursAreFoldedOnlyWhereThereIsNoRoom) {
    std::vector<int> calls(EventBuffer::most, 1);
    iterate(calls);
    EXPECT_EQ(sequence(1).size, EventBuffer::most);
    calls[0] = 2;
    calls.insert(calls.end(), {3, 3, 4});
    for (int i = 0; i < 2; ++i) iterate(calls);
    EXPECT_EQ(numbers(*phase_), (Numbers{1, 2, 2}));
    const Sequence& folded = sequence(2);
    ASSERT_EQ(folded.size, 4u);
    EXPECT_FALSE(folded.is_too_long);
    EXPECT_EQ(folded.events[1].key.node(), calls_[1]);
    EXPECT_EQ(folded.events[1].count, EventBuffer::most - 1);
    EXPECT_EQ(folded.events[1].begin_most, 200u);
    EXPECT_EQ(folded.events[1].length_sum, 2 * 10u * (EventBuffer::most - 1));
    EXPECT_EQ(folded.events[1].length_most, 10u);
    EXPECT_EQ(folded.events[2].count, 2u);
    EXPECT_EQ(folded.events[3].count, 1u);
    iterate({1, 2});
    EXPECT_EQ(sequence(3).size, 2u) << "what was folded once is not folded again";
}

TEST_F(IterationOrderTest, LongerSequencesKeepTheirHash) {
    std::vector<int> calls;
    for (std::uint32_t i = 0; i < EventBuffer::most + 1; ++i) calls.push_back(static_cast<int>(i % 7));
    iterate(calls);
    iterate(calls);
    calls.back() = 9;
    iterate(calls);
    EXPECT_EQ(numbers(*phase_), (Numbers{1, 1, 2}));
    for (const std::uint32_t number : {1u, 2u}) {
        EXPECT_TRUE(sequence(number).is_too_long);
        EXPECT_FALSE(sequence(number).has_timeline);
    }
    EXPECT_EQ(phase_->sequences.untimed(), 3u);
}

TEST_F(IterationOrderTest, WithoutMemoryThereAreHashesAndThenNothing) {
    begin(64 << 10);
    std::set<std::vector<int>> kept;
    for (int i = 0; i < 3000; ++i) iterate({i % 60, i / 60, 1, 2, 3});
    const std::uint32_t known = phase_->sequences.size();
    EXPECT_GT(known, 100u);
    EXPECT_LT(known, 3000u);
    EXPECT_EQ(phase_->unnumbered, 3000 - known);
    EXPECT_GT(phase_->sequences.untimed(), 0u);
    std::uint32_t with = 0;
    for (std::uint32_t i = 0; i < known; ++i) with += phase_->sequences[i].has_timeline ? 1 : 0;
    EXPECT_EQ(phase_->sequences.untimed(), known - with);
    EXPECT_GT(with, 50u);
    for (int i = 0; i < 100; ++i) iterate({0, 0, 1, 2, 3});
    EXPECT_EQ(sequence(1).iterations, 101u) << "a known one still counts";
    const Numbers found = numbers(*phase_);
    ASSERT_GT(found.size(), known);
    for (std::uint32_t i = 0; i < found.size(); ++i) EXPECT_EQ(found[i], i < known ? i + 1 : i < 3000 ? 0 : 1) << i;
    EXPECT_LE(order_->memory(), std::uint64_t{64} << 10);
}

TEST_F(IterationOrderTest, AMillionIterationsTakeTheMemoryOfAThousand) {
    const auto one = [&](int i) { iterate(i % 100 == 99 ? std::vector{1, 2, 3, 4} : i % 10 == 9 ? std::vector{1, 2, 5} : std::vector{1, 2}); };
    for (int i = 0; i < 1000; ++i) one(i);
    const std::uint64_t quota = memory_quota.used(), before = order_->memory();
    for (int i = 1000; i < 1000000; ++i) one(i);
    EXPECT_LE(order_->memory(), before + (32 << 10)) << "of 20 regular changes in each hundred iterations";
    EXPECT_LE(memory_quota.used(), quota + (256 << 10));
    EXPECT_EQ(phase_->numbers.size(), 1000000u);
    const Numbers found = numbers(*phase_);
    for (std::size_t i = 0; i < found.size(); ++i) ASSERT_EQ(found[i], i % 100 == 99 ? 3u : i % 10 == 9 ? 2u : 1u) << i;
    EXPECT_EQ(phase_->numbers.size(), sequence(1).iterations + sequence(2).iterations + sequence(3).iterations);
}

TEST_F(IterationOrderTest, AMillionEqualIterationsTakeNothing) {
    for (int i = 0; i < 1000; ++i) iterate({1, 2});
    const std::size_t before = phase_->numbers.bytes();
    for (int i = 1000; i < 1000000; ++i) iterate({1, 2});
    EXPECT_LE(phase_->numbers.bytes(), before + 128);
}

TEST_F(IterationOrderTest, IterationsForWhichThereWasNoMemoryKeepTheirPlaces) {
    iterations_ = 3;
    iterate({1});
    EXPECT_EQ(numbers(*phase_), (Numbers{0, 0, 0, 1}));
}

TEST_F(IterationOrderTest, RandomNumbersComeBack) {
    std::mt19937_64 random(9);
    Numbers expected;
    for (int i = 0; i < 20000; ++i) {
        const int kind = static_cast<int>(random() % (i < 10000 ? 3 : 40));
        iterate({kind});
        std::uint32_t number = 0;
        for (std::uint32_t s = 1; s <= phase_->sequences.size(); ++s)
            if (sequence(s).events[0].key.node() == calls_[kind]) number = s;
        expected.push_back(number);
    }
    EXPECT_EQ(numbers(*phase_), expected);
}

namespace {

/// The same by markers.
class OrderOfPhasesTest : public IterationOrderTest {
  protected:
    void SetUp() override {
        IterationOrderTest::SetUp();
        ASSERT_TRUE(stack_.start(0, 0, {4, EquivalenceChoice::Auto, 0, true, true, {}}));
        stack_.hooks().order = order_;
    }
    void begin(const char* name) { stack_.begin(PhaseKind::Iterations, name, ++now_, 0); }
    void end(const char* name) { stack_.end(PhaseKind::Iterations, name, ++now_, 0); }
    void call(int which) {
        if (is_running_) order_->add(calls_[which], ++now_, 1);
    }
    const PhaseOrder& order(const char* name) { return *stack_.all().find(PhaseKind::Iterations, name)->order; }

    PhaseStack stack_{tree_, arena_, pool_};
};

} // namespace

TEST_F(OrderOfPhasesTest, AnIterationInsideAnotherIsOneOfItsEvents) {
    for (const int sweeps : {2, 3, 2}) {
        begin("step");
        call(1);
        for (int i = 0; i < sweeps; ++i) {
            begin("sweep");
            call(2);
            if (i == 1) call(3);
            end("sweep");
        }
        call(4);
        end("step");
        call(5); // of no iteration
    }
    EXPECT_EQ(numbers(order("step")), (Numbers{1, 2, 1}));
    EXPECT_EQ(numbers(order("sweep")), (Numbers{1, 2, 1, 2, 1, 1, 2}));
    const Sequence& step = order("step").sequences[0];
    ASSERT_EQ(step.size, 4u);
    EXPECT_EQ(step.events[0].key, OrderKey::of_event(calls_[1]));
    EXPECT_EQ(step.events[1].key, OrderKey::of_iteration(stack_.all().find(PhaseKind::Iterations, "sweep")->number, 1));
    EXPECT_EQ(step.events[2].key.sequence(), 2u);
    EXPECT_TRUE(step.events[2].key.is_inner());
    EXPECT_EQ(step.events[3].key, OrderKey::of_event(calls_[4]));
    EXPECT_EQ(step.events[1].length_most, 2u);
}

TEST_F(OrderOfPhasesTest, AnInnerIterationThatDiffersIsAnotherOrderAroundIt) {
    for (const int last : {2, 3, 2}) {
        begin("step");
        begin("sweep");
        call(last);
        end("sweep");
        end("step");
    }
    EXPECT_EQ(numbers(order("step")), (Numbers{1, 2, 1}));
}

TEST_F(OrderOfPhasesTest, PassesThatAreCutOutOfALogHaveNoOrder) {
    order_->follow(false);
    begin("step");
    end("step");
    begin("step");
    order_->follow(true);
    call(1); // of the second half of an iteration
    end("step");
    begin("step");
    call(1);
    end("step");
    EXPECT_EQ(numbers(order("step")), (Numbers{0, 0, 1}));
}

TEST_F(OrderOfPhasesTest, EventsOfAPhaseWithoutIterationsAreThoseOfTheIterationAroundIt) {
    begin("step");
    stack_.begin(PhaseKind::Aggregate, "solve", ++now_, 0);
    call(1);
    stack_.end(PhaseKind::Aggregate, "solve", ++now_, 0);
    call(2);
    end("step");
    EXPECT_EQ(order("step").sequences[0].size, 2u);
}

} // namespace libprofile
