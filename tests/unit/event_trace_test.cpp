// The trace of events: whole parts, chosen alike on all ranks, in bounded memory.
#include "libprofile/output/events_writer.hpp"
#include "libprofile/trace/event_trace.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>
#include <sched.h>
#include <set>
#include <thread>
#include <vector>

namespace libprofile {

namespace {

std::vector<EventRecord> events_of(const PartStore& store, const Part& part) {
    std::vector<EventRecord> events(part.events);
    Decoder decoder(store.bytes(part), part.size);
    for (EventRecord& event : events) describe(decoder, event);
    EXPECT_FALSE(decoder.failed());
    EXPECT_EQ(decoder.remaining(), 0u);
    return events;
}

class EventTraceTest : public testing::Test {
  protected:
    /// On one processor: a thread that moves has an event more.
    void SetUp() override {
        sched_getaffinity(0, sizeof allowed_, &allowed_);
        stay_on(sched_getcpu());
    }
    void stay_on(int processor) {
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(static_cast<unsigned>(processor), &one);
        sched_setaffinity(0, sizeof one, &one);
    }
    void TearDown() override {
        if (trace_ != nullptr) trace_->begin_iteration(0, std::uint64_t{1} << 40, now_); // no iteration: other tests begin outside
        memory_quota.limit(256ull << 20);
        sched_setaffinity(0, sizeof allowed_, &allowed_);
    }
    void begin(std::uint64_t memory, bool leads = true) {
        trace_ = EventTrace::create(memory, leads, now_, counters_, arena_);
        ASSERT_NE(trace_, nullptr);
    }
    /// An iteration of so many events of 10 ns on the path number + 1, 100 ns apart. Its length is told as `wall_ns` if that is not 0.
    void iterate(std::uint64_t events, std::uint64_t wall_ns = 0, bool is_new = false) {
        const std::uint64_t from = now_;
        trace_->begin_iteration(3, number_, now_);
        for (std::uint64_t i = 0; i < events; ++i) {
            now_ += 100;
            trace_->add(static_cast<NodeId>(number_ + 1), now_ - 10, now_);
        }
        now_ += 100;
        trace_->end_iteration(now_);
        trace_->decide(3, number_, wall_ns != 0 ? wall_ns : now_ - from, true, [&](const PartKey&) { return was_new_; });
        was_new_ = is_new;
        ++number_;
    }
    const PartStore& store() const { return trace_->store(); }
    std::set<std::uint64_t> iterations(unsigned reason = 0xff) const {
        std::set<std::uint64_t> numbers;
        for (std::size_t i = 0; i < store().parts(); ++i)
            if (store().part(i).key.kind == PartKind::Iteration && (store().part(i).reasons & reason) != 0) numbers.insert(store().part(i).key.number);
        return numbers;
    }

