#include "libprofile/regions/plain_name.hpp"

#include "libprofile/code/cxx_name.hpp"

#include <cstring>

namespace libprofile {

namespace {

/// Names of gfortran: "__module_MOD_procedure", "procedure_", and the suffixes of inner procedures and clones: "inner.0".
bool fortran_name(const char* name, char* out, std::size_t size) noexcept {
    constexpr char between[] = "_MOD_";
    constexpr std::size_t between_size = sizeof between - 1;
    std::size_t length = std::strcspn(name, ".");
    const bool has_suffix = length != 0 && name[length] == '.';
    if (length + 1 > size) return false;
    const char* module_end = name[0] == '_' && name[1] == '_' ? std::strstr(name + 2, between) : nullptr; // capitals cannot come from the source
    if (module_end != nullptr && module_end != name + 2 && module_end + between_size < name + length) {
        const auto module_size = static_cast<std::size_t>(module_end - name) - 2;
        const char* procedure = module_end + between_size;
        const auto procedure_size = static_cast<std::size_t>(name + length - procedure);
        std::memcpy(out, name + 2, module_size);
        std::memcpy(out + module_size, "::", 2);
        std::memcpy(out + module_size + 2, procedure, procedure_size);
        out[module_size + 2 + procedure_size] = 0;
        return true;
    }
    const bool has_underscore = length > 1 && name[0] != '_' && name[length - 1] == '_';
    if (!has_suffix && !has_underscore) return false;
    if (has_underscore) --length;
    std::memcpy(out, name, length);
    out[length] = 0;
    return true;
}

} // namespace

bool plain_name(const char* linkage_name, char* out, std::size_t size) noexcept {
    if (linkage_name[0] == '_' && linkage_name[1] == 'Z') return cxx_name(linkage_name, CxxNameStyle::Pattern, out, size);
    return fortran_name(linkage_name, out, size);
}

bool matches(const char* pattern, const char* text) noexcept {
    const char* star = nullptr;
    const char* resume = nullptr;
    while (*text != 0) {
        if (*pattern == '*') {
            star = pattern++;
            resume = text;
        } else if (*pattern == '?' || *pattern == *text) {
            ++pattern;
            ++text;
        } else if (star != nullptr) {
            pattern = star + 1;
            text = ++resume;
        } else {
            return false;
        }
    }
    while (*pattern == '*') ++pattern;
    return *pattern == 0;
}

} // namespace libprofile
