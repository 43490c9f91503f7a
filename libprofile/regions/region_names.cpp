#include "libprofile/regions/region_names.hpp"

#include "libprofile/base/hashing.hpp"

#include <cstring>
#include <sched.h>

namespace libprofile {

constinit RegionNames region_names;

std::uint64_t RegionNames::id_of(const char* name) noexcept { return region_id(name, strnlen(name, most_bytes)); }

std::uint32_t RegionNames::number_of(std::uint32_t kind, std::uint64_t id) const noexcept {
    const std::atomic<std::uint32_t>* table = table_.load(std::memory_order_acquire);
    if (table == nullptr) return none;
    for (std::uint64_t slot = mix(id + kind) % slots;; slot = (slot + 1) % slots) {
        const std::uint32_t at = table[slot].load(std::memory_order_acquire);
        if (at == 0) return none;
        const RegionName& known = names_[at - 1];
        if (known.id == id && known.kind == kind) return at - 1;
    }
}

std::uint64_t RegionNames::know(RegionClass kind, const char* name) noexcept {
    const std::uint64_t id = id_of(name);
    const auto number = static_cast<std::uint32_t>(kind);
    if (knows(number, id)) return id;
    if (is_full()) return 0; // without a lock: a program that creates names may continue to
    while (busy_.test_and_set(std::memory_order_acquire)) sched_yield();
    const bool is_known = add(number, id, name);
    busy_.clear(std::memory_order_release);
    return is_known ? id : 0;
}

bool RegionNames::add(std::uint32_t kind, std::uint64_t id, const char* name) noexcept {
    std::atomic<std::uint32_t>* table = table_.load(std::memory_order_relaxed);
    if (table == nullptr) {
        table = arena_.array<std::atomic<std::uint32_t>>(slots);
        if (table == nullptr) return false;
        table_.store(table, std::memory_order_release);
    }
    std::uint64_t slot = mix(id + kind) % slots;
    for (; table[slot].load(std::memory_order_relaxed) != 0; slot = (slot + 1) % slots) {
        const RegionName& known = names_[table[slot].load(std::memory_order_relaxed) - 1];
        if (known.id == id && known.kind == kind) return true; // another thread was faster
    }
    const std::uint32_t count = count_.load(std::memory_order_relaxed);
    if (count == most) return false;
    char text[most_bytes + 1] = {};
    std::memcpy(text, name, strnlen(name, most_bytes));
    const char* copy = arena_.copy_text(text);
    RegionName* added = *copy == 0 && *text != 0 ? nullptr : names_.append(arena_);
    if (added == nullptr) return false;
    *added = {id, kind, copy};
    count_.store(count + 1, std::memory_order_release);
    table[slot].store(count + 1, std::memory_order_release);
    return true;
}

} // namespace libprofile
