#include "tools/timeline/named_paths.hpp"

#include "tools/names/labels.hpp"

namespace libprofile::tools {

namespace {

std::string lower_case(std::string text) {
    for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    return text;
}

} // namespace

bool has_text(const std::string& name, const std::string& text) { return lower_case(name).find(lower_case(text)) != std::string::npos; }

NamedPaths::NamedPaths(const Profile& profile, const std::string& with, const std::string& inside)
    : profile_(profile), with_(lower_case(with)), inside_(lower_case(inside)), is_with_(profile.paths.size(), unknown),
      is_inside_(profile.paths.size(), unknown) {}

bool NamedPaths::is_with(std::uint32_t path) {
    path = there(path);
    if (with_.empty()) return true;
    std::uint8_t& known = is_with_[path];
    if (known == unknown) known = has(name_of(path)) ? 1 : 0;
    return known != 0;
}

/// Not recursive: a damaged profile may be a million calls deep.
bool NamedPaths::is_inside(std::uint32_t path) {
    path = there(path);
    if (inside_.empty()) return true;
    std::vector<std::uint32_t> below;
    for (; path != 0 && is_inside_[path] == unknown; path = profile_.paths[path].parent) below.push_back(path);
    bool is_known = path != 0 && is_inside_[path] == 1;
    for (auto at = below.rbegin(); at != below.rend(); ++at) {
        is_known = is_known || lower_case(name_of(*at)).find(inside_) != std::string::npos;
        is_inside_[*at] = is_known ? 1 : 0;
    }
    return is_known;
}

std::string NamedPaths::name_of(std::uint32_t path) const {
    if (path == 0) return "call without a call path";
    constexpr const char unnamed[] = "(anonymous namespace)::";
    std::string name = printable(label_of(profile_, profile_.paths[path]).name);
    for (std::size_t at = name.find(unnamed); at != std::string::npos; at = name.find(unnamed, at)) name.erase(at, sizeof unnamed - 1);
    return name;
}

} // namespace libprofile::tools
