#include "libprofile/trace/message_numbers.hpp"

#include "libprofile/base/hashing.hpp"
#include "libprofile/base/memory.hpp"

namespace libprofile {

constinit MessageNumbers message_numbers;

[[gnu::cold, gnu::noinline]] MessageNumbers::Slot* MessageNumbers::slots() noexcept {
    constexpr std::size_t bytes = sizeof(Slot) << bits;
    void* const pages = memory_quota.map(bytes);
    if (pages == nullptr) return nullptr;
    auto* made = static_cast<Slot*>(pages);
    Slot* present = nullptr;
    if (slots_.compare_exchange_strong(present, made)) return made;
    memory_quota.unmap(pages, bytes);
    return present;
}

std::uint64_t MessageNumbers::next(MessageDirection direction, std::uint32_t partner, std::uint32_t communicator, std::int32_t tag) noexcept {
    Slot* const table = slots_.load(std::memory_order_acquire) != nullptr ? slots_.load(std::memory_order_relaxed) : slots();
    if (table == nullptr) stop();
    if (has_stopped_.load(std::memory_order_relaxed)) return 0;
    const std::uint64_t to = std::uint64_t{partner} << 1 | static_cast<std::uint64_t>(direction);
    // Multiples of odd numbers without a pattern: kinds that differ in several of these have different sums.
    const std::uint64_t key = mix(to * golden + communicator * 0xd6e8feb86659fd93u + static_cast<std::uint32_t>(tag) * 0xa0761d6478bd642fu) | 1;
    for (std::uint32_t i = 0; i < longest_search; ++i) {
        Slot& slot = table[((key >> 1) + i) & ((1u << bits) - 1)];
        std::uint64_t present = slot.key.load(std::memory_order_relaxed);
        if (present == 0 && slot.key.compare_exchange_strong(present, key, std::memory_order_relaxed)) present = key;
        if (present == key) return slot.messages.fetch_add(1, std::memory_order_relaxed) + 1;
    }
    return 0;
}

} // namespace libprofile
