#include "tools/names/compiler_names.hpp"

#include "tools/names/demangle.hpp"

#include <string_view>

namespace libprofile::tools {

namespace {

constexpr std::string_view anonymous = "(anonymous namespace)";

/// Where the bracket at `open` closes; npos: nowhere.
std::size_t closing(const std::string& text, std::size_t open) {
    int depth = 0;
    for (std::size_t i = open; i < text.size(); ++i) {
        if (text[i] == '<') ++depth;
        if (text[i] == '>' && --depth == 0) return i;
    }
    return std::string::npos;
}

/// GCC leaves out arguments that are the parameter's default.
void drop_default_arguments(std::string& name) {
    constexpr std::string_view defaults[] = {", std::allocator<", ", std::less<", ", std::char_traits<",
                                             ", std::equal_to<",  ", std::hash<", ", std::default_delete<"};
    for (bool is_changed = true; is_changed;) {
        is_changed = false;
        for (const std::string_view argument : defaults) {
            for (std::size_t at = name.find(argument); at != std::string::npos; at = name.find(argument, at + 1)) {
                const std::size_t end = closing(name, at + argument.size() - 1);
                if (end == std::string::npos) break;
                std::size_t next = end + 1;
                while (next < name.size() && name[next] == ' ') ++next;
                if (next == name.size() || name[next] != '>') continue; // another argument follows
                // "vector<int>", but "vector<vector<int> >"
                const bool is_nested = at != 0 && name[at - 1] == '>';
                name = name.substr(0, at) + std::string(is_nested ? 1 : 0, ' ') + name.substr(next);
                is_changed = true;
                break;
            }
        }
    }
}

/// Where the function's own name stands in a demangled one: between its return type and its parameters.
struct NamePart {
    std::size_t begin = 0, end = 0;
    bool is_certain = true; // no: of a local class, a lambda, ...: with the parameters of other functions in it
};

/// The parameters begin at the first bracket at no depth that is not "(anonymous namespace)" or the name of operator().
NamePart own_name(const std::string& name) {
    NamePart part{0, name.size(), name.find('{') == std::string::npos};
    int depth = 0;
    for (std::size_t i = 0; i < name.size(); ++i) {
        if (name.compare(i, 8, "operator") == 0) { // <, >, (), bool: up to the parameters
            i += 8;
            if (name.compare(i, 2, "()") == 0) i += 2;
            while (i < name.size() && name[i] != '(') ++i;
            part.end = i;
            break;
        }
        if (name[i] == '<') ++depth;
        if (name[i] == '>') --depth;
        if (depth != 0) continue;
        if (name.compare(i, anonymous.size(), anonymous) == 0) {
            i += anonymous.size() - 1;
        } else if (name[i] == '(') {
            part.end = i;
            break;
        } else if (name[i] == ' ') {
            part.begin = i + 1; // what came before was the return type
        }
    }
    // Behind the parameters: " const" and the like.
    std::size_t behind = part.end;
    for (int open = 0; behind < name.size(); ++behind) {
        open += name[behind] == '(' ? 1 : name[behind] == ')' ? -1 : 0;
        if (open == 0) break;
    }
    if (behind < name.size() && name.find_first_of("(:", behind) != std::string::npos) part.is_certain = false;
    return part;
}

} // namespace

std::string compiler_name(const std::string& demangled) {
    std::string tag;
    std::string name = without_clone_tags(demangled, tag);
    const NamePart part = own_name(name);
    if (!part.is_certain) return "";
    name = name.substr(part.begin, part.end - part.begin);
    // GCC calls it {anonymous} or <unnamed>, depending on the release.
    if (const std::size_t unnamed = name.rfind(std::string(anonymous) + "::"); unnamed != std::string::npos) name.erase(0, unnamed + anonymous.size() + 2);
    drop_default_arguments(name);
    return name;
}

std::string forms_for_gcc(const std::string& demangled) {
    std::string tag;
    std::string name = without_clone_tags(demangled, tag);
    if (const NamePart part = own_name(name); part.is_certain) name = name.substr(part.begin, part.end - part.begin);
    std::string bare = name;
    drop_default_arguments(bare);
    std::string out = name + "\n";
    if (bare != name) out += bare + "\n";
    if (bare.find(anonymous) == std::string::npos) return out;
    for (const std::string_view unnamed : {"{anonymous}", "<unnamed>"}) { // depends on the release
        std::string form = bare;
        for (std::size_t at = form.find(anonymous); at != std::string::npos; at = form.find(anonymous, at + unnamed.size()))
            form.replace(at, anonymous.size(), unnamed);
        out += form + "\n";
    }
    return out;
}

std::string fortran_name(const std::string& name) {
    const std::size_t scope = name.find("::");
    std::string own = scope == std::string::npos ? name : name.substr(scope + 2);
    const auto is_plain = [](const std::string& part) {
        return !part.empty() && part.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string::npos;
    };
    const bool has_plain_scope = scope == std::string::npos || is_plain(name.substr(0, scope));
    return has_plain_scope && is_plain(own) ? own : "";
}

} // namespace libprofile::tools
