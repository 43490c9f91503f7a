#include "libprofile/callpath/python_names.hpp"

#include "libprofile/base/hashing.hpp"

#include <cstring>
#include <sched.h>

namespace libprofile {

constinit PythonNames python_names;

namespace {
constexpr const char* others = "(more Python functions)\n\n0";
}

const char* PythonNames::find(std::uint64_t id) const noexcept {
    const std::atomic<std::uint32_t>* table = table_.load(std::memory_order_acquire);
    if (table == nullptr) return nullptr;
    for (std::uint64_t slot = mix(id) % slots;; slot = (slot + 1) % slots) {
        const std::uint32_t at = table[slot].load(std::memory_order_acquire);
        if (at == 0) return nullptr;
        if (names_[at - 1].id == id) return names_[at - 1].text;
    }
}

Text PythonNames::file(std::uint64_t id) const noexcept {
    const char* text = find(id);
    const char* name_end = text == nullptr ? nullptr : std::strchr(text, '\n');
    return name_end == nullptr ? Text() : Text(name_end + 1, std::strcspn(name_end + 1, "\n"));
}

std::uint64_t PythonNames::know(const char* text) noexcept {
    const std::uint64_t id = region_id(text, strnlen(text, most_bytes));
    if (find(id) != nullptr) return id;
    // The lock is held with the in-tool flag set, so a handler of this thread never waits for it. A child of fork may wait in vain.
    for (int attempts = 0; busy_.test_and_set(std::memory_order_acquire); sched_yield())
        if (++attempts == 100) return 0;
    const bool is_known = add(id, text);
    const std::uint64_t instead = is_known ? id : region_id(others, std::strlen(others));
    if (!is_known) add(instead, others);
    busy_.clear(std::memory_order_release);
    return instead;
}

bool PythonNames::add(std::uint64_t id, const char* text) noexcept {
    if (find(id) != nullptr) return true; // another thread was faster
    std::atomic<std::uint32_t>* table = table_.load(std::memory_order_relaxed);
    if (table == nullptr) {
        table = arena_.array<std::atomic<std::uint32_t>>(slots);
        if (table == nullptr) return false;
        table_.store(table, std::memory_order_release);
    }
    const std::uint32_t count = count_.load(std::memory_order_relaxed);
    if (count >= most && text != others) return false;
    const char* copy = text == others ? others : arena_.copy_text(text);
    Name* added = *copy == 0 ? nullptr : names_.append(arena_);
    if (added == nullptr) return false;
    *added = {id, copy};
    std::uint64_t slot = mix(id) % slots;
    while (table[slot].load(std::memory_order_relaxed) != 0) slot = (slot + 1) % slots;
    count_.store(count + 1, std::memory_order_release);
    table[slot].store(count + 1, std::memory_order_release);
    return true;
}

} // namespace libprofile
