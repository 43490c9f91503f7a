#include "libprofile/clustering/iteration_profile.hpp"

#include <algorithm>
#include <bit>

namespace libprofile {

namespace {

/// A row on its way into a profile: rows are sorted, not cells.
struct RowToTake {
    NodeId node;
    std::uint32_t row;
    std::uint64_t present;
};

/// std::popcount would be a call, since the processor may lack the instruction. This runs for every row.
std::uint32_t bits_in(std::uint64_t mask) {
    mask -= mask >> 1 & 0x5555555555555555u;
    mask = (mask & 0x3333333333333333u) + (mask >> 2 & 0x3333333333333333u);
    return static_cast<std::uint32_t>(((mask + (mask >> 4)) & 0x0f0f0f0f0f0f0f0fu) * 0x0101010101010101u >> 56);
}

} // namespace

bool IterationProfile::take(Accumulator& rows, Pool& pool) noexcept {
    const std::size_t scratch_bytes = rows.size() * sizeof(RowToTake);
    auto* scratch = static_cast<RowToTake*>(pool.allocate(scratch_bytes));
    if (scratch == nullptr) return false;
    std::size_t used = 0;
    std::uint32_t count = 0;
    std::size_t in_order = 0; // the number of rows in order, from the first on
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const Row& row = rows[i];
        const std::uint64_t present = row.present();
        if (present == 0) continue;
        count += bits_in(present);
        if (in_order == used && (used == 0 || scratch[used - 1].node < row.node)) ++in_order;
        scratch[used++] = {row.node, static_cast<std::uint32_t>(i), present};
    }
    auto* fresh = static_cast<Cell*>(pool.allocate(count * sizeof(Cell)));
    if (fresh != nullptr) {
        // Loops make their calls in the order of the first pass. Rows out of order are mostly at the end: samples and libprofile itself. So
        // only these are sorted, and the two parts are merged.
        std::sort(scratch + in_order, scratch + used, [](const RowToTake& a, const RowToTake& b) { return a.node < b.node; });
        std::uint32_t n = 0;
        std::size_t first = 0;
        std::size_t second = in_order;
        while (first < in_order || second < used) {
            const bool is_first = second == used || (first < in_order && scratch[first].node < scratch[second].node);
            const RowToTake& taken = scratch[is_first ? first++ : second++];
            const Row& row = rows[taken.row];
            for (std::uint64_t left = taken.present; left != 0; left &= left - 1) {
                const auto m = static_cast<std::size_t>(std::countr_zero(left));
                const std::uint64_t value = row.values[m];
                fresh[n] = {Cell::make_key(taken.node, m), value};
                n += value != 0 ? 1 : 0;
            }
        }
        cells = fresh;
        size = n; // if less than `count`, the pool gets back less than it gave: a few values were 0
    }
    pool.release(scratch, scratch_bytes);
    return fresh != nullptr;
}

bool IterationProfile::add(const IterationProfile& other, Pool& pool) noexcept {
    // Clusters are large and mostly not in the cache, and the processor's own prefetching stops at a page's end.
    constexpr std::size_t ahead = 1024 / sizeof(Cell);
    // One pass if we have every cell of the other, which is the usual case.
    const Cell* const theirs_end = other.cells + other.size;
    Cell* const end = cells + size;
    const Cell* theirs = other.cells;
    std::uint32_t missing = 0;           // cells of the other profile that we lack
    constexpr std::ptrdiff_t stride = 4; // of cells that the other has not: call paths of samples
    for (Cell* own = cells; theirs != theirs_end; ++theirs) {
        __builtin_prefetch(theirs + ahead);
        __builtin_prefetch(own + ahead, 1);
        const std::uint32_t key = theirs->key;
        while (end - own > stride && own[stride].key <= key) own += stride;
        while (own != end && own->key < key) ++own;
        if (own != end && own->key == theirs->key)
            (own++)->value += theirs->value;
        else
            ++missing;
    }
    if (missing == 0) return true;
    const std::uint32_t count = size + missing;
    Cell* merged = cells;
    if (cells == nullptr || Pool::room(bytes()) < count * sizeof(Cell)) {
        merged = static_cast<Cell*>(pool.allocate(count * sizeof(Cell)));
        if (merged == nullptr) { // restores the sums
            theirs = other.cells;
            for (Cell* own = cells; own != end && theirs != theirs_end;) {
                const std::uint32_t key = own->key;
                if (key == theirs->key) own->value -= theirs->value;
                own += key <= theirs->key ? 1 : 0;
                theirs += theirs->key <= key ? 1 : 0;
            }
            return false;
        }
    }
    // In place, from the last cell on: no cell moves to an earlier index.
    const Cell* own = end;
    theirs = theirs_end;
    Cell* out = merged + count;
    while (missing != 0) {
        const std::uint32_t theirs_key = theirs[-1].key;
        while (own != cells && own[-1].key > theirs_key) *--out = *--own;
        --theirs;
        if (own != cells && own[-1].key == theirs_key) continue; // already added
        *--out = *theirs;
        --missing;
    }
    if (merged != cells) {
        std::copy(static_cast<const Cell*>(cells), own, merged);
        pool.release(cells, bytes());
        cells = merged;
    }
    size = count;
    return true;
}

void IterationProfile::release(Pool& pool) noexcept {
    pool.release(cells, bytes());
    cells = nullptr;
    size = 0;
}

} // namespace libprofile
