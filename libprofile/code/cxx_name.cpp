#include "libprofile/code/cxx_name.hpp"

#include <cstring>

namespace libprofile {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Goes through the name once.
class Mangled {
  public:
    Mangled(const char* text, CxxNameStyle style, char* out, std::size_t size) : at_(text), style_(style), out_(out), left_(size) {}

    bool read() noexcept {
        if (at_[0] != '_' || at_[1] != 'Z') return false;
        at_ += 2;
        if (*at_ != 'N') return (at_[0] != 'S' || at_[1] != 't' || component()) && component() && used_ != 0;
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
        if (*at_ == 'L') ++at_; // internal linkage of the name that follows
        const char c = *at_;
        if (is_digit(c)) {
            if (!number(size)) return false;
            const char* name = at_;
            at_ += size;
            if (size <= 11 || std::memcmp(name, "_GLOBAL__N_", 11) != 0) return add(name, size);
            return style_ == CxxNameStyle::Pattern || add("(anonymous namespace)", 21);
        }
        if (c == 'I') return arguments();
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
        if (style_ == CxxNameStyle::Pattern && c >= 'a' && c <= 'z' && at_[1] >= 'a' && at_[1] <= 'z' && at_[0] != 'c') { // operators, but for conversions
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
        return false; // of something before, which is not remembered; there is nothing before in a function's own scope
    }
    /// Template arguments, to be skipped: brackets are the letters that an E closes.
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
    CxxNameStyle style_;
    char* out_;
    std::size_t left_;
    std::size_t used_ = 0;
    const char* last_ = nullptr;
    std::size_t last_size_ = 0;
};

} // namespace

bool cxx_name(const char* linkage_name, CxxNameStyle style, char* out, std::size_t size) noexcept { return Mangled(linkage_name, style, out, size).read(); }

} // namespace libprofile
