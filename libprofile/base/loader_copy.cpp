#include "libprofile/base/loader_copy.hpp"

#include "libprofile/base/load_epoch.hpp"
#include "libprofile/base/memory.hpp"
#include "libprofile/base/safe_copy.hpp"

#include <cerrno>
#include <cstring>
#include <elf.h>
#include <sched.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace libprofile {

namespace {

using Map = LoaderCopy::Map;

constexpr unsigned most_walks = 100;        // before a list that does not stop changing is given up
constexpr unsigned most_objects = 1u << 16; // a list that changes may lead in a circle
constexpr unsigned most_yields = 1000;      // for a thread that is changing the copy; after a fork it may not exist
constexpr std::size_t most_headers = 32;    // more than any linker makes; the stack may be a small one

bool copy_of(const Map* map, Map& copy) { return copy_memory(&copy, map, sizeof copy); }

void read_headers(const ElfW(Phdr) * headers, std::size_t count, LoadedObject& object) {
    std::uintptr_t start = UINTPTR_MAX;
    std::uintptr_t end = 0;
    for (std::size_t i = 0; i < count; ++i) {
        const std::uintptr_t first = object.bias + headers[i].p_vaddr;
        if (headers[i].p_type == PT_GNU_EH_FRAME) object.unwind_header = first;
        if (headers[i].p_type != PT_LOAD) continue;
        if (first < start) start = first;
        if (first + headers[i].p_memsz > end) end = first + headers[i].p_memsz;
    }
    if (end == 0) return;
    object.start = start & ~std::uintptr_t{4095};
    object.end = end;
}

} // namespace

