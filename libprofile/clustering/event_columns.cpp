#include "libprofile/clustering/event_columns.hpp"

#include "format/metrics.hpp"

#include <bit>
#include <cstring>

namespace libprofile {

namespace {
constexpr std::uint32_t metric_mask = 63;
} // namespace

/// Room for one column more, and a table that is at most half full.
bool EventColumns::reserve(Pool& pool) noexcept {
    const std::uint32_t most = columns_.counts > columns_.times ? columns_.counts : columns_.times;
    if (most == capacity_) {
        const std::uint32_t wanted = capacity_ == 0 ? 64 : capacity_ * 2;
        auto* memory = static_cast<std::uint32_t*>(pool.allocate(wanted * bytes_per_column));
        if (memory == nullptr) return false;
        std::uint32_t* arrays[] = {columns_.count_keys, columns_.time_nodes, columns_.visits_of};
        for (unsigned i = 0; i < 3; ++i) {
            if (capacity_ != 0) std::memcpy(memory + i * wanted, arrays[i], capacity_ * sizeof(std::uint32_t));
        }
        if (capacity_ != 0) pool.release(columns_.count_keys, capacity_ * bytes_per_column);
        columns_.count_keys = memory;
        columns_.time_nodes = memory + wanted;
        columns_.visits_of = memory + 2 * wanted;
        capacity_ = wanted;
    }
    if (2 * (columns_.counts + columns_.times + 1) > room_) {
        const std::uint32_t wanted = room_ == 0 ? 256 : room_ * 2;
        auto* fresh = static_cast<Slot*>(pool.allocate(wanted * sizeof(Slot)));
        if (fresh == nullptr) return false;
        std::memset(fresh, 0, wanted * sizeof(Slot));
        Slot* old = slots_;
        const std::uint32_t old_room = room_;
        slots_ = fresh;
        room_ = wanted;
        shift_ = 32 - static_cast<unsigned>(std::bit_width(wanted - 1));
        for (std::uint32_t i = 0; i < old_room; ++i)
            if (old[i].key != 0) *slot_of(old[i].key - 1) = old[i];
        if (old_room != 0) pool.release(old, old_room * sizeof(Slot));
    }
    return true;
}

std::uint32_t EventColumns::find_or_add(std::uint32_t key, Pool& pool) noexcept {
    if (room_ != 0)
        if (const Slot* slot = slot_of(key); slot->key != 0) return slot->column;
    if (!reserve(pool)) return SeriesColumns::none;
    std::uint32_t column = 0;
    if ((key & metric_mask) == static_cast<std::uint32_t>(Metric::Time)) {
        const Slot* visits = slot_of(key | static_cast<std::uint32_t>(Metric::Visits));
        column = columns_.times++;
        columns_.time_nodes[column] = key / (metric_mask + 1);
        columns_.visits_of[column] = visits->key != 0 ? visits->column : SeriesColumns::none;
    } else {
        column = columns_.counts++;
        columns_.count_keys[column] = key;
    }
    *slot_of(key) = {key + 1, column};
    return column;
}

} // namespace libprofile
