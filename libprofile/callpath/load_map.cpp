#include "libprofile/callpath/load_map.hpp"

#include "format/fnv.hpp"

#include "libprofile/base/hashing.hpp"
#include "libprofile/base/loaded_objects.hpp"

#include "libprofile/callpath/dynamic_symbols.hpp"
#include "libprofile/callpath/module_name.hpp"

#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

namespace libprofile {

constinit LoadMap load_map;

namespace {

std::uint64_t hash_bytes(const void* bytes, std::size_t size, std::uint64_t start = fnv_start) { return fnv1a(static_cast<const char*>(bytes), size, start); }

struct BuildId {
    unsigned char bytes[sizeof Module::build_id] = {};
    std::uint8_t size = 0;
};

/// Reads the GNU build-id note in a module's mapped memory.
BuildId read_build_id(std::uintptr_t bias, const ElfW(Phdr) * headers, std::uint16_t header_count) {
    BuildId id;
    for (std::uint16_t i = 0; i < header_count; ++i) {
        const ElfW(Phdr)& header = headers[i];
        if (header.p_type != PT_NOTE) continue;
        const auto* note = reinterpret_cast<const unsigned char*>(bias + header.p_vaddr);
        const unsigned char* end = note + header.p_memsz;
        const std::size_t align = header.p_align == 8 ? 8 : 4;
        while (note + sizeof(ElfW(Nhdr)) <= end) {
            ElfW(Nhdr) head;
            std::memcpy(&head, note, sizeof head);
            const unsigned char* name = note + sizeof head;
            const unsigned char* value = name + ((head.n_namesz + align - 1) & ~(align - 1));
            const unsigned char* next = value + ((head.n_descsz + align - 1) & ~(align - 1));
            if (next > end || next <= note) break;
            if (head.n_type == NT_GNU_BUILD_ID && head.n_namesz == 4 && std::memcmp(name, "GNU", 4) == 0) {
                id.size = static_cast<std::uint8_t>(head.n_descsz < sizeof id.bytes ? head.n_descsz : sizeof id.bytes);
                std::memcpy(id.bytes, value, id.size);
                return id;
            }
            note = next;
        }
    }
    return id;
}

/// Asks the kernel for the file mapped at `address`. Async-signal-safe. Returns false if there is none or its name is too long.
bool find_mapped_file(std::uintptr_t address, char* path, std::size_t size) {
    const int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    if (fd < 0) return false;
    // Lines: start-end flags offset device inode     path, in the order of addresses.
    constexpr unsigned path_column = 5;
    std::uintptr_t start = 0;
    unsigned column = 0;
    std::size_t length = 0;
    bool is_start = true, is_found = false, is_over = false;
    char buffer[1024];
    while (!is_over) {
        const ssize_t n = read(fd, buffer, sizeof buffer);
        if (n <= 0) break;
        for (ssize_t i = 0; i < n && !is_over; ++i) {
            const char c = buffer[i];
            if (c == '\n') {
                is_over = is_found = start == address;
                start = column = 0;
                is_start = true;
            } else if (is_start) {
                is_start = c != '-';
                if (is_start) start = start * 16 + static_cast<std::uintptr_t>(c <= '9' ? c - '0' : c - 'a' + 10);
            } else if (start == address) {
                if (column < path_column) {
                    // Any number of blanks precedes the path.
                    if (c == ' ' && ++column == path_column) length = 0;
                } else if ((c != ' ' || length != 0) && length + 1 < size) {
                    path[length++] = c;
                } else if (c != ' ') {
                    is_over = true; // too long
                }
            }
        }
    }
    close(fd);
    path[is_found ? length : 0] = 0;
    return is_found && *path == '/';
}

/// The same, by the whole mapping: the kernel's list may have thousands of lines.
bool find_mapped_file(const Module& module, char* path, std::size_t size) {
    std::uintptr_t end = 0;
    for (std::uint16_t i = 0; i < module.header_count && end == 0; ++i)
        if (module.headers[i].p_type == PT_LOAD) end = (module.bias + module.headers[i].p_vaddr + module.headers[i].p_filesz + 4095) & ~std::uintptr_t{4095};
    char link[80];
    std::snprintf(link, sizeof link, "/proc/self/map_files/%lx-%lx", module.start, end);
    const ssize_t n = readlink(link, path, size);
    if (n <= 0 || static_cast<std::size_t>(n) >= size) return find_mapped_file(module.start, path, size);
    path[n] = 0;
    return *path == '/';
}

void classify(Module& module) {
    const char* name = file_name(module.path);
    module.binding_layer = starts_with(name, "libmpi_mpifh", "libmpi_usempi", "libmpi_ignore_tkr", "libmpichfort", "libmpifort", "libmpi_ilp64", "libmpi_cxx",
                                       "libmpichcxx", "libmpicxx", "libgomp.so", "libgomp-", "libomp.so", "libomp-", "libiomp5.so");
    module.is_libc = is_c_library(name);
    module.is_cxx_runtime = starts_with(name, "libstdc++.so");
    module.copies_stacks = starts_with(name, "_greenlet");
    const auto self = reinterpret_cast<std::uintptr_t>(&load_map);
    // Unit tests contain the runtime; they are not a layer of libprofile.
    module.is_libprofile = !module.is_executable && module.start <= self && self < module.end;
}

/// Returns true if the loader's object can be this module. Reads nothing of it, since another thread may be unloading it. refresh() makes sure.
bool can_be(const Module& module, const LoadedObject& object) {
    if (module.is_executable) return true;
    std::uintptr_t table = 0;
    for (std::uint16_t i = 0; i < module.header_count; ++i)
        if (module.headers[i].p_type == PT_GNU_EH_FRAME) table = module.bias + module.headers[i].p_vaddr;
    return module.start == object.start && table == object.unwind_header && std::strcmp(module.loader_name, object.map->l_name) == 0;
}

} // namespace

struct LoadMap::Found {
    std::uintptr_t start, end, bias;
    const char* name; // the loader's; empty for the executable
    const ElfW(Phdr) * headers;
    std::uint16_t header_count;
    std::uint32_t seen; // the refresh() that met it
    BuildId id;

