#include "libprofile/clustering/iteration_profile.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace libprofile {

namespace {

/// A row on its way into a profile: rows are sorted, not their cells, and most of a row's values are zero.
struct RowToTake {
    NodeId node;
    std::uint32_t present; // bit m: metric m is not zero
    const Row* row;
};
static_assert(metric_count <= 32);

/// Notes which of `size` values are not zero, from bit `first` on, and adds their number to `count`. Unrolled, since rows are
/// what the end of an iteration reads most of: in halves, as most groups of values are zero altogether.
template <std::size_t first, std::size_t size>
inline void look_at(const std::uint64_t* values, std::uint32_t& present, std::uint32_t& count) {
    const auto each = [&]<std::size_t... m>(std::index_sequence<m...>) {
        if ((values[first + m] | ...) == 0) return;
        if constexpr (size > 4) {
            look_at<first, size / 2>(values, present, count);
            look_at<first + size / 2, size - size / 2>(values, present, count);
        } else {
            ((present |= std::uint32_t{values[first + m] != 0} << (first + m)), ...);
            ((count += values[first + m] != 0 ? 1 : 0), ...);
        }
    };
    each(std::make_index_sequence<size>());
}

} // namespace

bool IterationProfile::take(Accumulator& rows, Pool& pool) noexcept {
    const std::size_t scratch_bytes = rows.size() * sizeof(RowToTake);
    auto* scratch = static_cast<RowToTake*>(pool.allocate(scratch_bytes));
    if (scratch == nullptr) return false;
    std::size_t used = 0;
    std::uint32_t count = 0;
    std::size_t in_order = 0; // so many from the first on
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const Row& row = rows[i];
        std::uint32_t present = 0;
        look_at<0, 8>(row.values, present, count);
        look_at<8, metric_count - 8>(row.values, present, count);
        if (present == 0) continue;
        if (in_order == used && (used == 0 || scratch[used - 1].node < row.node)) ++in_order;
        scratch[used++] = {row.node, present, &row};
    }
    auto* fresh = static_cast<Cell*>(pool.allocate(count * sizeof(Cell)));
    if (fresh != nullptr) {
        // Loops make their calls in the order in which they made them first; what comes out of order is mostly at the end:
        // samples, and libprofile itself. So only that is sorted, and the two are merged.
        std::sort(scratch + in_order, scratch + used, [](const RowToTake& a, const RowToTake& b) { return a.node < b.node; });
        std::uint32_t n = 0;
        std::size_t first = 0;
        std::size_t second = in_order;
        while (first < in_order || second < used) {
            const bool is_first = second == used || (first < in_order && scratch[first].node < scratch[second].node);
            const RowToTake& taken = scratch[is_first ? first++ : second++];
            for (std::uint32_t left = taken.present; left != 0; left &= left - 1) {
                const auto m = static_cast<std::size_t>(std::countr_zero(left));
                fresh[n++] = {Cell::make_key(taken.node, m), taken.row->values[m]};
            }
        }
        cells = fresh;
        size = n;
    }
    pool.release(scratch, scratch_bytes);
    return fresh != nullptr;
}

bool IterationProfile::add(const IterationProfile& other, Pool& pool) noexcept {
    std::uint32_t i = 0;
    std::uint32_t j = 0;
    std::uint32_t missing = 0; // cells of the other that we lack
    for (; j < other.size; ++j) {
        const std::uint32_t key = other.cells[j].key;
        while (i < size && cells[i].key < key) ++i;
        missing += i == size || cells[i].key != key ? 1 : 0;
    }
    if (missing == 0) { // the usual case
        for (i = 0, j = 0; j < other.size; ++j) {
            while (cells[i].key != other.cells[j].key) ++i;
            cells[i].value += other.cells[j].value;
        }
        return true;
    }
    const std::uint32_t count = size + missing;
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
