#include "libprofile/clustering/event_columns.hpp"

#include <algorithm>

namespace libprofile {

bool EventColumns::reserve_one(Pool& pool) noexcept {
    if (used() < capacity_) return true;
    const std::uint32_t wanted = used() + 1 + used() / 4;
    auto* memory = static_cast<std::uint32_t*>(pool.allocate(wanted * bytes_per_column));
    if (memory == nullptr) return false;
    std::uint32_t* const old[] = {columns_.count_keys, columns_.time_nodes, columns_.visits_of, order_};
    const std::uint32_t sizes[] = {columns_.counts, columns_.times, columns_.times, used()};
    for (unsigned i = 0; i < 4; ++i) std::copy(old[i], old[i] + sizes[i], memory + std::size_t{i} * wanted);
    pool.release(columns_.count_keys, capacity_ * bytes_per_column);
    columns_.count_keys = memory;
    columns_.time_nodes = memory + wanted;
    columns_.visits_of = memory + 2 * std::size_t{wanted};
    order_ = memory + 3 * std::size_t{wanted};
    capacity_ = wanted;
    return true;
}

/// Returns the index of the key in the order, or where it would be inserted.
std::uint32_t EventColumns::index_of(std::uint32_t key) const noexcept {
    const auto key_less = [this](std::uint32_t entry, std::uint32_t wanted) { return key_of(entry) < wanted; };
    return static_cast<std::uint32_t>(std::lower_bound(order_, order_ + used(), key, key_less) - order_);
}

/// Finds the columns of the cells, from the first on. Returns how many were found before one without a column.
std::uint32_t EventColumns::pass(const Cell* cells, std::uint32_t count, std::uint32_t* found) const noexcept {
    const SeriesColumns known = columns_;
    const std::uint32_t* entry = order_;
    const std::uint32_t* const end = order_ + used();
    for (std::uint32_t i = 0; i < count; ++i) {
        const std::uint32_t wanted = cells[i].key;
        for (;; ++entry) { // usually the very next one
            if (entry == end) return i;
            const bool is_time = (*entry & time_flag) != 0;
            const std::uint32_t column = *entry & ~time_flag;
            const std::uint32_t key = is_time ? known.time_nodes[column] << Cell::metric_bits : known.count_keys[column];
            if (key < wanted) continue;
            if (key != wanted) return i;
            found[i] = column + (is_time ? known.counts : 0);
            break;
        }
        ++entry;
    }
    return count;
}

/// Times come last, because each refers to the visits of its node.
bool EventColumns::add_missing(const Cell* cells, std::uint32_t count, Pool& pool) noexcept {
    for (const bool times : {false, true}) {
        for (std::uint32_t i = 0; i < count; ++i) {
            const std::uint32_t key = cells[i].key;
            if (is_time(key) != times) continue;
            const std::uint32_t at = index_of(key);
            if (holds(at, key)) continue;
            if (!reserve_one(pool)) return false;
            const std::uint32_t before = used();
            const std::uint32_t entry = add(key);
            std::copy_backward(order_ + at, order_ + before, order_ + before + 1);
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
    const std::uint32_t visits = key | static_cast<std::uint32_t>(Metric::Visits);
    const std::uint32_t at = index_of(visits);
    columns_.time_nodes[columns_.times] = key >> Cell::metric_bits;
    columns_.visits_of[columns_.times] = holds(at, visits) ? order_[at] : SeriesColumns::none;
    return time_flag | columns_.times++;
}

bool EventColumns::are_guessed(const Cell* cells, std::uint32_t count, const std::uint32_t* found) const noexcept {
    const SeriesColumns known = columns_;
    for (std::uint32_t i = 0; i < count; ++i) {
        const std::uint32_t column = found[i];
        if (column < known.counts) {
            if (known.count_keys[column] != cells[i].key) return false;
        } else if (column - known.counts >= known.times || known.time_nodes[column - known.counts] << Cell::metric_bits != cells[i].key) {
            return false;
        }
    }
    return true;
}

bool EventColumns::find_or_add(const Cell* cells, std::uint32_t count, std::uint32_t* found, std::uint32_t guessed, Pool& pool) noexcept {
    if (guessed >= count && are_guessed(cells, count, found)) return true;
    if (pass(cells, count, found) == count) return true;
    return add_missing(cells, count, pool) && pass(cells, count, found) == count;
}

} // namespace libprofile
