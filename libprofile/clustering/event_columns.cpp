#include "libprofile/clustering/event_columns.hpp"

#include <algorithm>

namespace libprofile {

bool EventColumns::reserve(std::uint32_t more, Pool& pool) noexcept {
    const std::uint32_t used = columns_.counts + columns_.times;
    if (used + more <= capacity_) return true;
    const std::uint32_t wanted = used + more + used / 4;
    auto* memory = static_cast<std::uint32_t*>(pool.allocate(wanted * bytes_per_column));
    if (memory == nullptr) return false;
    std::uint32_t* const old[] = {columns_.count_keys, columns_.time_nodes, columns_.visits_of, order_};
    const std::uint32_t sizes[] = {columns_.counts, columns_.times, columns_.times, used};
    for (unsigned i = 0; i < 4; ++i) std::copy(old[i], old[i] + sizes[i], memory + std::size_t{i} * wanted);
    pool.release(columns_.count_keys, capacity_ * bytes_per_column);
    columns_.count_keys = memory;
    columns_.time_nodes = memory + wanted;
    columns_.visits_of = memory + 2 * std::size_t{wanted};
    order_ = memory + 3 * std::size_t{wanted};
    capacity_ = wanted;
    return true;
}

/// Finds the columns of the cells from the first on; returns how many there are before one that has none.
std::uint32_t EventColumns::pass(const Cell* cells, std::uint32_t count, std::uint32_t* found) const noexcept {
    const std::uint32_t used = columns_.counts + columns_.times;
    std::uint32_t at = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
        while (at < used && key_of(order_[at]) < cells[i].key) ++at;
        if (at == used || key_of(order_[at]) != cells[i].key) return i;
        found[i] = order_[at] & ~time_flag;
    }
    return count;
}

/// Visits come before the time that refers to them, so a node's cells are added from the last to the first.
bool EventColumns::add_missing(const Cell* cells, std::uint32_t count, Pool& pool) noexcept {
    const auto key_less = [this](std::uint32_t entry, std::uint32_t key) { return key_of(entry) < key; };
    for (const bool times : {false, true}) {
        for (std::uint32_t i = 0; i < count; ++i) {
            const std::uint32_t key = cells[i].key;
            if (is_time(key) != times) continue;
            std::uint32_t used = columns_.counts + columns_.times;
            std::uint32_t* place = std::lower_bound(order_, order_ + used, key, key_less);
            if (place != order_ + used && key_of(*place) == key) continue;
            const std::ptrdiff_t at = place - order_;
            if (!reserve(1, pool)) return false;
            const std::uint32_t entry = add(key);
            std::copy_backward(order_ + at, order_ + used, order_ + used + 1);
            order_[at] = entry;
        }
    }
    return true;
}

std::uint32_t EventColumns::add(std::uint32_t key) noexcept {
    if (!is_time(key)) {
        columns_.count_keys[columns_.counts] = key;
        return columns_.counts++;
    }
    const std::uint32_t used = columns_.counts + columns_.times;
    const std::uint32_t visits = key | static_cast<std::uint32_t>(Metric::Visits);
    const std::uint32_t* place =
        std::lower_bound(order_, order_ + used, visits, [this](std::uint32_t entry, std::uint32_t k) { return key_of(entry) < k; });
    const bool known = place != order_ + used && key_of(*place) == visits;
    columns_.time_nodes[columns_.times] = key >> Cell::metric_bits;
    columns_.visits_of[columns_.times] = known ? *place : SeriesColumns::none;
    return time_flag | columns_.times++;
}

bool EventColumns::find_or_add(const Cell* cells, std::uint32_t count, std::uint32_t* found, Pool& pool) noexcept {
    if (pass(cells, count, found) == count) return true;
    return add_missing(cells, count, pool) && pass(cells, count, found) == count;
}

} // namespace libprofile
