#include "libprofile/regions/sleds.hpp"

#include "libprofile/base/file_pieces.hpp"
#include "libprofile/base/real_calls.hpp"
#include "libprofile/code/patch.hpp"
#include "libprofile/regions/function_filter.hpp"

#include <cpuid.h>
#include <cstdio>
#include <cstring>
#include <elf.h>
#include <sys/mman.h>

namespace libprofile {

constinit Sleds sleds;

extern "C" {
[[gnu::visibility("hidden")]] void libprofile_sled_entry() noexcept;
[[gnu::visibility("hidden")]] void libprofile_sled_return() noexcept;
[[gnu::visibility("hidden")]] void libprofile_sled_jump() noexcept;
// Set if the processor tells which vector registers are in use.
[[gnu::visibility("hidden")]] extern std::uint8_t libprofile_tells_vector_use;
constinit std::uint8_t libprofile_tells_vector_use = 0;
}

namespace {

constexpr std::uintptr_t page = 4096;
constexpr std::size_t sled_size = 11;
constexpr std::uint8_t known_version = 2;

/// Finds the section's address in the file, and its size. Returns false if there is none.
bool find_section(const char* path, std::uint64_t& address, std::uint64_t& size) noexcept {
    constexpr std::uint64_t most_headers = 4 << 20;
    Pieces file(path);
    Elf64_Ehdr header{};
    if (!file.read(0, &header, sizeof header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
        header.e_shentsize != sizeof(Elf64_Shdr) || header.e_shstrndx >= header.e_shnum)
        return false;
    const auto* sections = reinterpret_cast<const Elf64_Shdr*>(file.piece(header.e_shoff, std::uint64_t{header.e_shnum} * sizeof(Elf64_Shdr), most_headers));
    if (sections == nullptr) return false;
    const Elf64_Shdr& strings = sections[header.e_shstrndx];
    const char* names = file.piece(strings.sh_offset, strings.sh_size, most_headers);
    if (names == nullptr) return false;
    for (unsigned i = 0; i < header.e_shnum; ++i) {
        const Elf64_Shdr& section = sections[i];
        if (section.sh_name >= strings.sh_size || (section.sh_flags & SHF_ALLOC) == 0 || std::strcmp(names + section.sh_name, "xray_instr_map") != 0) continue;
        address = section.sh_addr;
        size = section.sh_size;
        return true;
    }
    return false;
}

/// Libraries of the distribution are not instrumented, so they need not be read.
bool is_of_system(const char* path) { return std::strncmp(path, "/usr/lib", 8) == 0 || std::strncmp(path, "/lib", 4) == 0; }

void put(unsigned char*& at, std::initializer_list<unsigned> bytes, std::intptr_t distance) {
    for (const unsigned byte : bytes) *at++ = static_cast<unsigned char>(byte);
    const auto value = static_cast<std::int32_t>(distance - 4);
    std::memcpy(at, &value, sizeof value);
    at += sizeof value;
}

/// Writes code near the module: it turns the offset in r10 into an address and continues in our code, at 32 + 16 * kind.
bool write_way(unsigned char* way, std::uintptr_t bias) noexcept {
    void (*const stubs[])() noexcept = {libprofile_sled_entry, libprofile_sled_return, libprofile_sled_jump};
    std::memcpy(way, &bias, sizeof bias);
    std::memcpy(way + 8, stubs, sizeof stubs);
    for (unsigned kind = 0; kind < 3; ++kind) {
        unsigned char* at = way + 32 + 16 * kind;
        put(at, {0x4c, 0x03, 0x15}, way - (at + 3));          // add bias(%rip), %r10
        put(at, {0xff, 0x25}, way + 8 + 8 * kind - (at + 2)); // jmp *stub(%rip)
    }
    return mprotect(way, page, PROT_READ | PROT_EXEC) == 0;
}

/// Returns true if the sled is as the compiler left it.
bool is_untouched(const unsigned char* sled, SledKind kind) { return kind == SledKind::Return ? sled[0] == 0xc3 : sled[0] == 0xeb && sled[1] == sled_size - 2; }

/// Writes: mov $offset, %r10d; call or jmp to `target`.
void lead(unsigned char* sled, SledKind kind, std::uint32_t offset, const unsigned char* target) noexcept {
    unsigned char code[sled_size] = {0x41, 0xba};
    std::memcpy(code + 2, &offset, sizeof offset);
    code[6] = kind == SledKind::Return ? 0xe9 : 0xe8;
    const auto distance = static_cast<std::int32_t>(target - (sled + sled_size));
    std::memcpy(code + 7, &distance, sizeof distance);
    std::memcpy(sled + 2, code + 2, sled_size - 2);
    std::uint16_t first = 0;
    std::memcpy(&first, code, sizeof first);
    __atomic_store_n(reinterpret_cast<std::uint16_t*>(sled), first, __ATOMIC_SEQ_CST);
}

} // namespace

bool Sleds::are_in_program() noexcept {
    const int saved = errno;
    std::uint64_t address = 0, size = 0;
    const bool found = find_section("/proc/self/exe", address, size);
    errno = saved;
    return found;
}

void Sleds::find(const Module& module, Known& known) noexcept {
    std::uint64_t address = 0, size = 0;
    if (module.is_libc || module.is_libprofile || (!module.is_executable && is_of_system(module.path))) return;
    if (!find_section(module.is_executable ? "/proc/self/exe" : module.path, address, size)) return;
    if (readable(module, module.bias + address, false) < size) return; // another file than the loaded one
    known.sleds = reinterpret_cast<const SledEntry*>(module.bias + address);
    known.count = size / sizeof(SledEntry);
}

void Sleds::patch(const Module& module, Known& known) noexcept {
    const auto fail = [this, &module](const char* why) {
        std::snprintf(complaint_, sizeof complaint_, "functions of %.80s are not followed: %s", module.path, why);
    };
    // At an earlier loading the file may have been a different one.
    if (readable(module, reinterpret_cast<std::uintptr_t>(known.sleds), false) < known.count * sizeof(SledEntry)) return;
    if (known.sleds[0].version != known_version) return fail("their XRay sleds have a version other than 2");
    // The pages that contain them.
    std::uintptr_t low = UINTPTR_MAX, high = 0;
    const auto address_of = [](const SledEntry& entry) {
        return reinterpret_cast<std::uintptr_t>(&entry.address) + static_cast<std::uintptr_t>(entry.address);
    };
    const auto function_of = [](const SledEntry& entry) {
        return reinterpret_cast<std::uintptr_t>(&entry.function) + static_cast<std::uintptr_t>(entry.function);
    };
    for (std::uint64_t i = 0; i < known.count; ++i) {
        const std::uintptr_t at = address_of(known.sleds[i]);
        if (at % 2 != 0 || readable(module, at, true) < sled_size || readable(module, function_of(known.sleds[i]), true) == 0)
            return fail("the list of their XRay sleds is damaged");
        if (at < low) low = at;
        if (at + sled_size > high) high = at + sled_size;
    }
    if (known.way == nullptr) {
        unsigned char* way = map_near(low, module);
        if (way == nullptr || !write_way(way, module.bias)) return fail("no memory is available near their code");
        const std::uintptr_t address = reinterpret_cast<std::uintptr_t>(way);
        if (high - (address < low ? address : low) > 0x7fff0000u || (address > high ? address - low : 0) > 0x7fff0000u) return fail("their code is too large");
        known.way = way;
    }
    low &= ~(page - 1);
    high = (high + page - 1) & ~(page - 1);
    if (mprotect(reinterpret_cast<void*>(low), high - low, PROT_READ | PROT_WRITE | PROT_EXEC) != 0)
        return fail("this system does not permit running code to be changed");
    std::uintptr_t followed = 0; // the function whose entry leads to us; its exits must, too
    for (std::uint64_t i = 0; i < known.count; ++i) {
        const SledEntry& entry = known.sleds[i];
        const auto kind = static_cast<SledKind>(entry.kind);
        auto* sled = reinterpret_cast<unsigned char*>(address_of(entry));
        const std::uintptr_t function = function_of(entry);
        if (kind > SledKind::Jump || !is_untouched(sled, kind)) continue;
        if (kind == SledKind::Entry) {
            if (function_filter.excludes(function)) continue;
            followed = function;
        } else if (function != followed) {
            continue;
        }
        lead(sled, kind, static_cast<std::uint32_t>(function - module.bias), known.way + 32 + 16 * entry.kind);
    }
    mprotect(reinterpret_cast<void*>(low), high - low, PROT_READ | PROT_EXEC);
}

void Sleds::look_for_new() noexcept {
    load_map.refresh_if_new();
    look();
}

void Sleds::look_now() noexcept {
    if (busy_.test_and_set(std::memory_order_acquire)) return;
    const int saved = errno;
    epoch_.store(number_of_epoch(load_map.epoch()), std::memory_order_relaxed);
    modules_.store(load_map.arrivals(), std::memory_order_relaxed);
    function_filter.follow_modules();
    for (std::uint32_t number = 0; number < load_map.size(); ++number) {
        const Module& module = load_map[number];
        const bool is_new = number == known_.size();
        if (is_new && known_.append(arena_) == nullptr) break;
        Known& known = known_[number];
        if (!module.loaded || module.headers == nullptr) continue;
        if (is_new) {
            known = {};
            find(module, known);
        }
        if (known.count == 0) continue;
        unsigned a = 0, b = 0, c = 0, d = 0;
        if (!find_vector_state()) break;
        libprofile_tells_vector_use = __get_cpuid_count(0xd, 1, &a, &b, &c, &d) != 0 && (a & 4) != 0;
        patch(module, known);
    }
    errno = saved;
    busy_.clear(std::memory_order_release);
}

} // namespace libprofile