    cpu_set_t allowed_;
    Arena arena_;
    ThreadCounters counters_;
    EventTrace* trace_ = nullptr;
    std::uint64_t now_ = 1000;
    std::uint64_t number_ = 0;
    bool was_new_ = false;
};

} // namespace

TEST_F(EventTraceTest, PartsHaveAllEventsThatEndedInThem) {
    begin(1 << 20);
    for (int i = 0; i < 100; ++i) iterate(static_cast<std::uint64_t>(i % 7));
    ASSERT_EQ(iterations().size(), 100u);
    EXPECT_EQ(store().stride(), 1u);
    std::uint64_t end = 0;
    for (std::size_t p = 0; p < store().parts(); ++p) {
        const Part& part = store().part(p);
        EXPECT_GE(part.begin, end);
        end = part.end;
        if (part.key.kind != PartKind::Iteration) continue;
        EXPECT_EQ(part.key.phase, 3u);
        ASSERT_EQ(part.events, part.key.number % 7);
        std::uint64_t at = part.begin, node = 0;
        for (const EventRecord& event : events_of(store(), part)) {
            node += (event.rest >> 1) ^ (~(event.rest & 1) + 1);
            EXPECT_EQ(node, part.key.number + 1);
            EXPECT_EQ(event.gap, 90);
            EXPECT_EQ(event.length, 10u);
            at += 100;
        }
        EXPECT_EQ(part.end, at + 100);
    }
}

TEST_F(EventTraceTest, MemoryIsBoundedAndEveryStrideThIterationStays) {
    constexpr std::uint64_t limit = 32768;
    begin(limit);
    std::mt19937 random(3);
    for (int i = 0; i < 30000; ++i) iterate(random() % 40);
    EXPECT_GT(store().stride(), 64u);
    const std::set<std::uint64_t> kept = iterations(PartHasItsTurn);
    for (std::uint64_t n = 0; n < number_; n += store().stride()) EXPECT_TRUE(kept.contains(n)) << n;
    EXPECT_EQ(kept.size(), (number_ + store().stride() - 1) / store().stride());
    for (const std::uint64_t n : kept) EXPECT_EQ(n % store().stride(), 0u);
    std::uint64_t bytes = 0, events = 0;
    for (std::size_t p = 0; p < store().parts(); ++p) {
        bytes += store().part(p).size;
        events += store().part(p).events;
        events_of(store(), store().part(p));
    }
    EXPECT_LE(bytes + store().parts() * sizeof(Part), limit);
    EXPECT_GT(bytes + store().parts() * sizeof(Part), limit / 8);
    EXPECT_EQ(store().dropped_parts() + iterations().size(), number_);
    EXPECT_GT(store().dropped_events(), events);
}

TEST_F(EventTraceTest, RanksWithDifferentMemoryShareTheIterationsOfTheOneWithLess) {
    std::set<std::uint64_t> kept[2];
    for (int rank = 0; rank < 2; ++rank) {
        number_ = 0;
        begin(rank == 0 ? 16384 : 262144);
        for (int i = 0; i < 20000; ++i) iterate(rank == 0 ? 10 : 3, i % 977 == rank * 5 ? 100000 + i : 0);
        kept[rank] = iterations();
        trace_->begin_iteration(0, std::uint64_t{1} << 40, now_);
    }
    std::size_t shared = 0;
    for (const std::uint64_t n : kept[0]) shared += kept[1].contains(n) ? 1 : 0;
    EXPECT_GE(2 * shared, kept[0].size());
    EXPECT_GT(kept[1].size(), kept[0].size());
}

TEST_F(EventTraceTest, TheSlowestIterationsAndTheFirstOfEachClusterStay) {
    begin(65536);
    std::set<std::uint64_t> slow, first;
    for (int i = 0; i < 20000; ++i) {
        const bool is_slow = i == 3333 || i == 7777 || i == 15551 || i == 19999, is_first = i == 5001 || i == 12345;
        if (is_slow) slow.insert(number_);
        if (is_first) first.insert(number_);
        iterate(10, is_slow ? 1000000 + static_cast<std::uint64_t>(i) : 0, is_first);
    }
    EXPECT_GT(store().stride(), 4u);
    EXPECT_EQ(iterations(PartIsSlow), slow);
    const std::set<std::uint64_t> kept = iterations(PartIsFirstOfKind);
    EXPECT_TRUE(std::includes(kept.begin(), kept.end(), first.begin(), first.end()));
}

TEST_F(EventTraceTest, AnIterationWithMoreEventsThanMemoryIsCountedAndTheOthersStay) {
    begin(16384);
    for (int i = 0; i < 8; ++i) iterate(20);
    iterate(100000);
    for (int i = 0; i < 7; ++i) iterate(20);
    EXPECT_EQ(store().too_large(), 1u);
    EXPECT_FALSE(iterations().contains(8));
    EXPECT_GE(iterations().size(), 8u);
    EXPECT_GE(store().dropped_events(), 100000u);
}

TEST_F(EventTraceTest, WhatIsNotWrittenIsCountedAsDropped) {
    begin(1 << 14);                                                                  // not every one has its turn
    for (int i = 0; i < 401; ++i) iterate(20, 1000 + static_cast<std::uint64_t>(i)); // each is slower than those before, and takes their place
    std::vector<unsigned char> bytes(1 << 16);
    for (const bool is_over : {false, true}) { // the last one is undecided, then decided
        if (is_over) trace_->finish(now_);
        Encoder encoder(bytes.data(), bytes.size());
        write_events(encoder, 0, *trace_);
        EventsRecord record;
        Decoder decoder(bytes.data(), encoder.size());
        describe(decoder, record);
        std::uint64_t events = 0;
        for (std::uint64_t i = 0; i < record.parts; ++i) {
            EventPartRecord part;
            describe(decoder, part);
            events += part.events;
            EventRecord event;
            for (std::uint64_t e = 0; e < part.events; ++e) describe(decoder, event);
        }
        EXPECT_FALSE(decoder.failed());
        EXPECT_EQ(record.dropped_parts + record.parts, number_);
        EXPECT_EQ(record.dropped_events + events, 20 * number_);
    }
}

TEST_F(EventTraceTest, APartThatIsTooLargeAtItsEndLosesItsOwnEventsOnly) {
    constexpr std::uint64_t memory = 8192;
    const auto fill = [&](PartStore& parts, std::uint64_t most) {
        parts.start(arena_, memory, counters_);
        parts.open(0, 0);
        std::uint64_t events = 0;
        for (; events < most && parts.dropped_events() == 0; ++events) {
            EventRecord event;
            event.gap = INT64_MIN;
            event.length = UINT64_MAX; // a long one: the last that is taken leaves less room than a place in the list needs
            parts.add(event);
        }
        return events;
    };
    PartStore all, one_less;
    const std::uint64_t most = fill(all, UINT64_MAX) - 1;
    EXPECT_EQ(all.dropped_events(), most + 1);
    EXPECT_EQ(fill(one_less, most), most);
    EXPECT_EQ(one_less.dropped_events(), 0u);
    ASSERT_FALSE(one_less.close({PartKind::Iteration, 0, 0}, 100, PartHasItsTurn)) << "its place in the list has room";
    EXPECT_EQ(one_less.dropped_events(), most);
    EXPECT_EQ(one_less.dropped_parts(), 1u);
}

TEST_F(EventTraceTest, ALargeFirstIterationDoesNotCostTheOthers) {
    begin(32768);
    iterate(3500); // less than half of the memory, and more than what a doubled stride would free
    for (int i = 0; i < 2000; ++i) iterate(20);
    EXPECT_LE(store().stride(), 256u);
    EXPECT_GE(iterations(PartHasItsTurn).size(), 2000 / store().stride());
}

TEST_F(EventTraceTest, IterationsThatAreNotThereAreNotAmongTheSlowest) {
    begin(16384);
    for (int i = 0; i < 400; ++i) iterate(i % 50 == 7 ? 100000 : 10); // those are the longest, and too large
    EXPECT_EQ(iterations(PartIsSlow).size(), 4u);
    EXPECT_GE(store().too_large(), 8u);
}

TEST_F(EventTraceTest, TheIterationOfWhichNothingIsDecidedHasNoReason) {
    begin(8192);
    for (int i = 0; i < 1001; ++i) iterate(10);
    trace_->finish(now_);
    for (std::size_t p = 0; p < store().parts(); ++p) EXPECT_NE(trace_->reasons_of(store().part(p)), unsigned{PartIsFirstOfKind}) << store().part(p).key.number;
}

TEST_F(EventTraceTest, AnIterationWithoutANumberGoes) {
    begin(1 << 20);
    iterate(5);
    trace_->begin_iteration(3, 1, now_);
    trace_->add(7, now_, now_ + 5);
    trace_->end_iteration(now_ + 10);
    trace_->decide(3, 1, 10, false, [](const PartKey&) { return false; });
    EXPECT_EQ(iterations(), std::set<std::uint64_t>{0});
}

TEST_F(EventTraceTest, WithoutIterationsTimeIsCutIntoWindowsThatLeaveNoHole) {
    begin(1 << 20);
    std::mt19937_64 random(5);
    std::uint64_t added = 0;
    for (int i = 0; i < 3000; ++i) {
        const std::uint64_t begin = now_ + random() % 2000000;
        now_ = begin + random() % (i % 100 == 0 ? 300000000 : 1000);
        trace_->add(1, begin, now_);
        ++added;
    }
    trace_->finish(now_ + 5);
    std::uint64_t end = 1000, events = 0, last = 0;
    for (std::size_t p = 0; p < store().parts(); ++p) {
        const Part& part = store().part(p);
        EXPECT_EQ(part.key.kind, PartKind::Window);
        EXPECT_GT(part.key.number, last);
        EXPECT_EQ(part.begin, end);
        last = part.key.number;
        end = part.end;
        events += part.events;
    }
    EXPECT_EQ(end, now_ + 5);
    EXPECT_EQ(events, added);
}

TEST_F(EventTraceTest, OtherThreadsFollowTheIterationsOfTheMainThread) {
    begin(1 << 20);
    EventTrace* const other = EventTrace::create(1 << 20, false, now_, counters_, arena_);
    for (int i = 0; i < 50; ++i) {
        trace_->begin_iteration(3, number_, now_);
        for (int k = 0; k < i; ++k) {
            now_ += 100;
            other->add(9, now_ - 50, now_);
        }
        now_ += 100;
        trace_->end_iteration(now_);
        trace_->decide(3, number_, 100, true, [](const PartKey&) { return false; });
        ++number_;
    }
    other->finish(now_);
    std::uint64_t seen = 0;
    for (std::size_t p = 0; p < other->store().parts(); ++p) {
        const Part& part = other->store().part(p);
        if (part.key.kind != PartKind::Iteration) continue;
        EXPECT_EQ(part.events, part.key.number);
        ++seen;
    }
    EXPECT_EQ(seen, 49u); // the first had no event
}

TEST_F(EventTraceTest, MessagesComeWithTheirCallAndAreNumberedByKind) {
    begin(1 << 20);
    const Envelope to_two{2, 0, 7}, to_three{3, 12345, -1};
    trace_->add_message(4, now_, now_ + 10, MessageDirection::Sent, to_two, 100); // a poll: its call was not added
    trace_->add(5, now_ + 20, now_ + 30);
    trace_->add_message(5, now_ + 20, now_ + 30, MessageDirection::Sent, to_two, 200);
    trace_->add_message(5, now_ + 20, now_ + 30, MessageDirection::Received, to_three, 300);
    trace_->add_message(5, now_ + 20, now_ + 30, MessageDirection::Received, {}, 400);
    trace_->finish(now_ + 40);
    ASSERT_EQ(store().parts(), 1u);
    const std::vector<EventRecord> events = events_of(store(), store().part(0));
    ASSERT_EQ(events.size(), 6u);
    EXPECT_EQ(events[0].type, EventType::Interval);
    EXPECT_EQ(events[1].type, EventType::Message);
    EXPECT_EQ(events[1].partner, 2u);
    EXPECT_EQ(events[1].tag, 7);
    EXPECT_EQ(events[3].number, events[1].number + 1);
    EXPECT_EQ(events[4].rest, MessageIsReceived | MessageHasPartner | MessageHasNumber);
    EXPECT_EQ(events[4].communicator, 12345u);
    EXPECT_EQ(events[4].tag, -1);
    EXPECT_EQ(events[5].rest, static_cast<std::uint64_t>(MessageIsReceived));
    EXPECT_EQ(events[5].bytes, 400u);
}

TEST_F(EventTraceTest, OperationsOfACommunicatorAreNumberedApartFromOthers) {
    begin(1 << 20);
    const std::uint64_t known = EventTrace::message_numbers().next_collective(77), others = EventTrace::message_numbers().next_collective(78);
    trace_->add_collective(4, now_, now_ + 10, 77);
    trace_->add(5, now_ + 20, now_ + 30);
    trace_->add_collective(5, now_ + 20, now_ + 30, 78);
    trace_->add_collective(6, now_ + 40, now_ + 50, 77);
    trace_->finish(now_ + 60);
    const std::vector<EventRecord> events = events_of(store(), store().part(0));
    ASSERT_EQ(events.size(), 6u);
    const std::pair<std::uint64_t, std::uint64_t> expected[] = {{77, known + 1}, {78, others + 1}, {77, known + 2}};
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(events[2 * i].type, EventType::Interval);
        EXPECT_EQ(events[2 * i + 1].type, EventType::Message);
        EXPECT_EQ(events[2 * i + 1].rest, static_cast<std::uint64_t>(MessageIsCollective));
        EXPECT_EQ(std::pair(events[2 * i + 1].communicator, events[2 * i + 1].number), expected[i]);
    }
}