    bool is_executable() const { return name == nullptr || *name == 0; }
};

void LoadMap::lock() noexcept {
    while (busy_.test_and_set(std::memory_order_acquire)) sched_yield();
}

/// Returns the module with that bias that holds `address`, or `none`. Lock-free.
std::uint32_t LoadMap::known_at(std::uintptr_t bias, std::uintptr_t address) const noexcept {
    std::uint64_t compared = 0;
    std::uint32_t link = loaded_[bucket(bias >> 12)].load(std::memory_order_acquire);
    for (; link != 0; link = modules_[link - 1].next_loaded.load(std::memory_order_acquire)) {
        const Module& module = modules_[link - 1];
        ++compared;
        if (module.loaded.load(std::memory_order_acquire) && module.bias == bias && module.start <= address && address < module.end) break;
    }
    comparisons_.fetch_add(compared, std::memory_order_relaxed);
    return link - 1;
}

/// Returns true if the module at that address is still this one, not another that replaced it.
bool LoadMap::is_current(const Module& module, const Found& found) const noexcept {
    comparisons_.fetch_add(1, std::memory_order_relaxed);
    if (module.start != found.start || module.bias != found.bias || module.is_executable != found.is_executable()) return false;
    if (module.is_executable) return true;
    if (module.headers != nullptr &&
        (module.header_count != found.header_count || std::memcmp(module.headers, found.headers, found.header_count * sizeof *found.headers) != 0))
        return false;
    return module.build_id_size == found.id.size && std::memcmp(module.build_id, found.id.bytes, found.id.size) == 0 &&
           std::strcmp(module.loader_name, found.name) == 0;
}

void LoadMap::link(std::uint32_t number) noexcept {
    Module& module = modules_[number];
    std::atomic<std::uint32_t>& first = loaded_[bucket(module.bias >> 12)];
    module.next_loaded.store(first.load(std::memory_order_relaxed), std::memory_order_relaxed);
    module.loaded.store(true, std::memory_order_release);
    first.store(number + 1, std::memory_order_release);
    arrivals_.fetch_add(1, std::memory_order_acq_rel);
}

/// A thread that is reading the list goes on from the module, whose link stays.
void LoadMap::unlink(std::uint32_t number) noexcept {
    Module& module = modules_[number];
    std::atomic<std::uint32_t>* link = &loaded_[bucket(module.bias >> 12)];
    while (link->load(std::memory_order_relaxed) != number + 1) link = &modules_[link->load(std::memory_order_relaxed) - 1].next_loaded;
    link->store(module.next_loaded.load(std::memory_order_relaxed), std::memory_order_release);
    module.loaded.store(false, std::memory_order_release);
}

std::uint32_t LoadMap::append(const Found& found, std::uint64_t identity) noexcept {
    Module* module = modules_.append(arena_);
    if (module == nullptr) return none;
    module->start = found.start;
    module->end = found.end;
    module->bias = found.bias;
    module->is_executable = found.is_executable();
    module->identity = identity;
    // A copy, because the originals go when the module is unloaded, and another thread may be doing that now.
    if (auto* copy = arena_.array<ElfW(Phdr)>(found.header_count)) {
        std::memcpy(copy, found.headers, found.header_count * sizeof *copy);
        module->headers = copy;
        module->header_count = found.header_count;
    }
    const char* path = found.name;
    char file[4096];
    if (module->is_executable) {
        const ssize_t n = readlink("/proc/self/exe", file, sizeof file - 1);
        file[n > 0 ? n : 0] = 0;
        path = file;
    }
    module->path = module->loader_name = arena_.copy_text(path);
    // dlopen("./plugin.so") gives a path that is useless in another folder.
    if (*path != '/' && std::strchr(path, '/') != nullptr && find_mapped_file(*module, file, sizeof file)) module->path = arena_.copy_text(file);
    module->build_id_size = found.id.size;
    std::memcpy(module->build_id, found.id.bytes, found.id.size);
    classify(*module);
    module->hash = found.id.size != 0 ? hash_bytes(found.id.bytes, found.id.size) : hash_bytes(module->path, std::strlen(module->path));
    if (module->copies_stacks) copies_stacks_.store(true, std::memory_order_release);
    if (module->is_cxx_runtime) cxx_runtime_.store(true, std::memory_order_release);
    const std::uint32_t number = count_.load(std::memory_order_relaxed);
    std::uint32_t& alike = alike_[bucket(identity)];
    module->next_alike = alike;
    alike = number + 1;
    count_.store(number + 1, std::memory_order_release);
    return number;
}

/// Returns the number of the module that the loader has there: a known one, one that came back, or a new one.
std::uint32_t LoadMap::take_in(const Found& found) noexcept {
    const std::uint32_t now = epoch();
    lock();
    std::uint32_t number = known_at(found.bias, found.start);
    if (number != none && !is_current(modules_[number], found)) {
        unlink(number);
        number = none;
    }
    if (number == none) {
        const std::uint64_t bias_and_id = hash_bytes(found.id.bytes, found.id.size, found.bias);
        const std::uint64_t identity = found.is_executable() ? bias_and_id : hash_bytes(found.name, std::strlen(found.name), bias_and_id);
        std::uint32_t alike = alike_[bucket(identity)];
        while (alike != 0 && (modules_[alike - 1].identity != identity || modules_[alike - 1].loaded.load(std::memory_order_relaxed) ||
                              !is_current(modules_[alike - 1], found)))
            alike = modules_[alike - 1].next_alike;
        number = alike != 0 ? alike - 1 : append(found, identity);
        if (number != none) link(number);
    }
    if (number != none) {
        modules_[number].checked.store(epoch_to_keep(now), std::memory_order_release);
        modules_[number].seen = found.seen;
    }
    unlock();
    return number;
}

std::uint32_t LoadMap::find(std::uintptr_t address) noexcept {
    LoadedObject object;
    if (!find_loaded_object(address, object)) return none;
    const std::uintptr_t start = object.start;
    const std::uintptr_t bias = object.bias;
    const std::uint32_t now = epoch();
    const std::uint64_t state = std::uint64_t{arrivals() + now} << 32;
    std::atomic<std::uint64_t>& recent = recent_[short_hash(start >> 12, recent_bits)];
    const std::uint64_t last = recent.load(std::memory_order_relaxed);
    if (last >> 32 == state >> 32 && size() != 0 && is_settled(now)) {
        const Module& module = modules_[static_cast<std::uint32_t>(last)];
        if (module.loaded.load(std::memory_order_acquire) && module.bias == bias && module.start <= address && address < module.end)
            return static_cast<std::uint32_t>(last);
    }
    const std::uint32_t number = known_at(bias, address);
    if (number != none && (modules_[number].checked.load(std::memory_order_acquire) == now || can_be(modules_[number], object))) {
        if (is_settled(now)) {
            modules_[number].checked.store(now, std::memory_order_release);
            recent.store(state | number, std::memory_order_relaxed);
        }
        return number;
    }
    // A module that appeared since the last refresh. Its ELF header is mapped at its start.
    const auto* header = reinterpret_cast<const ElfW(Ehdr)*>(start);
    if (std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return number;
    const auto* headers = reinterpret_cast<const ElfW(Phdr)*>(start + header->e_phoff);
    mark_stale();
    return take_in({start, object.end, bias, object.map->l_name, headers, header->e_phnum, refreshes_.load(std::memory_order_relaxed),
                    read_build_id(bias, headers, header->e_phnum)});
}

bool LoadMap::has_unloaded(unsigned long long& unloads) const noexcept {
    visit_loaded_objects(
        [](dl_phdr_info* info, std::size_t, void* data) {
            *static_cast<unsigned long long*>(data) = info->dlpi_subs;
            return 1;
        },
        &unloads);
    return !is_noticed(unloads);
}

void LoadMap::invalidate() noexcept {
    refresh_loaded_objects();
    next_load_epoch();
}

void LoadMap::refresh_if_new() noexcept {
    if (is_stale() || !is_still_last(last_start_.load(std::memory_order_relaxed), last_.load(std::memory_order_relaxed))) refresh();
}

void LoadMap::refresh() noexcept {
    struct Look {
        LoadMap& map;
        unsigned long long loads, removals;
        std::uint32_t number;
    } look{*this, 0, 0, 0};
    stale_.store(false, std::memory_order_relaxed);
    // The loader's lock is held here, so nothing is unloaded meanwhile.
    visit_loaded_objects(
        [](dl_phdr_info* info, std::size_t, void* data) {
            Look& now = *static_cast<Look*>(data);
            LoadMap& map = now.map;
            if (now.number == 0) {
                now.loads = info->dlpi_adds;
                now.removals = info->dlpi_subs;
                if (now.loads == map.loads_.load(std::memory_order_relaxed) && now.removals == map.removals_.load(std::memory_order_relaxed)) return 1;
                now.number = map.refreshes_.fetch_add(1, std::memory_order_relaxed) + 1;
                const LoadedObject last = last_loaded_object();
                map.last_start_.store(last.start, std::memory_order_relaxed);
                map.last_.store(last.map, std::memory_order_relaxed);
            }
            std::uintptr_t start = UINTPTR_MAX;
            std::uintptr_t end = 0;
            for (int i = 0; i < info->dlpi_phnum; ++i) {
                const ElfW(Phdr)& header = info->dlpi_phdr[i];
                if (header.p_type != PT_LOAD) continue;
                const std::uintptr_t first = (info->dlpi_addr + header.p_vaddr) & ~std::uintptr_t{4095};
                const std::uintptr_t last = info->dlpi_addr + header.p_vaddr + header.p_memsz;
                if (first < start) start = first;
                if (last > end) end = last;
            }
            if (end != 0)
                map.take_in({start, end, info->dlpi_addr, info->dlpi_name, info->dlpi_phdr, info->dlpi_phnum, now.number,
                             read_build_id(info->dlpi_addr, info->dlpi_phdr, info->dlpi_phnum)});
            return 0;
        },
        &look);
    if (look.number == 0) return;
    if (look.removals != removals_.load(std::memory_order_relaxed)) drop_unseen(look.number);
    loads_.store(look.loads, std::memory_order_relaxed);
    removals_.store(look.removals, std::memory_order_relaxed);
    find_cxx_globals();
}

/// Removes from the list what this refresh did not meet, if it is really gone: other refreshes may run, find() may add new modules, and
/// modules in other namespaces of the loader are never met.
void LoadMap::drop_unseen(std::uint32_t refresh) noexcept {
    lock();
    for (const std::atomic<std::uint32_t>& first : loaded_) {
        for (std::uint32_t link = first.load(std::memory_order_relaxed); link != 0;) {
            const Module& module = modules_[link - 1];
            const std::uint32_t number = link - 1;
            link = module.next_loaded.load(std::memory_order_relaxed);
            comparisons_.fetch_add(1, std::memory_order_relaxed);
            LoadedObject object;
            if (module.seen >= refresh || module.is_executable) continue;
            if (!find_loaded_object(module.start, object) || !can_be(module, object)) unlink(number);
        }
    }
    unlock();
}

void LoadMap::find_cxx_globals() noexcept {
    if (!has_cxx_runtime() || cxx_globals_.load(std::memory_order_relaxed) != nullptr) return;
    for (std::uint32_t i = 0; i < size(); ++i) {
        const Module& module = modules_[i];
        if (!module.loaded || !module.is_cxx_runtime || module.headers == nullptr) continue;
        const std::uintptr_t get = find_dynamic_symbol(module.bias, module.headers, module.header_count, "__cxa_get_globals");
        if (get != 0) return cxx_globals_.store(reinterpret_cast<void* (*)()>(get), std::memory_order_release);
    }
}

const std::uint32_t* LoadMap::exceptions_in_flight() const noexcept {
    void* (*get)() = cxx_globals_.load(std::memory_order_acquire);
    // The Itanium C++ ABI, section 2.2.2: a pointer to the caught exceptions, then the number of those not yet caught.
    return get == nullptr ? nullptr : reinterpret_cast<const std::uint32_t*>(static_cast<const char*>(get()) + sizeof(void*));
}

int LoadMap::iterate(PhdrCallback callback, void* data) noexcept {
    for (const std::atomic<std::uint32_t>& first : loaded_) {
        for (std::uint32_t link = first.load(std::memory_order_acquire); link != 0;) {
            const Module& module = modules_[link - 1];
            link = module.next_loaded.load(std::memory_order_acquire);
            // The module may be gone or replaced: libc unloads modules of its own without our notice.
            LoadedObject object;
            if (!module.loaded.load(std::memory_order_acquire)) continue;
            if (!module.is_executable && (!find_loaded_object(module.start, object) || !can_be(module, object))) continue;
            dl_phdr_info info{};
            info.dlpi_addr = module.bias;
            info.dlpi_name = module.path;
            info.dlpi_phdr = module.headers;
            info.dlpi_phnum = module.header_count;
            info.dlpi_adds = size();
            const int result = callback(&info, sizeof info, data);
            if (result != 0) return result;
        }
    }
    return 0;
}

} // namespace libprofile
