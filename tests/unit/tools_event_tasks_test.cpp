// Tasks of OpenMP in a block of events: what is written is read, and what cannot be is refused.
#include "tools/reader/decode_events.hpp"

#include <functional>
#include <gtest/gtest.h>

namespace libprofile::tools {

namespace {

EventRecord of_task(TaskEvent what, std::uint64_t says, std::int64_t path, std::int64_t gap, std::uint64_t length, std::uint64_t number) {
    EventRecord event;
    event.type = EventType::Task;
    event.rest = task_rest(what, says);
    event.path = path;
    event.gap = gap;
    event.length = length;
    event.number = number;
    return event;
}
EventRecord creation(std::int64_t path, std::int64_t gap, std::uint64_t number, std::uint64_t creator, std::uint64_t flags = 0) {
    EventRecord event = of_task(TaskEvent::Creation, flags, path, gap, 0, number);
    event.creator = creator;
    return event;
}
EventRecord dependence(std::uint64_t kind, std::uint64_t address) {
    EventRecord event;
    event.type = EventType::Task;
    event.rest = task_rest(TaskEvent::Depends, kind);
    event.address = address;
    return event;
}
EventRecord interval(std::int64_t path, std::int64_t gap, std::uint64_t length) {
    EventRecord event;
    event.rest = static_cast<std::uint64_t>(path) << 1 ^ static_cast<std::uint64_t>(path >> 63);
    event.gap = gap;
    event.length = length;
    return event;
}

/// The thread is on another processor.
EventRecord moved(std::uint64_t processor) { return of_task(TaskEvent::Further, 1, 0, 0, 0, processor + 1); }
/// A counter of the interval or run before it.
EventRecord count(std::uint64_t counter, std::int64_t difference, std::uint64_t growth) {
    return of_task(TaskEvent::Further, 2 + counter, 0, difference, growth, 0);
}

using Parts = std::vector<std::vector<EventRecord>>;

/// A block of one thread, with a part from 1000 to 2000 for each list of events.
std::optional<KeptEvents> decoded(const Parts& parts, const std::function<void(std::vector<unsigned char>&)>& damage = {}) {
    std::vector<unsigned char> bytes(1 << 16);
    Encoder encoder(bytes.data(), bytes.size());
    EventsRecord head;
    head.parts = parts.size();
    describe(encoder, head);
    for (const std::vector<EventRecord>& events : parts) {
        EventPartRecord part;
        part.left_out = 1000;
        part.length = 1000;
        part.events = events.size();
        describe(encoder, part);
        for (EventRecord event : events) describe(encoder, event);
    }
    bytes.resize(encoder.size());
    if (damage) damage(bytes);
    RawRank rank;
    if (!decode_events(Decoder(bytes.data(), bytes.size()), rank)) return std::nullopt;
    return std::move(rank.events.at(0));
}

} // namespace

TEST(EventTasks, EachKindIsReadAsItWasWritten) {
    const auto events =
        decoded({{interval(5, 10, 20), creation(2, 5, 1, 0, TaskIsUntied | TaskIsOfLoop), dependence(1, 0xffffffffffffffff), dependence(5, 8),
                  of_task(TaskEvent::Run, TaskIsOver | TaskIsResumed, -4, 10, 100, 1), of_task(TaskEvent::Further, 0, 0, -100, 120, 7), interval(1, 0, 1)}});
    ASSERT_TRUE(events);
    ASSERT_EQ(events->tasks.size(), 1u);
    const TracedTask& task = events->tasks[0];
    EXPECT_EQ(task.number, 1u);
    EXPECT_EQ(task.creator, 0u);
    EXPECT_EQ(task.created_ns, 1035u);
    EXPECT_EQ(task.path, 7u);
    EXPECT_EQ(task.flags, TaskIsUntied | TaskIsOfLoop);
    ASSERT_EQ(task.dependences, 2u);
    EXPECT_EQ(events->dependences[task.dependences_at].address, 0xffffffffffffffffu);
    EXPECT_EQ(events->dependences[task.dependences_at].kind, TaskDependence::In);
    EXPECT_EQ(events->dependences[task.dependences_at + 1].kind, TaskDependence::InOutSet);
    ASSERT_EQ(events->runs.size(), 1u);
    const TracedTaskRun& run = events->runs[0];
    EXPECT_EQ(run.begin_ns, 1045u);
    EXPECT_EQ(run.end_ns, 1145u);
    EXPECT_EQ(run.task, 1u);
    EXPECT_EQ(run.path, 3u);
    EXPECT_TRUE(run.is_over);
    EXPECT_TRUE(run.is_resumed);
    ASSERT_EQ(events->groups.size(), 1u);
    EXPECT_EQ(events->groups[0].begin_ns, 1045u);
    EXPECT_EQ(events->groups[0].end_ns, 1165u);
    EXPECT_EQ(events->groups[0].task, 7u);
    ASSERT_EQ(events->intervals.size(), 2u);
    EXPECT_EQ(events->intervals[1].path, 4u); // a group has no path
    EXPECT_EQ(events->intervals[1].begin_ns, 1165u);
}

TEST(EventTasks, PartsHaveTheirOwn) {
    const auto events = decoded(
        {{creation(1, 0, 1, 0), dependence(3, 64)},
         {},
         {creation(2, 0, 2, 1), of_task(TaskEvent::Run, 0, 0, 0, 5, 1), of_task(TaskEvent::Further, 0, 0, 0, 1, 0), creation(0, 0, 3, 1), dependence(4, 72)}});
    ASSERT_TRUE(events);
    ASSERT_EQ(events->parts.size(), 3u);
    EXPECT_EQ(events->parts[0].tasks, 1u);
    EXPECT_EQ(events->parts[1].tasks, 0u);
    EXPECT_EQ(events->parts[2].tasks_at, 1u);
    EXPECT_EQ(events->parts[2].tasks, 2u);
    EXPECT_EQ(events->parts[2].runs, 1u);
    EXPECT_EQ(events->parts[2].groups, 1u);
    EXPECT_EQ(events->tasks[1].path, 2u); // paths begin anew
    EXPECT_EQ(events->tasks[1].dependences, 0u);
    EXPECT_EQ(events->tasks[2].dependences_at, 1u);
    EXPECT_EQ(events->tasks[2].dependences, 1u);
    EXPECT_FALSE(events->runs[0].is_over);
}

TEST(EventTasks, CountersBelongToTheEventBeforeThemAndGoOnFromTheLastValue) {
    const auto events =
        decoded({{interval(1, 0, 1), count(0, 100, 5), count(7, 3, 0), of_task(TaskEvent::Run, 1, 0, 0, 5, 9), count(0, 10, 2), count(0, -4, 8)},
                 {count(1, 1, 1), of_task(TaskEvent::Run, 1, 0, 0, 5, 9), count(0, 7, 1), interval(1, 0, 1)}});
    ASSERT_TRUE(events);
    ASSERT_EQ(events->counts.size(), 5u);
    const auto expect = [&](std::size_t i, bool is_of_run, std::uint32_t event, unsigned counter, std::uint64_t begin, std::uint64_t end) {
        const TracedCount& found = events->counts[i];
        EXPECT_EQ(found.is_of_run, is_of_run) << i;
        EXPECT_EQ(found.event, event) << i;
        EXPECT_EQ(found.counter, counter) << i;
        EXPECT_EQ(found.begin, begin) << i;
        EXPECT_EQ(found.end, end) << i;
    };
    expect(0, false, 0, 0, 100, 105);
    expect(1, false, 0, 7, 3, 3);
    expect(2, true, 0, 0, 115, 117);
    expect(3, true, 0, 0, 113, 121);
    expect(4, true, 1, 0, 7, 8); // values begin anew; what is of no event is left out
    EXPECT_EQ(events->parts[0].counts, 4u);
    EXPECT_EQ(events->parts[1].counts_at, 4u);
    EXPECT_EQ(events->parts[1].counts, 1u);
}

TEST(EventTasks, EventsHaveTheProcessorToWhichTheThreadMovedLast) {
    const auto events =
        decoded({{interval(1, 0, 1), moved(3), interval(0, 0, 1), of_task(TaskEvent::Run, 1, 0, 0, 5, 9), moved(0), interval(0, 0, 1)}, {interval(1, 0, 1)}});
    ASSERT_TRUE(events);
    EXPECT_EQ(events->intervals[0].processor, no_processor);
    EXPECT_EQ(events->intervals[1].processor, 3u);
    EXPECT_EQ(events->runs[0].processor, 3u);
    EXPECT_EQ(events->intervals[2].processor, 0u);
    EXPECT_EQ(events->intervals[3].processor, no_processor) << "another part";
}

TEST(EventTasks, WhatCannotBeIsRefused) {
    EXPECT_TRUE(decoded({{creation(max_id, 0, 1, 0)}}));
    EXPECT_FALSE(decoded({{creation(std::int64_t{max_id} + 1, 0, 1, 0)}})) << "a path that is no number of one";
    EXPECT_FALSE(decoded({{creation(-1, 0, 1, 0)}}));
    EXPECT_FALSE(decoded({{of_task(TaskEvent::Run, 0, INT64_MIN, 0, 1, 1)}}));
    EXPECT_FALSE(decoded({{creation(1, 0, 0, 0)}})) << "an implicit task is not made";
    EXPECT_FALSE(decoded({{of_task(TaskEvent::Run, 0, 1, 0, 1, 0)}}));
    EXPECT_FALSE(decoded({{creation(1, 0, 1, 0, 256)}})) << "unknown flags";
    EXPECT_FALSE(decoded({{creation(1, -2000, 1, 0)}})) << "before time began";
    EXPECT_FALSE(decoded({{of_task(TaskEvent::Run, 0, 1, 0, UINT64_MAX, 1)}})) << "an end before the begin";
    EXPECT_TRUE(decoded({{of_task(TaskEvent::Further, 0, 0, 0, 1, 0)}}));
    EXPECT_TRUE(decoded({{moved(65534)}}));
    EXPECT_FALSE(decoded({{of_task(TaskEvent::Further, 1, 0, 0, 0, 65536)}})) << "no processor has that number";
    EXPECT_FALSE(decoded({{of_task(TaskEvent::Further, 1, 0, 0, 0, 0)}})) << "to no processor";
    EXPECT_TRUE(decoded({{interval(1, 0, 1), count(7, 0, 1)}}));
    EXPECT_FALSE(decoded({{interval(1, 0, 1), count(8, 0, 1)}})) << "there are 8 counters at most";
    EXPECT_FALSE(decoded({{interval(1, 0, 1), count(UINT64_MAX >> 5, 0, 1)}}));
    EXPECT_FALSE(decoded({{interval(1, 0, 1), count(0, 1, UINT64_MAX)}})) << "a counter that goes back";
}

/// A handler of the application may have cut the part between the two.
TEST(EventTasks, ADependenceWithoutItsTaskInTheSamePartIsLeftOut) {
    for (const Parts& parts : {Parts{{dependence(1, 64)}}, Parts{{creation(1, 0, 1, 0)}, {dependence(1, 64)}}, Parts{{interval(1, 0, 1), dependence(1, 64)}}}) {
        const auto events = decoded(parts);
        ASSERT_TRUE(events);
        EXPECT_TRUE(events->dependences.empty());
    }
    EXPECT_FALSE(decoded({{creation(1, 0, 1, 0), dependence(0, 64)}})) << "no kind";
    EXPECT_FALSE(decoded({{creation(1, 0, 1, 0), dependence(6, 64)}}));
    EXPECT_TRUE(decoded({{creation(1, 0, 1, 0), dependence(5, 64)}}));
}

TEST(EventTasks, NoCutBlockIsRead) {
    const std::vector<std::vector<EventRecord>> parts = {{creation(1, 0, 1, 0), dependence(3, 64), of_task(TaskEvent::Run, 1, 0, 0, 5, 1), count(2, 300, 200),
                                                          moved(4), of_task(TaskEvent::Further, 0, 0, 0, 1, 0)}};
    std::size_t size = 0;
    ASSERT_TRUE(decoded(parts, [&](std::vector<unsigned char>& bytes) { size = bytes.size(); }));
    for (std::size_t left = 0; left < size; ++left)
        EXPECT_FALSE(decoded(parts, [&](std::vector<unsigned char>& bytes) { bytes.resize(left); })) << left << " of " << size << " bytes";
}

TEST(EventTasks, AnEventIsAsShortAsIsTold) {
    unsigned char bytes[16];
    Encoder encoder(bytes, sizeof bytes);
    EventRecord event = dependence(1, 0);
    describe(encoder, event);
    EXPECT_EQ(encoder.size(), 2u); // decode_events() refuses more events than there is room for
}

} // namespace libprofile::tools
