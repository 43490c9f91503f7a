#include "libprofile/trace/message_numbers.hpp"

#include "libprofile/base/memory.hpp"

namespace libprofile {

[[gnu::cold, gnu::noinline]] MessageNumbers::Slot* MessageNumbers::make_slots() noexcept {
    constexpr std::size_t bytes = sizeof(Slot) << bits;
    void* const pages = memory_quota.map(bytes);
    if (pages == nullptr) return nullptr;
    auto* made = static_cast<Slot*>(pages);
    Slot* present = nullptr;
    if (slots_.compare_exchange_strong(present, made)) return made;
    memory_quota.unmap(pages, bytes);
    return present;
}

/// The number of a message whose kind is not where it would be first, or is new.
std::uint64_t MessageNumbers::search(std::uint64_t key) noexcept {
    Slot* table = slots_.load(std::memory_order_acquire);
    if (table == nullptr) table = make_slots();
    if (table == nullptr) stop();
    if (has_stopped_.load(std::memory_order_relaxed)) return 0;
    for (std::uint32_t i = 0; i < longest_search; ++i) {
        Slot& slot = table[at(key, i)];
        std::uint64_t present = slot.key.load(std::memory_order_relaxed);
        if (present == 0 && slot.key.compare_exchange_strong(present, key, std::memory_order_relaxed)) present = key;
        if (present == key) return slot.messages.fetch_add(1, std::memory_order_relaxed) + 1;
    }
    return 0;
}

} // namespace libprofile
