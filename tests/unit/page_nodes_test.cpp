// Nodes of pages, asked of this machine's kernel: known once a page was touched, at a bounded cost.
#include "libprofile/base/process_state.hpp"
#include "libprofile/output/pages_writer.hpp"
#include "libprofile/topology/page_nodes.hpp"

#include <gtest/gtest.h>
#include <memory>
#include <sys/mman.h>
#include <vector>

namespace libprofile {

namespace {

constexpr std::size_t page_bytes = PageNodes::page_size;

struct KnownPages {
    std::uint64_t page, pages, node;
};

class PageNodesTest : public testing::Test {
  protected:
    void SetUp() override {
        void* pages = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        ASSERT_NE(pages, MAP_FAILED);
        madvise(pages, mapped, MADV_NOHUGEPAGE);
        memory_ = static_cast<volatile char*>(pages);
    }
    void TearDown() override { munmap(const_cast<char*>(memory_), mapped); }

    std::uint64_t address(std::size_t page) const { return reinterpret_cast<std::uint64_t>(memory_) + page * page_bytes; }
    void touch(std::size_t page) { memory_[page * page_bytes] = 1; }
    std::vector<KnownPages> known() const {
        std::vector<std::uint64_t> list(PageNodes::most_pages);
        std::vector<KnownPages> ranges;
        const std::size_t count = nodes_->known(list.data());
        for_each_page_range(list.data(), count, [&](std::uint64_t page, std::uint64_t pages, std::uint64_t node) { ranges.push_back({page, pages, node}); });
        return ranges;
    }

    static constexpr std::size_t mapped = 4096 * page_bytes;
    volatile char* memory_ = nullptr;
    std::unique_ptr<PageNodes> nodes_ = std::make_unique<PageNodes>();
};

} // namespace

TEST_F(PageNodesTest, APageIsKnownOnceItWasTouched) {
    EXPECT_FALSE(nodes_->is_due(~std::uint64_t{0} - 1));
    for (const std::size_t page : {5u, 6u, 7u, 20u}) nodes_->want(address(page) + 100 * page);
    EXPECT_EQ(nodes_->wanted(), 4u);
    EXPECT_TRUE(nodes_->is_due(0));
    touch(5), touch(6), touch(20);
    nodes_->ask(session_clock.now());
    if (nodes_->error() != 0) GTEST_SKIP() << "the kernel does not tell on which nodes pages lie";
    ASSERT_EQ(known().size(), 2u);
    EXPECT_EQ(known()[0].page, address(5) / page_bytes);
    EXPECT_EQ(known()[0].pages, 2u);
    EXPECT_EQ(known()[1].page, address(20) / page_bytes);
    touch(7);
    nodes_->ask(session_clock.now());
    ASSERT_EQ(known().size(), 2u);
    EXPECT_EQ(known()[0].pages, 3u);
    EXPECT_FALSE(nodes_->is_due(~std::uint64_t{0} - 1)) << "all are known";
    nodes_->want(address(6)); // known
    EXPECT_FALSE(nodes_->is_due(~std::uint64_t{0} - 1));
    nodes_->want(address(21));
    EXPECT_TRUE(nodes_->is_due(~std::uint64_t{0} - 1));
}

TEST_F(PageNodesTest, AskingTakesLessThanAHundredthOfTheTime) {
    for (std::size_t page = 0; page < 4000; ++page) nodes_->want(address(page));
    constexpr std::uint64_t enough = 60'000'000, most = 5'000'000'000; // ns: somebody else may have the processor while it asks
    const std::uint64_t begin = session_clock.now();
    std::uint64_t now = begin, not_before = 0, last = 0;
    for (; now - begin < enough || (nodes_->asked() <= 2 && nodes_->error() == 0 && now - begin < most); now = session_clock.now()) {
        touch(now / 1000 % 4000);
        if (!nodes_->is_due(now)) continue;
        EXPECT_GE(now, not_before);
        const std::uint64_t before = nodes_->asked_ns();
        nodes_->ask(now);
        last = nodes_->asked_ns() - before;
        not_before = now + 100 * last;
    }
    if (nodes_->error() != 0) GTEST_SKIP() << "the kernel does not tell on which nodes pages lie";
    EXPECT_GT(nodes_->asked(), 2u);
    EXPECT_LE(nodes_->asked_ns() - last, (now - begin) / 100) << "but for the last one, whose pause is not over";
    nodes_->ask_all(session_clock.now());
    std::uint64_t pages = 0;
    for (const KnownPages& range : known()) pages += range.pages;
    EXPECT_GT(pages, 1000u);
}

TEST_F(PageNodesTest, WhatThereIsNoRoomForIsCounted) {
    for (std::size_t i = 0; i < 3 * PageNodes::most_pages; ++i) nodes_->want((std::uint64_t{1} << 40) + i * page_bytes);
    EXPECT_EQ(nodes_->wanted() + nodes_->left_out(), 3 * PageNodes::most_pages);
    EXPECT_LE(nodes_->wanted(), PageNodes::most_pages);
    EXPECT_GT(nodes_->wanted(), PageNodes::most_pages / 2);
    nodes_->ask_all(session_clock.now()); // none of them is mapped
    EXPECT_TRUE(known().empty());
}

} // namespace libprofile
