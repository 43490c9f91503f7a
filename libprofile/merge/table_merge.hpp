// The union of two tables of call paths, and the origin of each of its nodes.
// Contract: one thread; never throws. Memory comes from the budgets of the results; functions return false when that runs out, and the
// results are then unusable.
#pragma once

#include "libprofile/merge/path_table.hpp"

namespace libprofile {

/// For every node of a merged table: which of the two tables had it. Numbers only grow from a table to the merged one, so this is enough.
class NodeOrigins {
  public:
    enum From : unsigned { A = 1, B = 2 };

    explicit NodeOrigins(PageBudget& budget) : words_(budget) {}
    std::size_t size() const { return size_; }
    unsigned operator[](std::size_t node) const { return static_cast<unsigned>(words_[node / per_word] >> (node % per_word * 2)) & 3u; }
    bool append(unsigned from) noexcept {
        if (size_ % per_word == 0) {
            std::uint64_t* word = words_.append();
            if (word == nullptr) return false;
            *word = 0;
        }
        words_[size_ / per_word] |= std::uint64_t{from} << (size_ % per_word * 2);
        ++size_;
        return true;
    }
    bool reserve(std::size_t nodes) noexcept { return words_.reserve((nodes + per_word - 1) / per_word); }
    /// Keeps the first `nodes`.
    void shorten(std::size_t nodes) noexcept {
        if (nodes >= size_) return;
        size_ = nodes;
        words_.shorten((nodes + per_word - 1) / per_word);
        if (nodes % per_word != 0) words_[nodes / per_word] &= (std::uint64_t{1} << (nodes % per_word * 2)) - 1;
    }

  private:
    static constexpr std::size_t per_word = 32;
    PageArray<std::uint64_t> words_;
    std::size_t size_ = 0;
};

/// `merged` must be empty. Its nodes are appended to `origins`. Takes linear time, and 4 bytes a node from `budget` for the duration.
bool merge(const PathTable& a, const PathTable& b, PathTable& merged, NodeOrigins& origins, PageBudget& budget) noexcept;

} // namespace libprofile