TEST_F(EventTraceTest, TasksComeAsTheyEndAndPathsGoOnFromOneEventToTheNext) {
    begin(1 << 20);
    trace_->add(9, now_ + 10, now_ + 20);
    trace_->add_creation(5, now_ + 30, 77, 3, TaskIsFinal | TaskIsOfLoop);
    trace_->add_dependence(0xfedcba9876543210, TaskDependence::MutexInOutSet);
    trace_->add_group(now_ + 25, now_ + 50, 4);
    trace_->add_run(6, now_ + 40, now_ + 60, 77, TaskIsOver);
    trace_->add(9, now_ + 70, now_ + 80);
    trace_->add_message(9, now_ + 70, now_ + 80, MessageDirection::Sent, {}, 1); // of the interval before it
    trace_->finish(now_ + 100);
    const std::vector<EventRecord> events = events_of(store(), store().part(0));
    ASSERT_EQ(events.size(), 7u);
    for (const std::size_t i : {1u, 2u, 3u, 4u}) EXPECT_EQ(events[i].type, EventType::Task) << i;
    EXPECT_EQ(events[1].rest, task_rest(TaskEvent::Creation, TaskIsFinal | TaskIsOfLoop));
    EXPECT_EQ(events[1].path, -4);
    EXPECT_EQ(events[1].gap, 10);
    EXPECT_EQ(events[1].number, 77u);
    EXPECT_EQ(events[1].creator, 3u);
    EXPECT_EQ(events[2].rest, task_rest(TaskEvent::Depends, 4));
    EXPECT_EQ(events[2].address, 0xfedcba9876543210u);
    EXPECT_EQ(events[3].rest, task_rest(TaskEvent::Further, 0));
    EXPECT_EQ(events[3].gap, -5);
    EXPECT_EQ(events[3].length, 25u);
    EXPECT_EQ(events[3].number, 4u);
    EXPECT_EQ(events[4].rest, task_rest(TaskEvent::Run, TaskIsOver));
    EXPECT_EQ(events[4].path, 1);
    EXPECT_EQ(events[4].gap, -10);
    EXPECT_EQ(events[4].length, 20u);
    EXPECT_EQ(events[5].rest, 6u); // 3 as zigzag
    EXPECT_EQ(events[5].gap, 10);
}

