#include "libprofile/base/loaded_objects.hpp"

#include "libprofile/base/loader_copy.hpp"
#include "libprofile/base/signals_wait.hpp"

#include <atomic>
#include <cstdlib>
#include <dlfcn.h>
#include <link.h>

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

constinit LoaderCopy copy;

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
    visit_loaded_objects(
        [](dl_phdr_info*, std::size_t, void*) {
            copy.renew();
            return 1;
        },
        nullptr);
}

void visit_loaded_objects(PhdrCallback visit, void* data) noexcept {
    const SignalsWait wait;
    real_calls().dl_iterate_phdr(visit, data);
}

LoadedObject last_loaded_object() noexcept {
    LoadedObject object;
    if (!find_loaded_object(reinterpret_cast<std::uintptr_t>(&last_loaded_object), object)) return {};
    const Map* last = object.map;
    while (last->l_next != nullptr) last = last->l_next;
    return find_loaded_object(reinterpret_cast<std::uintptr_t>(last->l_ld), object) && object.map == last ? object : LoadedObject{};
}

bool is_still_last(std::uintptr_t start, const Map* map) noexcept {
    LoadedObject object;
    if (loaders_own_search() == nullptr || !find_loaded_object(start, object)) return false;
    return object.map == map && __atomic_load_n(&map->l_next, __ATOMIC_ACQUIRE) == nullptr;
}

void loaded_objects_stay() noexcept { copy.all_stay(); }

const void* loaders_own_search() noexcept { return reinterpret_cast<const void*>(loaders_search.load(std::memory_order_acquire)); }

bool find_loaded_object(std::uintptr_t address, LoadedObject& object) noexcept {
    const LoadersSearch search = loaders_search.load(std::memory_order_acquire);
    if (search != nullptr) [[likely]] {
        FoundByLoader found;
        if (search(reinterpret_cast<void*>(address), &found) != 0) return false;
        object = {reinterpret_cast<std::uintptr_t>(found.start),
                  reinterpret_cast<std::uintptr_t>(found.end),
                  reinterpret_cast<std::uintptr_t>(found.unwind_header),
                  found.map->l_addr,
                  found.map->l_prev == nullptr,
                  found.map};
        return true;
    }
    if (!is_begun.load(std::memory_order_acquire)) { // a constructor that runs before ours
        begin_loaded_objects();
        return find_loaded_object(address, object);
    }
    return copy.find(address, object);
}

} // namespace libprofile
