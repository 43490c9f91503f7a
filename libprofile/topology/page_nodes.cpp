#include "libprofile/topology/page_nodes.hpp"

#include "libprofile/base/clock.hpp"
#include "libprofile/base/hashing.hpp"
#include "libprofile/base/memory.hpp"
#include "libprofile/base/process_state.hpp"

#include <algorithm>
#include <cerrno>
#include <sys/syscall.h>
#include <unistd.h>

namespace libprofile {

constinit PageNodes page_nodes;

[[gnu::cold, gnu::noinline]] PageNodes::Word* PageNodes::words() noexcept {
    constexpr std::size_t bytes = most_pages * sizeof(Word);
    void* const pages = memory_quota.map(bytes);
    if (pages == nullptr) return nullptr;
    Word* present = nullptr;
    if (words_.compare_exchange_strong(present, static_cast<Word*>(pages))) return static_cast<Word*>(pages);
    memory_quota.unmap(pages, bytes);
    return present;
}

void PageNodes::want(std::uint64_t address) noexcept {
    if (error() != 0) return;
    const std::uint64_t page = address & ~node_bits;
    Word* table = words_.load(std::memory_order_acquire);
    if (table == nullptr) table = words();
    if (page == 0) return;
    const std::uint64_t first = short_hash(page >> 12, 15);
    for (std::size_t i = 0; table != nullptr && i < longest_search; ++i) {
        Word& word = table[(first + i) & (most_pages - 1)];
        std::uint64_t present = word.load(std::memory_order_relaxed);
        if (present == 0 && word.compare_exchange_strong(present, page, std::memory_order_relaxed)) {
            wanted_.fetch_add(1);
            if (due_.load() == never) due_.store(not_before_.load());
            return;
        }
        if ((present & ~node_bits) == page) return;
    }
    left_out_.fetch_add(1, std::memory_order_relaxed);
}

/// About the next pages of the table. Returns how many these were; 0: there are none, or the kernel refuses.
std::size_t PageNodes::ask_some() noexcept {
    Word* const table = words_.load(std::memory_order_acquire);
    if (table == nullptr || error() != 0) return 0;
    std::size_t count = 0;
    for (std::size_t seen = 0; seen < most_pages && count < most_at_once; ++seen, next_ = (next_ + 1) & (most_pages - 1)) {
        const std::uint64_t word = table[next_].load(std::memory_order_relaxed);
        if (word == 0 || (word & node_bits) != 0) continue;
        words_of_pages_[count] = &table[next_];
        pages_[count++] = reinterpret_cast<void*>(word);
    }
    if (count == 0) return 0;
    const int before = errno;
    // Without nodes to move to, the kernel only says where pages are.
    const long result = syscall(SYS_move_pages, 0, count, pages_, nullptr, nodes_, 0);
    const int error = errno;
    errno = before;
    ++asked_;
    if (result != 0) {
        error_.store(result < 0 && error != 0 ? error : EIO, std::memory_order_relaxed);
        return 0;
    }
    for (std::size_t i = 0; i < count; ++i) {
        if (nodes_[i] < 0 || static_cast<std::uint64_t>(nodes_[i]) >= node_bits) continue;
        words_of_pages_[i]->store(reinterpret_cast<std::uint64_t>(pages_[i]) | (static_cast<std::uint64_t>(nodes_[i]) + 1), std::memory_order_relaxed);
        ++known_;
    }
    return count;
}

[[gnu::cold]] void PageNodes::ask(std::uint64_t now) noexcept {
    if (is_asking_.exchange(true, std::memory_order_acquire)) return;
    const std::uint64_t known = known_;
    ask_some();
    const std::uint64_t end = session_clock.now(), took = end > now ? end - now : 0;
    asked_ns_ += took;
    // Pages that nobody touches are asked about less and less often.
    pause_ns_ = known_ != known ? least_pause_ns : std::min(2 * pause_ns_, most_pause_ns);
    const std::uint64_t next = end + std::max(pause_ns_, took * pause_per_time);
    not_before_.store(next);
    due_.store(error() != 0 ? never : next);
    if (wanted_.load() == known_) {
        due_.store(never);
        if (wanted_.load() != known_) due_.store(next); // a new one has come
    }
    is_asking_.store(false, std::memory_order_release);
}

void PageNodes::ask_all(std::uint64_t now) noexcept {
    if (is_asking_.exchange(true, std::memory_order_acquire)) return;
    const std::uint64_t most_ns = now / pause_per_time; // a share of the time since the session began
    next_ = 0;
    for (std::size_t last = 0; ask_some() != 0 && next_ > last && asked_ns_ < most_ns; last = next_) {
        const std::uint64_t end = session_clock.now();
        asked_ns_ += end > now ? end - now : 0;
        now = end;
    }
    const std::uint64_t end = session_clock.now();
    asked_ns_ += end > now ? end - now : 0;
    is_asking_.store(false, std::memory_order_release);
}

std::size_t PageNodes::known(std::uint64_t* list) const noexcept {
    const Word* const table = words_.load(std::memory_order_acquire);
    std::size_t count = 0;
    for (std::size_t i = 0; table != nullptr && i < most_pages; ++i)
        if (const std::uint64_t word = table[i].load(std::memory_order_relaxed); (word & node_bits) != 0) list[count++] = word;
    std::sort(list, list + count);
    return count;
}

} // namespace libprofile
