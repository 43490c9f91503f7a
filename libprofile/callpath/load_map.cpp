#include "libprofile/callpath/load_map.hpp"

#include "libprofile/callpath/dynamic_symbols.hpp"
#include "libprofile/callpath/module_name.hpp"

#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

namespace libprofile {

constinit LoadMap load_map;

namespace {

std::uint64_t hash_bytes(const void* bytes, std::size_t size) {
    const auto* p = static_cast<const unsigned char*>(bytes);
    std::uint64_t h = 0xcbf29ce484222325u; // FNV-1a
    for (std::size_t i = 0; i < size; ++i) h = (h ^ p[i]) * 0x100000001b3u;
    return h;
}

/// Finds the GNU build-id note in the module's mapped memory.
void read_build_id(Module& module) {
    for (std::uint16_t i = 0; i < module.header_count; ++i) {
        const ElfW(Phdr)& header = module.headers[i];
        if (header.p_type != PT_NOTE) continue;
        const auto* note = reinterpret_cast<const unsigned char*>(module.bias + header.p_vaddr);
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
                module.build_id_size =
                    static_cast<std::uint8_t>(head.n_descsz < sizeof module.build_id ? head.n_descsz : sizeof module.build_id);
                std::memcpy(module.build_id, value, module.build_id_size);
                return;
            }
            note = next;
        }
    }
}

/// The file that is mapped at `address`, by the kernel. Async-signal-safe. False: none, or its name does not fit.
bool find_mapped_file(std::uintptr_t address, char* path, std::size_t size) {
    const int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    if (fd < 0) return false;
    // Lines: start-end flags offset device inode     path. They come in the order of addresses.
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
                    // Blanks before the path are as many as it takes.
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

void classify(Module& module) {
    const char* name = file_name(module.path);
    module.binding_layer = starts_with(name, "libmpi_mpifh", "libmpi_usempi", "libmpi_ignore_tkr", "libmpichfort", "libmpifort",
                                       "libmpi_cxx", "libmpichcxx", "libmpicxx", "libgomp.so", "libgomp-", "libomp.so", "libomp-", "libiomp5.so");
    module.is_libc = is_c_library(name);
    module.is_cxx_runtime = starts_with(name, "libstdc++.so");
    module.copies_stacks = starts_with(name, "_greenlet");
    const auto self = reinterpret_cast<std::uintptr_t>(&load_map);
    // Unit tests are linked with the runtime; there it is no layer of its own.
    module.is_libprofile = !module.is_executable && module.start <= self && self < module.end;
}

} // namespace

void LoadMap::lock() noexcept {
    while (busy_.test_and_set(std::memory_order_acquire)) sched_yield();
}

std::uint32_t LoadMap::add(std::uintptr_t start, std::uintptr_t end, std::uintptr_t bias, const char* path,
                           const ElfW(Phdr)* headers, std::uint16_t header_count) noexcept {
    lock();
    std::uint32_t id = none;
    const std::uint32_t count = count_.load(std::memory_order_relaxed);
    for (std::uint32_t i = 0; i < count && id == none; ++i)
        if (modules_[i].loaded && modules_[i].start == start && modules_[i].bias == bias) id = i;
    if (id == none) {
        Module* module = modules_.append(arena_);
        if (module != nullptr) {
            module->start = start;
            module->end = end;
            module->bias = bias;
            // A copy: the originals go when the module is unloaded, which another thread may be doing right now.
            if (auto* copy = arena_.array<ElfW(Phdr)>(header_count)) {
                std::memcpy(copy, headers, header_count * sizeof *copy);
                module->headers = copy;
                module->header_count = header_count;
            }
            module->is_executable = path == nullptr || *path == 0;
            char executable[4096];
            if (module->is_executable) {
                const ssize_t n = readlink("/proc/self/exe", executable, sizeof executable - 1);
                executable[n > 0 ? n : 0] = 0;
                path = executable;
            }
            module->path = module->loader_name = arena_.copy_text(path);
            // dlopen("./plugin.so"): nobody finds that from another folder.
            if (*path != '/' && std::strchr(path, '/') != nullptr && find_mapped_file(start, executable, sizeof executable))
                module->path = arena_.copy_text(executable);
            read_build_id(*module);
            classify(*module);
            module->hash = module->build_id_size != 0 ? hash_bytes(module->build_id, module->build_id_size)
                                                      : hash_bytes(module->path, std::strlen(module->path));
            module->loaded = true;
            if (module->copies_stacks) copies_stacks_.store(true, std::memory_order_release);
            if (module->is_cxx_runtime) cxx_runtime_.store(true, std::memory_order_release);
            id = count;
            count_.store(count + 1, std::memory_order_release);
        }
    }
    unlock();
    return id;
}

