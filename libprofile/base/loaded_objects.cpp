#include "libprofile/base/loaded_objects.hpp"

#include "libprofile/base/memory.hpp"
#include "libprofile/base/process_state.hpp"
#include "libprofile/base/real_calls.hpp"

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <sched.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

namespace libprofile {

namespace {

using Map = struct link_map;

/// glibc's struct dl_find_object, which older headers lack.
struct FoundByLoader {
    unsigned long long flags;
    void* start;
    void* end;
    Map* map;
    void* unwind_header;
    unsigned long long reserved[7];
};
using LoadersSearch = int (*)(void*, FoundByLoader*);

std::atomic<LoadersSearch> loaders_search{nullptr};
std::atomic<bool> is_begun{false};

/// Returns true if a word can be read there: the kernel looks at the new mask before it finds that it does not know what to do with it.
bool is_readable(const void* address) {
    const int saved = errno;
    const bool result = syscall(SYS_rt_sigprocmask, ~0, address, nullptr, 8) != -1 || errno != EFAULT;
    errno = saved;
    return result;
}

/// Returns false if not all of it is there. Another thread may give the memory back meanwhile. Where the kernel does not let a process read itself, the
/// first word is looked at, and the rest is read as it is.
bool copy_memory(void* to, const void* from, std::size_t bytes) {
    const int saved = errno;
    const iovec there{const_cast<void*>(from), bytes}, here{to, bytes};
    const long copied = syscall(SYS_process_vm_readv, getpid(), &here, 1ul, &there, 1ul, 0ul);
    const bool is_refused = copied < 0 && errno != EFAULT;
    errno = saved;
    if (!is_refused) return copied == static_cast<long>(bytes);
    if (!is_readable(from)) return false;
    std::memcpy(to, from, bytes);
    return true;
}

struct Entry {
    LoadedObject object;
    // What the loader's object said: memory that was given back and used again says something else.
    std::uintptr_t bias = 0;
    const char* name = nullptr;
    const void* dynamic = nullptr;
    bool stays = false;

