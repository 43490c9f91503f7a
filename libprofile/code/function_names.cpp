#include "libprofile/code/function_names.hpp"

#include "libprofile/base/nearest_name.hpp"
#include "libprofile/callpath/function_symbols.hpp"
#include "libprofile/callpath/load_map.hpp"
#include "libprofile/callpath/module_name.hpp"
#include "libprofile/code/cxx_name.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <strings.h>

namespace libprofile {

namespace {

// --- Names ---

/// A text that grows in a buffer. A piece that does not fit makes it bad.
struct Text {
    char* at;
    std::size_t left;
    bool is_good = true;
    void add(const char* from, std::size_t size) {
        if (size >= left) {
            is_good = false;
            return;
        }
        std::memcpy(at, from, size);
        at += size;
        left -= size;
        *at = 0;
    }
};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

} // namespace

bool source_name(const char* symbol, char* name, std::size_t size, bool& fortran) noexcept {
    fortran = false;
    if (size == 0) return false;
    *name = 0;
    std::size_t length = std::strlen(symbol);
    if (const char* ending = std::strchr(symbol, '.'); ending != nullptr) {
        if (std::strstr(ending, ".part") != nullptr || std::strstr(ending, ".cold") != nullptr || std::strstr(ending, "._omp_fn") != nullptr) return false;
        fortran = is_digit(ending[1]); // an internal procedure
        length = static_cast<std::size_t>(ending - symbol);
    }
    if (length == 0) return false;
    Text out{name, size};
    if (std::strncmp(symbol, "_Z", 2) == 0) return cxx_name(symbol, CxxNameStyle::Shown, name, size);
    if (const char* middle = std::strstr(symbol, "_MOD_"); middle != nullptr && std::strncmp(symbol, "__", 2) == 0) {
        fortran = true;
        out.add(symbol + 2, static_cast<std::size_t>(middle - symbol) - 2);
        out.add("::", 2);
        out.add(middle + 5, length - static_cast<std::size_t>(middle + 5 - symbol));
        return out.is_good;
    }
    if (length > 1 && symbol[length - 1] == '_' && symbol[0] != '_') {
        fortran = true;
        --length;
    }
    out.add(symbol, length);
    return out.is_good;
}

namespace {

/// The length of the part of a symbol that its copies share.
std::size_t base_size(const char* symbol) { return std::strcspn(symbol, "."); }

/// How well a symbol matches the wanted name, 0 if not at all.
unsigned likeness(const char* symbol, const char* wanted) {
    if (std::strcmp(symbol, wanted) == 0 && (symbol[0] == '_' || std::strchr(symbol, '.') != nullptr)) return 4;
    char name[512];
    bool fortran = false;
    if (!source_name(symbol, name, sizeof name, fortran)) return 0;
    const auto is_equal = [fortran](const char* a, const char* b) { return (fortran ? strcasecmp(a, b) : std::strcmp(a, b)) == 0; };
    if (is_equal(name, wanted)) return std::strlen(wanted) == base_size(symbol) ? 3 : 2;
    const std::size_t length = std::strlen(name);
    const std::size_t asked = std::strlen(wanted);
    return length > asked + 2 && is_equal(name + length - asked, wanted) && std::strncmp(name + length - asked - 2, "::", 2) == 0 ? 1 : 0;
}

// --- Modules ---

bool is_program_code(const Module& module) { return module.loaded && !module.is_libc && !module.is_libprofile && module.path[0] == '/'; }

/// Libraries whose functions are never meant by a misspelt name of the program.
bool is_system_library(const Module& module) {
    return module.binding_layer || module.is_cxx_runtime ||
           starts_with(file_name(module.path), "libm.so", "libm-", "libmvec", "ld-linux", "libgcc_s", "libgfortran", "libquadmath", "libpthread", "libdl.",
                       "librt.", "libmpi", "libmpich", "libopen-", "libpmix", "libprrte", "libhwloc", "libevent", "libucp", "libucs", "libuct", "libucm",
                       "libfabric", "libibverbs", "libpsm", "libnuma", "libunwind", "libz.");
}

/// Whether two adjacent characters are swapped: stpe for step.
bool is_swap(const char* a, const char* b) {
    while (*a != 0 && *a == *b) ++a, ++b;
    return *a != 0 && a[0] == b[1] && a[1] == b[0] && a[1] != 0 && std::strcmp(a + 2, b + 2) == 0;
}

/// Whether a name is close enough to be a typing error. Short names are close to too many.
bool is_slip(const char* name, const char* known) {
    const std::size_t length = std::strlen(name);
    return edit_distance(name, known) <= (length < 3 ? 0u : length < 6 ? 1u : length < 9 ? 2u : 3u) || (length >= 3 && length < 6 && is_swap(name, known));
}

/// Searches the program first, then its libraries. These have so many functions that one is close to any short name.
void find_nearest(const char* name, char* nearest, std::size_t size) {
    NearestName best(name);
    *nearest = 0;
    const std::size_t length = std::strlen(name);
    for (const bool in_program : {true, false}) {
        if (!in_program && length < 6) break;
        for (std::uint32_t m = 0; m < load_map.size() && *nearest == 0; ++m) {
            const Module& module = load_map[m];
            if (!is_program_code(module) || module.is_executable != in_program || is_system_library(module)) continue;
            FunctionSymbols symbols(module);
            for (FunctionSymbol symbol; symbols.next(symbol);) {
                char text[512];
                bool fortran = false;
                if (!source_name(symbol.name, text, sizeof text, fortran)) continue;
                const std::size_t whole = std::strlen(text);
                const char* shown = text;
                // Compares the last parts, as many as the name has.
                if (whole > length) {
                    for (const char* p = text; (p = std::strstr(p, "::")) != nullptr;) {
                        p += 2;
                        if (std::strlen(p) + 3 >= length) shown = p;
                    }
                }
                const std::size_t own = std::strlen(shown);
                if (own > length + 3 || length > own + 3 || !is_slip(name, shown)) continue;
                if (best.look_at(shown)) std::snprintf(nearest, size, "%s", text);
            }
        }
    }
}

} // namespace

bool find_function(const char* name, NamedFunction& found, char* nearest, std::size_t nearest_size) noexcept {
    found = {};
    unsigned best = 0;
    bool lacks_memory = false;
    for (std::uint32_t m = 0; m < load_map.size() && best < 3; ++m) {
        const Module& module = load_map[m];
        if (!is_program_code(module)) continue;
        char base[512] = {};
        bool has_original = false; // not a copy
        FunctionSymbols symbols(module);
        for (FunctionSymbol function; symbols.next(function);) {
            const char* const symbol = function.name;
            const unsigned like = likeness(symbol, name);
            if (like == 0 || like < best) continue;
            if (like > best) {
                best = like;
                found = {};
                found.module = m;
                has_original = false;
                std::snprintf(base, sizeof base, "%.*s", static_cast<int>(base_size(symbol)), symbol);
            }
            if (found.module != m) continue; // like the loader, take the first module
            const std::uintptr_t address = module.bias + function.value;
            if (std::find(found.address, found.address + found.count, address) != found.address + found.count) continue;
            const char* ending = symbol + base_size(symbol);
            const bool is_copy = *ending == '.' && !is_digit(ending[1]); // with a number only: an internal procedure of Fortran
            const bool is_same = std::strlen(base) == base_size(symbol) && std::strncmp(base, symbol, base_size(symbol)) == 0;
            if (found.count != 0 && !found.is_ambiguous && (!is_same || (!is_copy && has_original))) {
                found.is_ambiguous = true;
                found.other = address;
                std::snprintf(found.other_symbol, sizeof found.other_symbol, "%s", symbol);
            }
            if (found.count == 0) std::snprintf(found.symbol, sizeof found.symbol, "%s", symbol);
            has_original = has_original || !is_copy;
            if (found.count == NamedFunction::most) {
                found.has_more = true;
                continue;
            }
            found.address[found.count] = address;
            found.end[found.count++] = address + function.size;
        }
        lacks_memory = lacks_memory || symbols.lacks_memory();
    }
    if (found.count != 0) return true;
    found.lacks_memory = lacks_memory;
    if (nearest != nullptr) find_nearest(name, nearest, nearest_size);
    return false;
}

std::uintptr_t find_address(const char* text) noexcept {
    const char* plus = nullptr;
    for (const char* p = text; (p = std::strstr(p, "+0x")) != nullptr; ++p) plus = p;
    if (plus == nullptr || plus == text) return 0;
    char* end = nullptr;
    const std::uint64_t offset = std::strtoull(plus + 1, &end, 16);
    if (end == plus + 3 || *end != 0) return 0;
    const auto length = static_cast<std::size_t>(plus - text);
    for (std::uint32_t m = 0; m < load_map.size(); ++m) {
        const Module& module = load_map[m];
        if (!module.loaded) continue;
        const std::size_t size = std::strlen(module.path);
        if (size < length || std::memcmp(module.path + size - length, text, length) != 0) continue;
        if (size != length && module.path[size - length - 1] != '/') continue;
        const std::uintptr_t address = module.bias + offset;
        return address >= module.start && address < module.end ? address : 0;
    }
    return 0;
}

} // namespace libprofile
