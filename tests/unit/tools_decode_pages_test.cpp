// Nodes of pages in a profile: what is written is read, and what cannot be is refused.
#include "format/pages.hpp"
#include "tools/reader/decode_pages.hpp"

#include <gtest/gtest.h>
#include <vector>

namespace libprofile::tools {

namespace {

std::vector<unsigned char> pages_block(PagesRecord head, const std::vector<PageRangeRecord>& ranges) {
    std::vector<unsigned char> bytes(4096);
    Encoder encoder(bytes.data(), bytes.size());
    describe(encoder, head);
    for (PageRangeRecord range : ranges) describe(encoder, range);
    bytes.resize(encoder.size());
    return bytes;
}
std::optional<PageNodes> pages_in(const std::vector<unsigned char>& bytes) {
    std::optional<PageNodes> pages;
    if (!decode_pages(Decoder(bytes.data(), bytes.size()), pages)) return std::nullopt;
    return pages;
}

} // namespace

TEST(PagesBlock, RangesHaveTheNodesOfTheirAddresses) {
    const auto pages = pages_in(pages_block({4096, 0, 5, 6, 7, 8, 3}, {{16, 2, 0}, {0, 1, 1}, {100, 1, 3}}));
    ASSERT_TRUE(pages);
    EXPECT_EQ(pages->unknown, 5u);
    EXPECT_EQ(pages->left_out, 6u);
    EXPECT_EQ(pages->asked, 7u);
    EXPECT_EQ(pages->asked_ns, 8u);
    EXPECT_EQ(pages->node_of(16 * 4096 - 1), std::nullopt);
    EXPECT_EQ(pages->node_of(16 * 4096), 0u);
    EXPECT_EQ(pages->node_of(18 * 4096 - 1), 0u);
    EXPECT_EQ(pages->node_of(18 * 4096), 1u);
    EXPECT_EQ(pages->node_of(19 * 4096), std::nullopt);
    EXPECT_EQ(pages->node_of(119 * 4096 + 17), 3u);
    EXPECT_EQ(pages->node_of(UINT64_MAX), std::nullopt);
    EXPECT_EQ(PageNodes().node_of(0), std::nullopt);
}

TEST(PagesBlock, WhatCannotBeIsRefused) {
    const PagesRecord head{4096, 0, 0, 0, 0, 0, 1};
    EXPECT_TRUE(pages_in(pages_block(head, {{1, 1, 1}})));
    EXPECT_FALSE(pages_in(pages_block({0, 0, 0, 0, 0, 0, 1}, {{1, 1, 1}}))) << "pages without a size";
    EXPECT_FALSE(pages_in(pages_block(head, {{1, 0, 1}}))) << "an empty range";
    EXPECT_FALSE(pages_in(pages_block(head, {{1, 1, 1u << 16}}))) << "no node has that number";
    EXPECT_FALSE(pages_in(pages_block(head, {{UINT64_MAX / 4096, 1, 1}}))) << "behind the last address";
    EXPECT_FALSE(pages_in(pages_block(head, {{1, UINT64_MAX, 1}})));
    EXPECT_FALSE(pages_in(pages_block({4096, UINT64_MAX, 0, 0, 0, 0, 1}, {{1, 1, 1}}))) << "no error has that number";
    EXPECT_FALSE(pages_in(pages_block(head, {{1, 1, 1}, {1, 1, 1}}))) << "something follows";
    EXPECT_FALSE(pages_in(pages_block({4096, 0, 0, 0, 0, 0, UINT64_MAX}, {{1, 1, 1}})));
    const std::vector<unsigned char> whole = pages_block({4096, 0, 5, 6, 7, 8, 2}, {{16, 2, 0}, {70, 1, 1}});
    for (std::size_t left = 0; left < whole.size(); ++left)
        EXPECT_FALSE(pages_in(std::vector<unsigned char>(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(left)))) << left;
    std::optional<PageNodes> present = PageNodes();
    EXPECT_FALSE(decode_pages(Decoder(whole.data(), whole.size()), present)) << "a rank has one block";
}

} // namespace libprofile::tools
