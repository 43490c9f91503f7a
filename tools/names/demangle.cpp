#include "tools/names/demangle.hpp"

#include <cstdlib>
#include <cxxabi.h>
#include <memory>
#include <string_view>

namespace libprofile::tools {

namespace {

struct FreeDeleter {
    void operator()(void* p) const { std::free(p); }
};

constexpr std::string_view clones[] = {"constprop", "isra", "part", "cold"};
constexpr std::string_view region = " [omp region ";

bool is_number(std::string_view text) { return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos; }

/// Takes ".word" or ".word.7" off the end of a name.
/// @return false when the name does not end so
bool take_suffix(std::string_view& name, std::string_view& word, std::string_view& number) {
    number = {};
    std::size_t dot = name.rfind('.');
    if (dot == std::string_view::npos || dot == 0) return false;
    std::string_view last = name.substr(dot + 1);
    if (is_number(last)) {
        const std::size_t before = name.substr(0, dot).rfind('.');
        const std::string_view between = before == std::string_view::npos ? std::string_view() : name.substr(before + 1, dot - before - 1);
        number = last;
        const bool own = before == std::string_view::npos || before == 0 || is_number(between);
        if (own) { // ".7" alone
            word = {};
            name = name.substr(0, dot);
            return true;
        }
        last = between;
        dot = before;
    }
    word = last;
    name = name.substr(0, dot);
    return true;
}

/// "__module_MOD_procedure"; the capitals cannot come from the source, which Fortran turns to lower case.
std::string module_procedure(std::string_view name) {
    constexpr std::string_view between = "_MOD_";
    const std::size_t at = name.find(between, 2);
    if (!name.starts_with("__") || at == std::string_view::npos || at == 2 || at + between.size() == name.size()) return "";
    return std::string(name.substr(2, at - 2)) + "::" + std::string(name.substr(at + between.size()));
}

} // namespace

std::string demangle(const char* name) {
    // __cxa_demangle also takes bare types: a C function named "i" would become "int".
    if (name[0] != '_' || name[1] != 'Z') return name;
    int status = 0;
    const std::unique_ptr<char, FreeDeleter> plain(abi::__cxa_demangle(name, nullptr, nullptr, &status));
    return status == 0 && plain != nullptr ? std::string(plain.get()) : std::string(name);
}

std::string readable_name(const std::string& name, bool fortran) {
    std::string_view base = name;
    std::string tags;
    bool numbered = false; // ".7" alone, which internal procedures have
    std::string_view rest = base, word, number;
    while (take_suffix(rest, word, number)) {
        std::string tag;
        if (word.empty())
            numbered = true;
        else if (word == "_omp_fn" && !number.empty())
            tag = std::string(region) + std::string(number) + "]";
        else if (word != "lto_priv") { // that one says nothing about the function
            bool known = false;
            for (const std::string_view clone : clones) known = known || word == clone;
            if (!known) break;
            tag = " [" + std::string(word) + "]";
        }
        if (tags.find(tag) == std::string::npos || tag.empty()) // f.part.0.constprop.1.part.2
            tags = tag + tags;
        base = rest;
    }
    if (base.starts_with("_R")) return name; // Rust
    const std::string plain = module_procedure(base);
    const bool from_fortran = fortran || !plain.empty();
    // Without more to go by, "f.7" may as well be a C name that ends so.
    if (numbered && !from_fortran && tags.empty()) return demangle(name.c_str());
    if (!plain.empty()) return plain + tags;
    std::string out = demangle(std::string(base).c_str());
    if (fortran && out.size() > 1 && out.back() == '_' && out != "MAIN__") {
        out.pop_back();
        // Compilers that add two underscores do so where the name has one of its own.
        if (out.size() > 1 && out.back() == '_' && out.find('_') != out.size() - 1) out.pop_back();
    }
    return out + tags;
}

std::string without_clone_tags(const std::string& name, std::string& tag) {
    tag.clear();
    std::string out = name;
    while (out.ends_with("]")) {
        const std::size_t at = out.rfind(" [");
        if (at == std::string::npos || at == 0) break;
        const std::string last = out.substr(at);
        bool known = last.starts_with(region);
        if (known) tag = last + tag;
        for (const std::string_view clone : clones) known = known || last == " [" + std::string(clone) + "]";
        if (!known) break;
        out.resize(at);
    }
    return out;
}

} // namespace libprofile::tools
