#include "libprofile/thread/partners.hpp"

namespace libprofile {

/// Where messages of `partner` are counted. It is not the last one.
[[gnu::noinline]] std::uint32_t Partners::find(Row& row, std::uint32_t partner) noexcept {
    if (partner == unknown) return unknown_at;
    for (std::uint32_t slot = 0; slot < row.size; ++slot)
        if (row.ranks[slot] == partner) return row.last = slot;
    if (row.size == most_partners) return others_at;
    row.ranks[row.size] = partner;
    return row.last = row.size++;
}

[[gnu::cold]] Partners::Row* Partners::new_row(std::size_t at, Arena& arena) noexcept {
    if (at >= index_size_) {
        std::size_t wanted = index_size_ == 0 ? 128 : index_size_;
        while (wanted <= at) wanted *= 2;
        Row** grown = arena.array<Row*>(wanted);
        if (grown == nullptr) return nullptr;
        for (std::size_t i = 0; i < index_size_; ++i) grown[i] = index_[i];
        index_ = grown;
        index_size_ = wanted;
    }
    Row* row = arena.make<Row>();
    if (row == nullptr) return nullptr;
    row->ranks[0] = unknown - 1; // no rank: the first partner is found, not taken for the last one
    index_[at] = row;
    ++rows_;
    return row;
}

} // namespace libprofile
