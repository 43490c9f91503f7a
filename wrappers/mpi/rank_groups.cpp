#include "wrappers/mpi/rank_groups.hpp"

#include "format/fnv.hpp"
#include "libprofile/base/clock.hpp"
#include "wrappers/mpi/request_table.hpp"

#include <cstring>
#include <sched.h>

namespace libprofile::rank_groups {

namespace {

struct Slot {
    std::atomic<std::uint64_t> key; // handle, group above it
};
constinit RequestTable<Slot, 6> table;

struct Known {
    const int* ranks;
    std::uint32_t size;
    std::uint32_t hash; // of the ranks: communicators of the same ones have the same on all of them. Of all inter-communicators, whose ends have different
                        // ones, it is hash_of_remote
};
constexpr std::uint32_t hash_of_remote = 1;
std::atomic<const Known*> known[most_groups];
std::atomic<std::uint32_t> known_count{0};

// Either the thread that asks sees that something is being freed, or the one that frees sees that another asks.
constexpr unsigned handle_bits = 12; // frees are counted by a hash of the handle: those of other communicators rarely matter
std::atomic<std::uint32_t> begun_frees[1u << handle_bits];
std::atomic<std::uint32_t> asking{0};
constexpr std::uint64_t longest_wait_ns = 100'000'000; // the thread that asks may have been cancelled

} // namespace

[[gnu::hot, gnu::aligned(64)]] std::uint32_t find(std::uint64_t communicator) noexcept {
    const Slot* slot = table.find(communicator);
    return slot == nullptr ? std::uint32_t{not_asked} : static_cast<std::uint32_t>(slot->key.load(std::memory_order_relaxed) >> request_handle_bits);
}

void insert(std::uint64_t communicator, std::uint32_t group) noexcept {
    table.add(communicator, communicator | std::uint64_t{group} << request_handle_bits); // without memory it is asked again
}

void forget(std::uint64_t communicator) noexcept {
    begun_frees[short_hash(communicator, handle_bits)].fetch_add(1);
    if (asking.load() != 0) {
        const std::uint64_t begin = Clock::monotonic();
        while (asking.load() != 0 && Clock::monotonic() - begin < longest_wait_ns) sched_yield();
    }
    while (table.take(communicator) != 0) {
    } // two threads may have asked at the same time
}

std::uint32_t frees(std::uint64_t communicator) noexcept { return begun_frees[short_hash(communicator, handle_bits)].load(); }

Asking::Asking(std::uint64_t communicator, std::uint32_t before) noexcept {
    asking.fetch_add(1);
    is_allowed_ = frees(communicator) == before;
}

Asking::~Asking() noexcept { asking.fetch_sub(1); }

std::uint32_t group_of(const int* ranks, std::uint32_t size, bool is_remote) noexcept {
    const std::size_t bytes = size * sizeof(int);
    const std::uint32_t hash = is_remote ? hash_of_remote : static_cast<std::uint32_t>(fnv1a(reinterpret_cast<const char*>(ranks), bytes)) | 2;
    const std::uint32_t end = known_count.load(std::memory_order_acquire);
    for (std::uint32_t i = 0; i < end && i < most_groups; ++i) {
        const Known* other = known[i].load(std::memory_order_acquire);
        if (other != nullptr && other->size == size && other->hash == hash && std::memcmp(other->ranks, ranks, bytes) == 0) return first_other + i;
    }
    if (end >= most_groups) return without_ranks;
    void* memory = memory_quota.map(sizeof(Known) + bytes);
    if (memory == nullptr) return missed;
    const std::uint32_t at = known_count.fetch_add(1, std::memory_order_acq_rel);
    if (at >= most_groups) {
        memory_quota.unmap(memory, sizeof(Known) + bytes);
        known_count.store(most_groups, std::memory_order_release);
        return without_ranks;
    }
    auto* const made = static_cast<Known*>(memory);
    auto* const copy = reinterpret_cast<int*>(made + 1);
    std::memcpy(copy, ranks, bytes);
    *made = {copy, size, hash};
    known[at].store(made, std::memory_order_release);
    return first_other + at;
}

std::uint32_t world_rank(std::uint32_t group, int rank) noexcept {
    if (rank < 0 || group < of_world) return no_rank;
    if (group == of_world) return static_cast<std::uint32_t>(rank);
    const Known* ranks = group - first_other < most_groups ? known[group - first_other].load(std::memory_order_acquire) : nullptr;
    if (ranks == nullptr || static_cast<std::uint32_t>(rank) >= ranks->size || ranks->ranks[rank] < 0) return no_rank;
    return static_cast<std::uint32_t>(ranks->ranks[rank]);
}

[[gnu::hot, gnu::aligned(64)]] std::uint32_t communicator(std::uint32_t group) noexcept {
    if (group == of_world) return 0;
    const Known* const ranks = group >= first_other ? known[group - first_other].load(std::memory_order_acquire) : nullptr;
    return ranks == nullptr || ranks->hash == hash_of_remote ? no_communicator : ranks->hash;
}

Envelope envelope_in(std::uint32_t group, int rank, int tag) noexcept {
    Envelope result{world_rank(group, rank), 0, tag};
    if (group >= first_other && result.partner != no_rank) result.communicator = known[group - first_other].load(std::memory_order_acquire)->hash;
    return result;
}

} // namespace libprofile::rank_groups
