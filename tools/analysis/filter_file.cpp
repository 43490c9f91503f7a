#include "tools/analysis/filter_file.hpp"

#include "tools/names/demangle.hpp"
#include "tools/names/labels.hpp"

#include <fmt/format.h>
#include <set>
#include <string_view>

namespace libprofile::tools {

namespace {

/// Where the bracket at `open` closes; npos: nowhere.
std::size_t closing(const std::string& text, std::size_t open) {
    int depth = 0;
    for (std::size_t i = open; i < text.size(); ++i) {
        if (text[i] == '<')
            ++depth;
        if (text[i] == '>' && --depth == 0)
            return i;
    }
    return std::string::npos;
}

/// GCC leaves out arguments that are the parameter's default.
void drop_default_arguments(std::string& name) {
    constexpr std::string_view defaults[] = {", std::allocator<", ", std::less<", ", std::char_traits<", ", std::equal_to<", ", std::hash<",
                                             ", std::default_delete<"};
    for (bool is_changed = true; is_changed;) {
        is_changed = false;
        for (const std::string_view argument : defaults) {
            for (std::size_t at = name.find(argument); at != std::string::npos; at = name.find(argument, at + 1)) {
                const std::size_t end = closing(name, at + argument.size() - 1);
                if (end == std::string::npos)
                    break;
                std::size_t next = end + 1;
                while (next < name.size() && name[next] == ' ')
                    ++next;
                if (next == name.size() || name[next] != '>')
                    continue; // another argument follows
                // "vector<int>", but "vector<vector<int> >"
                const bool is_nested = at != 0 && name[at - 1] == '>';
                name = name.substr(0, at) + std::string(is_nested ? 1 : 0, ' ') + name.substr(next);
                is_changed = true;
                break;
            }
        }
    }
}

std::string hex(const std::string& bytes) {
    std::string out;
    for (const char c : bytes)
        out += fmt::format("{:02x}", static_cast<unsigned char>(c));
    return out;
}

} // namespace

std::string compiler_name(const std::string& demangled) {
    std::string tag;
    std::string name = without_clone_tags(demangled, tag);
    // The parameters: the first bracket at no depth that is not "(anonymous namespace)" or the name of operator().
    int depth = 0;
    std::size_t begin = 0, end = name.size();
    for (std::size_t i = 0; i < name.size(); ++i) {
        if (name.compare(i, 8, "operator") == 0) { // <, >, (), bool: up to the parameters
            i += 8;
            if (name.compare(i, 2, "()") == 0)
                i += 2;
            while (i < name.size() && name[i] != '(')
                ++i;
            end = i;
            break;
        }
        if (name[i] == '<')
            ++depth;
        if (name[i] == '>')
            --depth;
        if (depth != 0)
            continue;
        if (name.compare(i, 21, "(anonymous namespace)") == 0) {
            i += 20;
        } else if (name[i] == '(') {
            end = i;
            break;
        } else if (name[i] == ' ') {
            begin = i + 1; // what came before was the return type
        }
    }
    name = name.substr(begin, end - begin);
    // GCC calls it {anonymous} or <unnamed>, depending on the release.
    if (const std::size_t unnamed = name.rfind("(anonymous namespace)::"); unnamed != std::string::npos)
        name.erase(0, unnamed + 23);
    drop_default_arguments(name);
    return name;
}

std::string filter_file(const Profile& profile, const TinyFunctions& tiny, double target) {
    std::string out = fmt::format("# Instrumented functions that cost more than they tell; written by `libprofile filter`.\n"
                                  "# All instrumentation cost about {:.1f} % of the computing time without it, {:.2f} % are left without these (wanted: {:g} %).\n"
                                  "# At run time: LIBPROFILE_FILTER=this file. To compile: libprofile-c++ --filter=this file.\n",
                                  100 * tiny.share(), 100 * tiny.share_left(), 100 * target);
    std::set<std::string> known;
    for (const RegionRow& row : tiny.chosen) {
        const Site& site = profile.sites[row.site];
        const Module& module = profile.modules[site.module];
        out += fmt::format("\n# {} visits of {:.0f} ns: {}\n", row.visits, row.mean_ns(), printable(row.name));
        const bool has_name = !site.name.function.empty();
        if (const std::string name = has_name ? compiler_name(row.name) : ""; !name.empty() && printable(name) == name && known.insert(name).second)
            out += fmt::format("exclude compiled {}\n", name);
        if (!module.build_id.empty())
            out += fmt::format("exclude at {} 0x{:x}\n", hex(module.build_id), site.offset);
    }
    return out;
}

} // namespace libprofile::tools
