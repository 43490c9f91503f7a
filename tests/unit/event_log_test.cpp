#include "libprofile/loops/event_log.hpp"

#include "libprofile/base/memory.hpp"

#include <gtest/gtest.h>
#include <vector>

namespace libprofile {

TEST(EventLog, GrowthIsReadAsItWasAdded) {
    EventLog log;
    log.start(1 << 20, 0);
    const std::uint64_t values[] = {1, 127, 128, 1u << 14, std::uint64_t{1} << 35, ~std::uint64_t{0}};
    for (std::uint32_t count = 0; count != 60; ++count) { // from 32 on the first number takes two bytes
        EventLog::Growth growth(log, count * 100);
        ASSERT_TRUE(growth.has_room());
        for (std::uint32_t m = 0; m != count; ++m) {
            growth.add(m, values[m % std::size(values)]);
            growth.add(m, 0); // none
        }
        growth.end();
        log.add_sample(count, 7);
    }
    EventLog::Reader reader(log, log.begin());
    LogRecord kind;
    for (std::uint32_t count = 0; count != 60; ++count) {
        ASSERT_TRUE(reader.next(kind));
        ASSERT_EQ(kind, LogRecord::Values);
        EXPECT_EQ(reader.node, count * 100);
        ASSERT_EQ(reader.count, count);
        for (std::uint32_t m = 0; m != count && count % 2 == 0; ++m) { // the others are left unread
            std::uint32_t metric = 0;
            std::uint64_t by = 0;
            reader.value(metric, by);
            EXPECT_EQ(metric, m);
            EXPECT_EQ(by, values[m % std::size(values)]);
        }
        ASSERT_TRUE(reader.next(kind));
        ASSERT_EQ(kind, LogRecord::Sample);
        EXPECT_EQ(reader.weight, 7u);
    }
    EXPECT_FALSE(reader.next(kind));
    log.release();
}

TEST(EventLog, AFullLogHasNoRoomForGrowth) {
    EventLog log;
    log.start(40000, 0);
    std::uint32_t records = 0;
    for (;; ++records) {
        EventLog::Growth growth(log, 1);
        if (!growth.has_room()) break;
        growth.add(0, 1);
        growth.end();
    }
    EXPECT_TRUE(log.is_full());
    EventLog::Reader reader(log, log.begin());
    LogRecord kind;
    std::uint32_t found = 0;
    while (reader.next(kind)) ++found;
    EXPECT_EQ(found, records);
    log.release();
}

} // namespace libprofile
