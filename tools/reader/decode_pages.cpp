#include "tools/reader/decode_pages.hpp"

#include "format/pages.hpp"

#include <utility>

namespace libprofile::tools {

bool decode_pages(Decoder d, std::optional<PageNodes>& out) {
    constexpr std::uint64_t most_nodes = 1u << 16, least_bytes_of_range = 3;
    PagesRecord r;
    describe(d, r);
    if (d.failed() || out || r.page_size == 0 || r.error > INT32_MAX || r.ranges > d.remaining() / least_bytes_of_range) return false;
    PageNodes pages;
    pages.page_size = r.page_size;
    pages.error = static_cast<std::uint32_t>(r.error);
    pages.unknown = r.unknown;
    pages.left_out = r.left_out;
    pages.asked = r.asked;
    pages.asked_ns = r.asked_ns;
    const std::uint64_t most_pages = UINT64_MAX / r.page_size;
    std::uint64_t end = 0; // in pages
    for (std::uint64_t i = 0; i < r.ranges; ++i) {
        PageRangeRecord range;
        describe(d, range);
        if (d.failed() || range.pages == 0 || range.node >= most_nodes || range.gap > most_pages - end || range.pages > most_pages - end - range.gap)
            return false;
        const std::uint64_t begin = end + range.gap;
        end = begin + range.pages;
        pages.ranges.push_back({begin * r.page_size, end * r.page_size, static_cast<std::uint32_t>(range.node)});
    }
    if (d.remaining() != 0) return false;
    out = std::move(pages);
    return true;
}

} // namespace libprofile::tools