std::uint32_t LoadMap::find(std::uintptr_t address) noexcept {
    dl_find_object object;
    if (_dl_find_object(reinterpret_cast<void*>(address), &object) != 0) return none;
    const auto start = reinterpret_cast<std::uintptr_t>(object.dlfo_map_start);
    const auto bias = static_cast<std::uintptr_t>(object.dlfo_link_map->l_addr);
    const auto is_it = [&](const Module& module) {
        return module.loaded && module.bias == bias && module.start <= address && address < module.end;
    };
    // Newest first: a module unloaded without our notice loses against the one that took its place.
    const std::uint32_t count = size();
    std::atomic<std::uint64_t>& recent = recent_[(start >> 12) * 0x9e3779b97f4a7c15u >> (64 - recent_bits)];
    const std::uint64_t known = recent.load(std::memory_order_relaxed);
    if (count != 0 && known >> 32 == count && is_it(modules_[static_cast<std::uint32_t>(known)])) return static_cast<std::uint32_t>(known);
    for (std::uint32_t i = count; i-- > 0;) {
        if (!is_it(modules_[i])) continue;
        recent.store(std::uint64_t{count} << 32 | i, std::memory_order_relaxed);
        return i;
    }
    // A module that appeared since the last refresh: its ELF header is mapped at its start.
    const auto* header = static_cast<const ElfW(Ehdr)*>(object.dlfo_map_start);
    if (std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return none;
    const auto* headers = reinterpret_cast<const ElfW(Phdr)*>(start + header->e_phoff);
    mark_stale();
    return add(start, reinterpret_cast<std::uintptr_t>(object.dlfo_map_end), bias, object.dlfo_link_map->l_name, headers,
               header->e_phnum);
}

void LoadMap::refresh() noexcept {
    stale_.store(false, std::memory_order_relaxed);
    // Gone modules first, so that a newcomer at the same address is not taken for its predecessor.
    const std::uint32_t count = size();
    for (std::uint32_t i = 0; i < count; ++i) {
        dl_find_object object;
        Module& module = modules_[i];
        if (!module.loaded || module.is_executable) continue;
        const bool there = _dl_find_object(reinterpret_cast<void*>(module.start), &object) == 0 &&
                           reinterpret_cast<std::uintptr_t>(object.dlfo_map_start) == module.start &&
                           std::strcmp(object.dlfo_link_map->l_name, module.loader_name) == 0;
        if (!there) module.loaded = false;
    }
    real_calls().dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* data) {
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
                static_cast<LoadMap*>(data)->add(start, end, info->dlpi_addr, info->dlpi_name, info->dlpi_phdr,
                                                 info->dlpi_phnum);
            return 0;
        },
        this);
    find_cxx_globals();
}

void LoadMap::refresh_if_new() noexcept {
    unsigned long long loads = 0;
    real_calls().dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* data) {
            *static_cast<unsigned long long*>(data) = info->dlpi_adds;
            return 1;
        },
        &loads);
    if (loads_.exchange(loads, std::memory_order_relaxed) != loads) refresh();
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
    // The Itanium C++ ABI, section 2.2.2: a pointer to the caught ones, then the number of those not yet caught.
    return get == nullptr ? nullptr : reinterpret_cast<const std::uint32_t*>(static_cast<const char*>(get()) + sizeof(void*));
}

int LoadMap::iterate(PhdrCallback callback, void* data) noexcept {
    const std::uint32_t count = size();
    for (std::uint32_t i = 0; i < count; ++i) {
        const Module& module = modules_[i];
        // libc unloads modules of its own (name services, character sets) without our notice; their headers are gone.
        dl_find_object object;
        if (!module.loaded) continue;
        if (!module.is_executable && _dl_find_object(reinterpret_cast<void*>(module.start), &object) != 0) continue;
        dl_phdr_info info{};
        info.dlpi_addr = module.bias;
        info.dlpi_name = module.path;
        info.dlpi_phdr = module.headers;
        info.dlpi_phnum = module.header_count;
        info.dlpi_adds = count;
        const int result = callback(&info, sizeof info, data);
        if (result != 0) return result;
    }
    return 0;
}

} // namespace libprofile
