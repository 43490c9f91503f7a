// The Pages block of a rank (format/pages.hpp); none without dependences of tasks in a trace of events.
// Contract: as for serializer.hpp. Pages that are not known yet are asked about before.
#pragma once

#include "format/pages.hpp"
#include "libprofile/base/memory.hpp"
#include "libprofile/base/process_state.hpp"
#include "libprofile/output/block_writer.hpp"
#include "libprofile/topology/page_nodes.hpp"

namespace libprofile {

/// Calls visit(page, pages, node) for pages next to each other on the same node. `list`: PageNodes::known().
template <class Visit> void for_each_page_range(const std::uint64_t* list, std::size_t count, Visit visit) noexcept {
    constexpr std::uint64_t size = PageNodes::page_size;
    for (std::size_t i = 0, end = 0; i < count; i = end) {
        for (end = i + 1; end < count && list[end] == list[end - 1] + size; ++end) {
        }
        visit(list[i] / size, std::uint64_t{end - i}, list[i] % size - 1);
    }
}

inline bool write_pages(BlockBuffer& buffer, std::uint32_t rank) noexcept {
    if (page_nodes.wanted() == 0) return true;
    page_nodes.ask_all(session_clock.now());
    constexpr std::size_t bytes = PageNodes::most_pages * sizeof(std::uint64_t);
    auto* const list = static_cast<std::uint64_t*>(memory_quota.map(bytes));
    const std::size_t count = list == nullptr ? 0 : page_nodes.known(list);
    PagesRecord record{PageNodes::page_size,
                       static_cast<std::uint64_t>(page_nodes.error()),
                       page_nodes.wanted() > count ? page_nodes.wanted() - count : 0,
                       page_nodes.left_out(),
                       page_nodes.asked(),
                       page_nodes.asked_ns()};
    for_each_page_range(list, count, [&](std::uint64_t, std::uint64_t, std::uint64_t) { ++record.ranges; });
    const bool ok = write_block(buffer, {BlockType::Pages, rank}, [&](Encoder& encoder) {
        describe(encoder, record);
        std::uint64_t end = 0;
        for_each_page_range(list, count, [&](std::uint64_t page, std::uint64_t pages, std::uint64_t node) {
            PageRangeRecord range{page - end, pages, node};
            describe(encoder, range);
            end = page + pages;
        });
    });
    if (list != nullptr) memory_quota.unmap(list, bytes);
    return ok;
}

} // namespace libprofile