    bool is_described_by(const Map& map) const { return map.l_addr == bias && map.l_name == name && map.l_ld == dynamic; }
    /// The loader frees what describes an object when it is gone, so that may be unreadable.
    bool is_still_there() const { return stays || (is_readable(object.map) && is_described_by(*object.map)); }
};

/// Fills in what the program headers say.
void read_headers(const ElfW(Phdr) * headers, std::size_t count, Entry& entry) {
    std::uintptr_t start = UINTPTR_MAX;
    std::uintptr_t end = 0;
    for (std::size_t i = 0; i < count; ++i) {
        const std::uintptr_t first = entry.bias + headers[i].p_vaddr;
        if (headers[i].p_type == PT_GNU_EH_FRAME) entry.object.unwind_header = first;
        if (headers[i].p_type != PT_LOAD) continue;
        if (first < start) start = first;
        if (first + headers[i].p_memsz > end) end = first + headers[i].p_memsz;
    }
    if (end == 0) return;
    entry.object.start = start & ~std::uintptr_t{4095};
    entry.object.end = end;
}

bool describe(const Map& map, Entry& entry) {
    entry = {};
    entry.object.map = &map;
    entry.bias = map.l_addr;
    entry.name = map.l_name;
    entry.dynamic = map.l_ld;
    if (map.l_prev == nullptr) {
        read_headers(reinterpret_cast<const ElfW(Phdr)*>(getauxval(AT_PHDR)), getauxval(AT_PHNUM), entry);
    } else {
        constexpr std::size_t most_headers = 32; // more than any linker makes; the stack may be a small one
        ElfW(Ehdr) header;
        ElfW(Phdr) headers[most_headers];
        if (!copy_memory(&header, reinterpret_cast<const void*>(map.l_addr), sizeof header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return false;
        const std::size_t count = header.e_phnum < most_headers ? header.e_phnum : most_headers;
        if (!copy_memory(headers, reinterpret_cast<const void*>(map.l_addr + header.e_phoff), count * sizeof headers[0])) return false;
        read_headers(headers, count, entry);
    }
    return entry.object.end != 0;
}

/// The copy of the loader's list, by address. There are two tables: one is read while the other is written.
class Copy {
  public:
    void begin(const Map* executable) noexcept;
    bool is_begun() const noexcept { return executable_.object.end != 0; }
    /// Returns true if `address` is in an object that is there now.
    bool find(std::uintptr_t address, LoadedObject& object) noexcept;
    /// Makes the copy anew. The caller holds the loader's lock.
    void renew() noexcept;
    void all_stay() noexcept;

  private:
    struct Table {
        Entry* entries = nullptr;
        std::uint32_t capacity = 0;
        std::uint32_t count = 0;

        /// The number of those that begin at `address` or before.
        std::uint32_t up_to(std::uintptr_t address) const noexcept;
        bool reserve(std::uint32_t wanted) noexcept;
        bool insert(const Entry& entry) noexcept;
    };

    bool search(std::uintptr_t address, Entry& entry) const noexcept;
    bool lock() noexcept { return !busy_.test_and_set(std::memory_order_acquire); }
    void unlock() noexcept { busy_.clear(std::memory_order_release); }
    void look() noexcept;
    void publish(const Table& old, const Map* next, bool is_locked) noexcept;

    Table tables_[2];
    std::atomic<std::uint32_t> published_{0}; // counts up; its lowest bit is the table to read
    std::atomic_flag busy_ = ATOMIC_FLAG_INIT;
    std::atomic<bool> has_missed_{false}; // somebody was told "in no object" since the last change
    Entry executable_;                    // others may lie in holes of it
    Entry last_;                          // of the loader's list
};
constinit Copy copy;

std::uint32_t Copy::Table::up_to(std::uintptr_t address) const noexcept {
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
bool Copy::Table::reserve(std::uint32_t wanted) noexcept {
    if (wanted <= capacity) return true;
    const std::size_t bytes = in_pages(2 * wanted * sizeof(Entry));
    void* pages = memory_quota.map(bytes);
    if (pages == nullptr) return false;
    if (count != 0) std::memcpy(pages, entries, count * sizeof(Entry));
    entries = static_cast<Entry*>(pages);
    capacity = static_cast<std::uint32_t>(bytes / sizeof(Entry));
    return true;
}

bool Copy::Table::insert(const Entry& entry) noexcept {
    if (!reserve(count + 1)) return false;
    std::uint32_t place = count++;
    for (; place > 0 && entries[place - 1].object.start > entry.object.start; --place) entries[place] = entries[place - 1];
    entries[place] = entry;
    return true;
}

bool Copy::search(std::uintptr_t address, Entry& entry) const noexcept {
    for (;;) {
        const std::uint32_t published = published_.load(std::memory_order_acquire);
        const Table& table = tables_[published & 1];
        const std::uint32_t first = table.up_to(address);
        if (first != 0) entry = table.entries[first - 1];
        std::atomic_thread_fence(std::memory_order_acquire);
        if (published_.load(std::memory_order_relaxed) != published) continue;
        if (first != 0 && address < entry.object.end) return true;
        entry = executable_;
        return executable_.object.start <= address && address < executable_.object.end;
    }
}

bool Copy::find(std::uintptr_t address, LoadedObject& object) noexcept {
    Entry entry;
    bool is_found = search(address, entry) && entry.is_still_there();
    // Once more if not: another thread that unloads something may have cut the list short.
    for (unsigned left = 3; left != 0 && !is_found; --left) {
        look();
        is_found = search(address, entry) && entry.is_still_there();
    }
    if (is_found)
        object = entry.object;
    else
        has_missed_.store(true, std::memory_order_relaxed);
    return is_found;
}

/// Takes in what has come. The loader puts it at the end of its list. Waits some 100 us for another thread that is at it, and then does nothing: it may
/// be what a handler has interrupted.
void Copy::look() noexcept {
    if (!is_begun()) return;
    bool is_locked = lock();
    for (unsigned left = 4000; left != 0 && !is_locked; --left) is_locked = lock();
    if (!is_locked) return;
    const bool is_end_known = last_.is_still_there();
    const Map* next = is_end_known ? last_.object.map->l_next : executable_.object.map;
    const Table old = is_end_known ? tables_[published_.load(std::memory_order_relaxed) & 1] : Table{};
    if (next != nullptr) publish(old, next, false);
    unlock();
}

void Copy::renew() noexcept {
    while (!lock()) sched_yield();
    publish({}, executable_.object.map, true);
    unlock();
}

/// Publishes `old` and what the loader's list has from `next` on.
void Copy::publish(const Table& old, const Map* next, bool is_locked) noexcept {
    const std::uint32_t published = published_.load(std::memory_order_relaxed);
    const Table& present = tables_[published & 1];
    Table& table = tables_[(published + 1) & 1];
    table.count = 0;
    if (!table.reserve(old.count + 1)) return;
    if (old.count != 0) std::memcpy(static_cast<void*>(table.entries), old.entries, old.count * sizeof(Entry));
    table.count = old.count;
    bool has_news = false;
    // Without the lock, another thread may free what comes next, so each object is looked at before it is followed. A list that changes may lead anywhere.
    unsigned left = 1u << 16;
    for (; left != 0 && next != nullptr && (is_locked || (is_readable(next) && is_readable(&next->l_prev))); --left, next = next->l_next) {
        Entry entry;
        const std::uint32_t first = present.up_to(next->l_addr);
        const Entry* known = first != 0 ? &present.entries[first - 1] : nullptr;
        if (known != nullptr && known->object.map == next && known->is_described_by(*next)) {
            entry = *known;
        } else {
            if (!describe(*next, entry)) continue;
            has_news = true;
        }
        if (!table.insert(entry)) break;
        last_ = entry;
    }
    published_.store(published + 1, std::memory_order_release);
    // What was said of addresses that were in no object may be wrong now.
    if (has_news && has_missed_.exchange(false, std::memory_order_relaxed)) process_state.load_map_epoch.fetch_add(1, std::memory_order_acq_rel);
}

void Copy::begin(const Map* executable) noexcept {
    if (!is_begun()) describe(*executable, executable_);
}

void Copy::all_stay() noexcept {
    if (!lock()) return;
    Table& table = tables_[published_.load(std::memory_order_relaxed) & 1];
    for (std::uint32_t i = 0; i < table.count; ++i) table.entries[i].stays = true;
    unlock();
}

/// The executable's object is the first of the loader's list.
const Map* find_executable() noexcept {
    Dl_info symbol{};
    Map* map = nullptr;
    if (dladdr1(reinterpret_cast<void*>(&find_executable), &symbol, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) == 0) return nullptr;
    while (map != nullptr && map->l_prev != nullptr) map = map->l_prev;
    return map;
}

} // namespace

void begin_loaded_objects() noexcept {
    if (is_begun.exchange(true)) return;
    ask_copy_of_loader(std::getenv("LIBPROFILE_TEST_LOADER_COPY") != nullptr);
}

void ask_copy_of_loader(bool is_wanted) noexcept {
    void* search = is_wanted ? nullptr : dlvsym(RTLD_DEFAULT, "_dl_find_object", "GLIBC_2.35");
    loaders_search.store(reinterpret_cast<LoadersSearch>(search), std::memory_order_release);
    if (search != nullptr) return;
    if (const Map* executable = find_executable(); executable != nullptr) copy.begin(executable);
    refresh_loaded_objects();
}

void refresh_loaded_objects() noexcept {
    if (!copy.is_begun() || loaders_search.load(std::memory_order_acquire) != nullptr) return;
    real_calls().dl_iterate_phdr(
        [](dl_phdr_info*, std::size_t, void*) {
            copy.renew();
            return 1;
        },
        nullptr);
}

void loaded_objects_stay() noexcept { copy.all_stay(); }

const void* loaders_own_search() noexcept { return reinterpret_cast<const void*>(loaders_search.load(std::memory_order_acquire)); }

bool find_loaded_object(std::uintptr_t address, LoadedObject& object) noexcept {
    const LoadersSearch search = loaders_search.load(std::memory_order_acquire);
    if (search != nullptr) [[likely]] {
        FoundByLoader found;
        if (search(reinterpret_cast<void*>(address), &found) != 0) return false;
        object = {reinterpret_cast<std::uintptr_t>(found.start), reinterpret_cast<std::uintptr_t>(found.end),
                  reinterpret_cast<std::uintptr_t>(found.unwind_header), found.map};
        return true;
    }
    if (!is_begun.load(std::memory_order_acquire)) { // a constructor that runs before ours
        begin_loaded_objects();
        return find_loaded_object(address, object);
    }
    return copy.find(address, object);
}

} // namespace libprofile
