#include "libprofile/clustering/iteration_profile.hpp"

#include <algorithm>

namespace libprofile {

bool IterationProfile::take(Accumulator& rows, Pool& pool) noexcept {
    std::uint32_t count = 0;
    for (std::size_t i = 0; i < rows.size(); ++i)
        for (const std::uint64_t value : rows[i].values) count += value != 0 ? 1 : 0;
    auto* fresh = static_cast<Cell*>(pool.allocate(count * sizeof(Cell)));
    if (fresh == nullptr) return false;
    std::uint32_t n = 0;
    for (std::size_t i = 0; i < rows.size(); ++i)
        for (std::size_t m = 0; m < metric_count; ++m)
            if (rows[i].values[m] != 0) fresh[n++] = {Cell::make_key(rows[i].node, m), rows[i].values[m]};
    std::sort(fresh, fresh + n, [](const Cell& a, const Cell& b) { return a.key < b.key; });
    cells = fresh;
    size = n;
    return true;
}

bool IterationProfile::add(const IterationProfile& other, Pool& pool) noexcept {
    std::uint32_t i = 0;
    std::uint32_t j = 0;
    std::uint32_t count = 0;
    while (i < size || j < other.size) {
        const std::uint32_t a = i < size ? cells[i].key : UINT32_MAX;
        const std::uint32_t b = j < other.size ? other.cells[j].key : UINT32_MAX;
        i += a <= b ? 1 : 0;
        j += b <= a ? 1 : 0;
        ++count;
    }
    if (count == size) { // the usual case: the other has no cell that we lack
        for (i = 0, j = 0; j < other.size; ++j) {
            while (cells[i].key != other.cells[j].key) ++i;
            cells[i].value += other.cells[j].value;
        }
        return true;
    }
    auto* merged = static_cast<Cell*>(pool.allocate(count * sizeof(Cell)));
    if (merged == nullptr) return false;
    i = j = 0;
    for (std::uint32_t n = 0; n < count; ++n) {
        const std::uint32_t a = i < size ? cells[i].key : UINT32_MAX;
        const std::uint32_t b = j < other.size ? other.cells[j].key : UINT32_MAX;
        merged[n] = {a < b ? a : b, (a <= b ? cells[i].value : 0) + (b <= a ? other.cells[j].value : 0)};
        i += a <= b ? 1 : 0;
        j += b <= a ? 1 : 0;
    }
    pool.release(cells, bytes());
    cells = merged;
    size = count;
    return true;
}

void IterationProfile::release(Pool& pool) noexcept {
    pool.release(cells, bytes());
    cells = nullptr;
    size = 0;
}

} // namespace libprofile