TEST_F(EventTraceTest, AThreadThatMovesSaysSoOnce) {
    int others[2] = {-1, -1}, found = 0;
    for (unsigned i = 0; i < CPU_SETSIZE && found < 2; ++i)
        if (CPU_ISSET(i, &allowed_)) others[found++] = static_cast<int>(i);
    if (found < 2) GTEST_SKIP() << "one processor";
    stay_on(others[0]);
    begin(1 << 20);
    trace_->add(9, now_ + 10, now_ + 20);
    stay_on(others[1]);
    trace_->add_run(6, now_ + 40, now_ + 60, 77, TaskIsOver);
    trace_->add(9, now_ + 70, now_ + 80);
    trace_->finish(now_ + 100);
    const std::vector<EventRecord> events = events_of(store(), store().part(0));
    ASSERT_EQ(events.size(), 4u);
    EXPECT_EQ(store().part(0).processor, others[0] + 1);
    EXPECT_EQ(events[1].rest, further_rest(FurtherEvent::Moved));
    EXPECT_EQ(events[1].number, static_cast<std::uint64_t>(others[1]) + 1);
    EXPECT_EQ(events[2].rest, task_rest(TaskEvent::Run, TaskIsOver));
}

TEST_F(EventTraceTest, ATaskgroupThatIsTheFirstOfAPartLeavesNoPath) {
    begin(1 << 20);
    trace_->add(9, now_ + 10, now_ + 20);
    trace_->begin_iteration(3, 0, now_ + 30);
    trace_->end_iteration(now_ + 200);
    trace_->add_group(now_ + 40, now_ + 250, 0);
    trace_->add_creation(2, now_ + 260, 1, 0, 0);
    trace_->finish(now_ + 300);
    const std::vector<EventRecord> events = events_of(store(), store().part(store().parts() - 1));
    ASSERT_EQ(events.size(), 2u);
    EXPECT_EQ(events[1].path, 2);
}

