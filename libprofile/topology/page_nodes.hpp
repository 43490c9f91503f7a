// On which NUMA nodes the pages lie that the program's tasks depend on. The kernel is asked, and moves nothing.
// Contract: one for the process; thread-safe without locks; async-signal-safe; memory from the quota at the first page. want() costs some ns, is_due()
// one load. ask() takes some 10 us and is due so seldom that it takes less than 1 % of one thread's time. A kernel that refuses is asked once.
//
// A page that is not in memory has no node: nobody has touched it. It is asked about again, later. One whose node is known is not: where the program or the
// kernel moves it afterwards is not seen.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace libprofile {

class PageNodes {
  public:
    /// An address whose page matters.
    void want(std::uint64_t address) noexcept;
    /// Whether ask() is to be called, at `now` of the session's clock.
    bool is_due(std::uint64_t now) const noexcept { return now >= due_.load(std::memory_order_relaxed); }
    /// Asks about some pages whose node is not known, unless another thread is at it.
    void ask(std::uint64_t now) noexcept;
    /// The same about all of them, for a snapshot or the profile, as long as all questions have taken less than 1 % of the time since the session began.
    void ask_all(std::uint64_t now) noexcept;

    std::uint64_t wanted() const noexcept { return wanted_.load(std::memory_order_relaxed); }
    int error() const noexcept { return error_.load(std::memory_order_relaxed); }
    std::uint64_t left_out() const noexcept { return left_out_.load(std::memory_order_relaxed); }
    std::uint64_t asked() const noexcept { return asked_; }
    std::uint64_t asked_ns() const noexcept { return asked_ns_; }

    static constexpr std::uint64_t page_size = 4096; // larger pages have several entries; no kernel has smaller ones
    static constexpr std::size_t most_pages = std::size_t{1} << 15;
    /// Stores the known pages, ordered: their address plus node + 1. `list` has room for most_pages. Returns how many.
    std::size_t known(std::uint64_t* list) const noexcept;

  private:
    using Word = std::atomic<std::uint64_t>; // address of a page, in its lower 12 bits the node + 1 if that is known; 0: free
    static constexpr std::uint64_t node_bits = page_size - 1;
    static constexpr std::uint64_t least_pause_ns = 1000000, most_pause_ns = 1000000000, pause_per_time = 100;
    static constexpr std::size_t most_at_once = 256, longest_search = 64;
    static constexpr std::uint64_t never = ~std::uint64_t{0};

    Word* words() noexcept;
    std::size_t ask_some() noexcept;

    std::atomic<Word*> words_{nullptr};
    std::atomic<std::uint64_t> due_{never};
    std::atomic<std::uint64_t> not_before_{0}; // by the session's clock
    std::atomic<bool> is_asking_{false};
    std::atomic<std::uint64_t> wanted_{0}; // pages
    std::atomic<std::uint64_t> left_out_{0};
    std::atomic<int> error_{0};
    // Of the thread that asks:
    std::size_t next_ = 0; // in the table
    std::uint64_t known_ = 0, asked_ = 0, asked_ns_ = 0;
    std::uint64_t pause_ns_ = least_pause_ns;
    void* pages_[most_at_once] = {};
    Word* words_of_pages_[most_at_once] = {};
    int nodes_[most_at_once] = {};
};
extern PageNodes page_nodes;

} // namespace libprofile
