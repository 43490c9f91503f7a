#include "libprofile/loops/raw_log.hpp"

#include <gtest/gtest.h>
#include <memory>
#include <vector>

namespace libprofile {

namespace {

class RawLogTest : public testing::Test {
  protected:
    std::vector<RawLog::Record> records() {
        log_->link_events();
        std::vector<RawLog::Record> all;
        RawLog::Record record;
        for (std::uint32_t position = 0; log_->read(position, record);) all.push_back(record);
        return all;
    }
    std::unique_ptr<RawLog> log_ = std::make_unique<RawLog>();
};

} // namespace

TEST_F(RawLogTest, WhatWasAddedIsRead) {
    Row row;
    row.node = 5;
    row[Metric::Time] = 100;
    row.chance_visits = 2;
    log_->add_event(5, 3, 0, {10, 1, 4}, row);
    log_->set_time(1000);
    log_->add_sample(9, 77);
    log_->add_other(11, 1, 2, 3);
    const std::uint64_t times[] = {1500, 0, 1700};
    log_->add_returns({20, 1, 8}, 2, times, 3);
    const std::vector<RawLog::Record> all = records();
    ASSERT_EQ(all.size(), 4u);
    EXPECT_EQ(all[0].kind, RawKind::Event);
    EXPECT_EQ(all[0].node, 5u);
    EXPECT_EQ(all[0].common, 3u);
    EXPECT_EQ(all[0].at, 1000u);
    EXPECT_EQ(all[0].booked.events_ns, 10u);
    EXPECT_EQ(all[0].booked.asleep_ns, 1u);
    EXPECT_EQ(all[0].booked.overhead_ns, 4u);
    EXPECT_EQ(all[0].row, &row);
    EXPECT_EQ(all[0].before.first[static_cast<std::size_t>(Metric::Time)], 100u);
    EXPECT_EQ(all[0].before.chance_visits, 2u);
    EXPECT_EQ(all[1].kind, RawKind::Sample);
    EXPECT_EQ(all[1].node, 9u);
    EXPECT_EQ(all[1].weight, 77u);
    EXPECT_EQ(all[2].kind, RawKind::Other);
    EXPECT_EQ(all[2].ns, 3u);
    EXPECT_EQ(all[3].kind, RawKind::Returns);
    EXPECT_EQ(all[3].first, 2u);
    EXPECT_EQ(all[3].booked.overhead_ns, 8u);
    EXPECT_EQ(std::vector<std::uint64_t>(all[3].times, all[3].times + all[3].count), (std::vector<std::uint64_t>{1500, 0, 1700}));
}

TEST_F(RawLogTest, AnEventKnowsTheNextOneOfItsRow) {
    std::vector<Row> rows(300);
    for (std::uint32_t i = 0; i < rows.size(); ++i) rows[i].node = i + 1;
    std::vector<std::uint32_t> order;
    for (std::uint32_t i = 0; log_->has_room(); ++i) {
        order.push_back(i * i % 7 == 3 ? 0 : i % 113);
        Row& row = rows[order.back()];
        log_->add_event(row.node, 1, 0, {}, row);
        ++row[Metric::Visits];
        row[static_cast<Metric>(Row::in_first_line + i % 9)] += i; // more and more metrics
    }
    const std::vector<RawLog::Record> all = records();
    ASSERT_EQ(all.size(), order.size());
    std::vector<std::uint64_t> room(metric_count);
    for (std::size_t i = 0; i < all.size(); ++i) {
        const bool comes_again = std::find(order.begin() + static_cast<std::ptrdiff_t>(i) + 1, order.end(), order[i]) != order.end();
        ASSERT_EQ(all[i].after != 0, comes_again) << i;
        const RowValues after = comes_again ? log_->values_at(all[i].after) : values_of(rows[order[i]], room.data());
        const auto visits = static_cast<std::size_t>(Metric::Visits);
        ASSERT_EQ(after.first[visits], all[i].before.first[visits] + 1) << i;
        std::uint64_t sum = 0, sum_before = 0;
        for (int k = 0; k < std::popcount(after.beyond); ++k) sum += after.others[k];
        for (int k = 0; k < std::popcount(all[i].before.beyond); ++k) sum_before += all[i].before.others[k];
        ASSERT_EQ(sum, sum_before + i) << i;
    }
}

} // namespace libprofile