TEST_F(EventTraceTest, TheLongestEventOfATaskHasRoom) {
    begin(1 << 20);
    const std::uint64_t most = ~std::uint64_t{0};
    trace_->add_creation(no_node, most / 2, most, most, 255);
    trace_->add_run(1, 1, most, most, 3);
    trace_->add_dependence(most, TaskDependence::InOutSet);
    for (std::size_t p = 0; p < store().parts(); ++p) events_of(store(), store().part(p));
    SUCCEED();
}

TEST(TaskStateTest, NumbersOfAllThreadsDiffer) {
    std::vector<std::uint64_t> given[4];
    std::vector<std::thread> threads;
    for (std::vector<std::uint64_t>& own : given)
        threads.emplace_back([&own] {
            TaskState state;
            for (int i = 0; i < 5000; ++i) own.push_back(state.next_number());
        });
    for (std::thread& thread : threads) thread.join();
    std::set<std::uint64_t> all;
    for (const std::vector<std::uint64_t>& own : given) all.insert(own.begin(), own.end());
    EXPECT_EQ(all.size(), 4 * 5000u);
    EXPECT_FALSE(all.contains(0));
}

TEST(TaskStateTest, GroupsEndWithTheTaskThatBeganThem) {
    TaskState state;
    state.begin_group(0, 0, 10);
    state.begin_group(7, 0, 20);
    state.begin_group(8, 0, 30); // goes on with another thread
    EXPECT_EQ(state.end_group(7), 20u);
    EXPECT_EQ(state.end_group(8), TaskState::no_group);
    EXPECT_EQ(state.end_group(0), 10u);
    EXPECT_EQ(state.end_group(0), TaskState::no_group);
}

