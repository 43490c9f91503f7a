#include "libprofile/regions/plain_name.hpp"

#include <cstring>

namespace libprofile {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Reads the name once.
class Mangled {
  public:
    Mangled(const char* text, char* out, std::size_t size) : at_(text), out_(out), left_(size) {}

    bool read() noexcept {
        if (at_[0] != '_' || at_[1] != 'Z') return false;
        at_ += 2;
        if (*at_ == 'L') ++at_; // internal linkage
        if (*at_ != 'N') return component() && used_ != 0;
        ++at_;
        while (*at_ == 'r' || *at_ == 'V' || *at_ == 'K' || *at_ == 'R' || *at_ == 'O') ++at_;
        while (*at_ != 'E')
            if (*at_ == 0 || !component()) return false;
        return used_ != 0;
    }

  private:
    bool append(const char* text, std::size_t size) noexcept {
        if (size + 1 > left_) return false;
        std::memcpy(out_ + used_, text, size);
        used_ += size;
        left_ -= size;
        out_[used_] = 0;
        return true;
    }
    bool add(const char* text, std::size_t size) noexcept {
        if (used_ != 0 && !append("::", 2)) return false;
        last_ = text;
        last_size_ = size;
        return append(text, size);
    }
    bool number(std::size_t& n) noexcept {
        n = 0;
        for (; is_digit(*at_) && n < 100000; ++at_) n = n * 10 + static_cast<std::size_t>(*at_ - '0');
        return n != 0 && strnlen(at_, n) == n;
    }
    /// One part of a qualified name.
    bool component() noexcept {
        std::size_t size = 0;
        const char c = *at_;
        if (is_digit(c)) {
            if (!number(size)) return false;
            const char* name = at_;
            at_ += size;
            if (size > 11 && std::memcmp(name, "_GLOBAL__N_", 11) == 0) return true; // unnamed namespace
            return add(name, size);
        }
        if (c == 'I') return arguments();
        if (c == 'L') return ++at_, true;
        if (c == 'B') return ++at_, number(size) && (at_ += size, true); // ABI tag
        if (c == 'S') return substitution();
        if ((c == 'C' || c == 'D') && is_digit(at_[1])) {
            at_ += 2;
            if (last_ == nullptr) return false;
            const char* name = last_;
            const std::size_t name_size = last_size_;
            if (c == 'C') return add(name, name_size);
            return add("~", 1) && append(name, name_size);
        }
        if (c >= 'a' && c <= 'z' && at_[1] >= 'a' && at_[1] <= 'z' && at_[0] != 'c') { // operators, except conversions
            at_ += 2;
            return add("operator", 8);
        }
        if (c == 'c' && at_[1] == 'l') return at_ += 2, add("operator()", 10);
        return false;
    }
    bool substitution() noexcept {
        ++at_;
        if (*at_ == 't') return ++at_, add("std", 3);
        if (*at_ == 'a') return ++at_, add("std::allocator", 14);
        if (*at_ == 's') return ++at_, add("std::string", 11);
        return false; // refers to an earlier part, which is not remembered; a function's own scope has none
    }
    /// Skips template arguments: they are bracketed by certain letters and an E.
    bool arguments() noexcept {
        int depth = 0;
        do {
            std::size_t size = 0;
            const char c = *at_;
            if (c == 0) return false;
            if (is_digit(c)) {
                if (!number(size)) return false;
                at_ += size;
                continue;
            }
            ++at_;
            if (c == 'E') {
                --depth;
            } else if (c == 'L') { // a literal: type and value
                if (is_digit(*at_)) {
                    if (!number(size)) return false;
                    at_ += size;
                }
                while (*at_ != 'E' && *at_ != 0 && *at_ != '_') ++at_;
                if (*at_ != 'E') return false;
                ++at_;
            } else if (c == 'I' || c == 'N' || c == 'X' || c == 'J' || c == 'F') {
                ++depth;
            } else if (c == 'S' || c == 'T') {
                while (is_digit(*at_) || (*at_ >= 'A' && *at_ <= 'Z' && c == 'S')) ++at_;
                if (*at_ == 0) return false;
                ++at_; // '_', or the letter of St, Sa, Ss
            } else if (c == 'A') {
                while (is_digit(*at_)) ++at_;
                if (*at_ == '_') ++at_;
            }
        } while (depth > 0);
        return true;
    }

    const char* at_;
    char* out_;
    std::size_t left_;
    std::size_t used_ = 0;
    const char* last_ = nullptr;
    std::size_t last_size_ = 0;
};

} // namespace

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
    if (linkage_name[0] == '_' && linkage_name[1] == 'Z') return Mangled(linkage_name, out, size).read();
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