bool LoaderCopy::Entry::describe(const Map* map, const Map& copy) noexcept {
    *this = {};
    object.map = map;
    object.bias = copy.l_addr;
    object.is_executable = copy.l_prev == nullptr;
    name = copy.l_name;
    dynamic = copy.l_ld;
    if (object.is_executable) {
        read_headers(reinterpret_cast<const ElfW(Phdr)*>(getauxval(AT_PHDR)), getauxval(AT_PHNUM), object);
    } else {
        ElfW(Ehdr) header;
        ElfW(Phdr) headers[most_headers];
        if (!copy_memory(&header, reinterpret_cast<const void*>(copy.l_addr), sizeof header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return false;
        const std::size_t count = header.e_phnum < most_headers ? header.e_phnum : most_headers;
        if (!copy_memory(headers, reinterpret_cast<const void*>(copy.l_addr + header.e_phoff), count * sizeof headers[0])) return false;
        read_headers(headers, count, object);
    }
    return object.end != 0;
}

/// Memory that was given back may say the same as before, so the one before it in the list must lead to it.
bool LoaderCopy::Entry::is_still_there() const noexcept {
    Map copy, previous;
    if (stays) return true;
    if (!copy_of(object.map, copy) || !is_described_by(copy)) return false;
    return copy.l_prev == nullptr || (copy_of(copy.l_prev, previous) && previous.l_next == object.map);
}

std::uint32_t LoaderCopy::Table::up_to(std::uintptr_t address) const noexcept {
    std::uint32_t first = 0;
    for (std::uint32_t end = count; first < end;) {
        const std::uint32_t middle = first + (end - first) / 2;
        if (entries[middle].object.start <= address)
            first = middle + 1;
        else
            end = middle;
    }
    return first;
}

/// Old entries are never given back, since somebody may be reading them: all of them together take less than the newest.
bool LoaderCopy::Table::reserve(std::uint32_t wanted) noexcept {
    if (wanted <= capacity) return true;
    const std::size_t bytes = in_pages(2 * wanted * sizeof(Entry));
    void* pages = memory_quota.map(bytes);
    if (pages == nullptr) return false;
    if (count != 0) std::memcpy(pages, entries, count * sizeof(Entry));
    entries = static_cast<Entry*>(pages);
    capacity = static_cast<std::uint32_t>(bytes / sizeof(Entry));
    return true;
}

/// What lay there before is gone.
bool LoaderCopy::Table::insert(const Entry& entry) noexcept {
    if (!reserve(count + 1)) return false;
    const std::uint32_t behind = up_to(entry.object.end - 1);
    std::uint32_t place = behind;
    while (place > 0 && entries[place - 1].object.end > entry.object.start && !entries[place - 1].object.is_executable) --place;
    std::memmove(static_cast<void*>(entries + place + 1), entries + behind, (count - behind) * sizeof(Entry));
    count += 1 - (behind - place);
    entries[place] = entry;
    return true;
}

void LoaderCopy::begin(const Map* executable) noexcept {
    if (!is_begun()) executable_.describe(executable, *executable);
}

/// Reads the entry that may hold the address and the last of the list, both of one table.
bool LoaderCopy::search(std::uintptr_t address, Entry& entry, Entry& last) const noexcept {
    for (;;) {
        const std::uint32_t published = published_.load(std::memory_order_acquire);
        const Table& table = tables_[published & 1];
        const std::uint32_t first = table.up_to(address);
        if (first != 0) entry = table.entries[first - 1];
        last = table.last;
        std::atomic_thread_fence(std::memory_order_acquire);
        if (published_.load(std::memory_order_relaxed) != published) continue;
        if (first != 0 && entry.holds(address)) return true;
        entry = executable_;
        return executable_.holds(address);
    }
}

/// The loader puts what has come at the end of its list.
LoaderCopy::Place LoaderCopy::place_behind(const Entry& last) const noexcept {
    Map copy;
    if (last.object.map != nullptr && copy_of(last.object.map, copy) && last.is_described_by(copy)) return {copy.l_next, last.object.map};
    return {executable_.object.map, nullptr};
}

/// Calls visit(where, copy) for each object until it returns false. Returns false if the list changed.
template <class Visit> bool LoaderCopy::walk(Place place, Visit visit) noexcept {
    Map copy;
    for (unsigned left = most_objects; place.next != nullptr; --left) {
        if (left == 0 || !copy_of(place.next, copy) || copy.l_prev != place.previous) return false;
        if (!visit(place.next, copy)) return true;
        place = {copy.l_next, place.next};
    }
    return true;
}

/// Returns true if the copy knows the object already.
bool LoaderCopy::recall(const Map* map, const Map& copy, Entry& entry) const noexcept {
    Entry last;
    return search(copy.l_addr, entry, last) && entry.object.map == map && entry.is_described_by(copy);
}

bool LoaderCopy::find(std::uintptr_t address, LoadedObject& object) noexcept {
    Entry entry, last;
    bool is_found = search(address, entry, last) && entry.is_still_there();
    bool is_sure = is_found;
    for (unsigned left = most_walks; !is_sure && is_begun() && left != 0; --left) {
        const Place place = place_behind(last);
        if (place.next == nullptr) break; // nothing has come
        last = {};                        // if the list changes, all of it is read again
        is_sure = try_take_in(place);
        if (is_sure) {
            is_found = search(address, entry, last) && entry.is_still_there();
        } else {
            is_sure = walk(place, [&](const Map* map, const Map& copy) {
                is_found = (recall(map, copy, entry) || entry.describe(map, copy)) && entry.holds(address);
                return !is_found;
            });
        }
    }
    if (is_found)
        object = entry.object;
    else
        has_missed_.store(true, std::memory_order_relaxed);
    return is_found;
}

void LoaderCopy::renew() noexcept {
    // In vain where another thread held it when the process forked. Each object is looked at before it is told.
    for (unsigned left = most_yields; left != 0 && !try_take_in({executable_.object.map, nullptr}); --left) sched_yield();
}

/// Publishes what the loader's list has from there on, and what the copy knows of before. Returns false if the list or the copy is changing, or without
/// memory.
bool LoaderCopy::try_take_in(Place place) noexcept {
    if (busy_.test_and_set(std::memory_order_acquire)) return false;
    const std::uint32_t published = published_.load(std::memory_order_relaxed);
    const Table& present = tables_[published & 1];
    Table& table = tables_[(published + 1) & 1];
    table.count = 0;
    bool has_news = false;
    bool has_room = table.reserve(present.count + 1);
    if (has_room && place.previous != nullptr) {
        std::memcpy(static_cast<void*>(table.entries), present.entries, present.count * sizeof(Entry));
        table.count = present.count;
        table.last = present.last;
    }
    const bool is_whole = has_room && walk(place, [&](const Map* map, const Map& copy) {
                              Entry entry;
                              const bool is_known = recall(map, copy, entry);
                              if (!is_known && !entry.describe(map, copy)) return true; // it is just coming or going
                              has_news |= !is_known;
                              table.last = entry;
                              return has_room = table.insert(entry);
                          });
    const bool is_taken_in = is_whole && has_room;
    if (is_taken_in) published_.store(published + 1, std::memory_order_release);
    busy_.clear(std::memory_order_release);
    // What was said of addresses that were in no object may be wrong now.
    if (is_taken_in && has_news && has_missed_.exchange(false, std::memory_order_relaxed)) next_load_epoch();
    return is_taken_in;
}

void LoaderCopy::all_stay() noexcept {
    if (busy_.test_and_set(std::memory_order_acquire)) return;
    Table& table = tables_[published_.load(std::memory_order_relaxed) & 1];
    for (std::uint32_t i = 0; i < table.count; ++i) table.entries[i].stays = true;
    busy_.clear(std::memory_order_release);
}

} // namespace libprofile