TEST(TaskStateTest, GroupsOfFramesThatAreGoneAreGone) {
    TaskState state;
    state.begin_group(0, 0x8000, 10);
    state.begin_group(0, 0x8000, 20);
    state.begin_group(0, 0x4000, 30); // left by a jump
    state.begin_group(0, 0x6000, 40);
    EXPECT_EQ(state.end_group(0), 40u);
    EXPECT_EQ(state.end_group(0), 20u);
    EXPECT_EQ(state.end_group(0), 10u);
}

TEST(TaskStateTest, OfTooManyGroupsTheOutermostAreNotKnown) {
    TaskState state;
    for (std::uint64_t i = 1; i <= 40; ++i) state.begin_group(0, 0, i);
    for (std::uint64_t i = 40; i > 8; --i) EXPECT_EQ(state.end_group(0), i);
    EXPECT_EQ(state.end_group(0), TaskState::no_group);
}

TEST(MessageNumbersTest, EachIsGivenOnceWhenThreadsCount) {
    MessageNumbers numbers;
    std::vector<std::uint64_t> given[4];
    std::vector<std::thread> threads;
    for (std::vector<std::uint64_t>& own : given)
        threads.emplace_back([&numbers, &own] {
            for (int i = 0; i < 20000; ++i) own.push_back(numbers.next(MessageDirection::Sent, static_cast<std::uint32_t>(i % 50), 0, 1));
        });
    for (std::thread& thread : threads) thread.join();
    std::vector<std::uint64_t> all;
    for (const std::vector<std::uint64_t>& own : given) all.insert(all.end(), own.begin(), own.end());
    std::sort(all.begin(), all.end());
    for (std::size_t i = 0; i < all.size(); ++i) ASSERT_EQ(all[i], i / 50 + 1);
}

TEST(MessageNumbersTest, NoneIsGivenAfterAMessageWasMissed) {
    MessageNumbers numbers;
    EXPECT_EQ(numbers.next(MessageDirection::Sent, 1, 0, 0), 1u);
    numbers.stop();
    EXPECT_EQ(numbers.next(MessageDirection::Sent, 1, 0, 0), 0u);
    EXPECT_EQ(numbers.next(MessageDirection::Received, 2, 0, 5), 0u);
}

TEST(MessageNumbersTest, TooManyKindsAreNotNumberedAndTheOthersStayRight) {
    MessageNumbers numbers;
    std::uint64_t without = 0;
    for (std::int32_t round = 1; round <= 2; ++round)
        for (std::int32_t tag = 0; tag < 40000; ++tag) {
            const std::uint64_t number = numbers.next(MessageDirection::Received, 1, 2, tag);
            EXPECT_TRUE(number == 0 || number == static_cast<std::uint64_t>(round));
            without += number == 0 ? 1 : 0;
        }
    EXPECT_GT(without, 2 * 20000u);
    EXPECT_LT(without, 2 * 30000u);
}

} // namespace libprofile
