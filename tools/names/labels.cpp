#include "tools/names/labels.hpp"

#include "format/shown_text.hpp"
#include "tools/names/demangle.hpp"
#include "tools/names/waiting.hpp"

#include <fmt/format.h>

namespace libprofile::tools {

std::string base_name(const std::string& path) {
    const std::size_t slash = path.find_last_of('/');
    return slash == std::string::npos ? path : path.substr(slash + 1);
}

namespace {
constexpr std::string_view begins_at = ": function at 0x";
}

std::string begin_as_name(const std::string& module, std::uint64_t begin) { return fmt::format("{}{}{:x}", module, begins_at, begin); }

bool is_unresolved(const SiteName& name) { return name.function.empty() || name.function.find(begins_at) != std::string::npos; }

const char* kind_name(NodeKind kind) {
    switch (kind) {
    case NodeKind::Root: return "root";
    case NodeKind::Frame: return "frame";
    case NodeKind::Mpi: return "mpi";
    case NodeKind::OpenMp: return "openmp";
    case NodeKind::Overhead: return "overhead";
    case NodeKind::OffCpu: return "off_cpu";
    case NodeKind::NotSampled: return "not_sampled";
    case NodeKind::Partial: return "partial";
    case NodeKind::Quota: return "quota";
    case NodeKind::Unknown: return "unknown";
    case NodeKind::NotRecorded: return "not_recorded";
    case NodeKind::Inlined: return "inlined";
    case NodeKind::Region: return "region";
    case NodeKind::FunctionRegion: return "function_region";
    case NodeKind::Python: return "python";
    }
    return "unknown";
}

/// "(off CPU)", or "(off CPU: I/O)" where a function on the path is known to wait for that.
static std::string off_cpu_name(const Profile& profile, const CallPath& path) {
    for (std::uint32_t p = path.parent; p != 0; p = profile.paths[p].parent) {
        if (!is_code(profile.paths[p].kind)) continue;
        const Label label = label_of(profile, profile.paths[p]);
        const std::string_view kind = waiting_kind(short_function_name(label.name), base_name(label.module));
        if (!kind.empty()) return fmt::format("(off CPU: {})", kind);
    }
    return "(off CPU)";
}

Label label_of(const Profile& profile, const CallPath& path) {
    switch (path.kind) {
    case NodeKind::Root: return {"(no call path)", "", 0, ""};
    case NodeKind::Overhead: return {"(libprofile)", "", 0, ""};
    case NodeKind::OffCpu: return {off_cpu_name(profile, path), "", 0, ""};
    case NodeKind::NotSampled: return {"(not sampled)", "", 0, ""};
    case NodeKind::Partial: return {"(partial)", "", 0, ""};
    case NodeKind::Quota: return {"(quota)", "", 0, ""};
    case NodeKind::NotRecorded: return {"(not recorded)", "", 0, ""};
    case NodeKind::Unknown: return {fmt::format("0x{:x}", path.address), "", 0, ""};
    case NodeKind::Mpi:
    case NodeKind::OpenMp: return {profile.functions[path.target].name, "", 0, ""};
    case NodeKind::Region: {
        const auto name = profile.region_names.find(path.address);
        const std::string text = name == profile.region_names.end() ? fmt::format("0x{:x}", path.address) : name->second;
        return {path.target == static_cast<std::uint32_t>(RegionClass::User) ? text : fmt::format("{} {}", region_class_names[path.target], text), "", 0, ""};
    }
    case NodeKind::Python: {
        const auto name = profile.region_names.find(path.address);
        if (name == profile.region_names.end()) return {fmt::format("0x{:x}", path.address), "", 0, ""};
        const std::size_t end = name->second.find('\n');
        if (end == std::string::npos) return {name->second, "", 0, ""};
        return {name->second.substr(0, end), name->second.substr(end + 1, name->second.find('\n', end + 1) - end - 1), path.target, ""};
    }
    case NodeKind::FunctionRegion:
    case NodeKind::Frame:
    case NodeKind::Inlined: break;
    }
    const Site& site = profile.sites[path.target];
    const Module& module = profile.modules[site.module];
    const SiteName& name = path.kind == NodeKind::Inlined ? site.inlined[path.address] : site.name;
    Label label{name.function, name.file, name.line, module.path};
    if (label.name.empty()) label.name = fmt::format("{}+0x{:x}", base_name(module.path), site.offset);
    return label;
}

namespace {

bool is_name_byte(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$' || (static_cast<unsigned char>(c) & 0x80u) != 0;
}

/// True when "operator" ends here, so that what follows is its symbol and no bracket.
bool after_operator(const std::string& text) {
    constexpr std::string_view word = "operator";
    return text.size() >= word.size() && text.compare(text.size() - word.size(), word.size(), word) == 0 &&
           (text.size() == word.size() || !is_name_byte(text[text.size() - word.size() - 1]));
}

} // namespace

std::string shown_name(NodeKind kind, const std::string& name) {
    switch (kind) {
    case NodeKind::Inlined: return "[inlined] " + name;
    case NodeKind::Region: return "[region] " + name;
    case NodeKind::FunctionRegion: return "[function] " + name;
    default: return name;
    }
}

std::string short_function_name(const std::string& full) {
    std::string tag;
    const std::string name = without_clone_tags(full, tag);
    if (name.find('(') == std::string::npos && name.find('<') == std::string::npos) return name + tag;
    std::string out;
    std::size_t i = 0;
    int depth = 0;
    while (i < name.size()) {
        const char c = name[i];
        if (depth == 0 && after_operator(out)) { // operator(), operator<, operator bool, operator new[]
            if (name.compare(i, 2, "()") == 0) {
                out += "()";
                i += 2;
            }
            while (i < name.size() && name[i] != '(') {
                if (name.compare(i, 2, " <") == 0) break; // template arguments
                out += name[i++];
            }
            break;
        }
        if (depth == 0 && c == '(') {
            if (name.compare(i, 21, "(anonymous namespace)") == 0) {
                out += "(anonymous namespace)";
                i += 21;
                continue;
            }
            // The parameter list; a name after it belongs to a local function or a lambda: f(int)::{lambda()#1}.
            int open = 0;
            std::size_t end = i;
            do {
                if (name[end] == '(') ++open;
                if (name[end] == ')') --open;
                ++end;
            } while (end < name.size() && open != 0);
            if (name.compare(end, 6, " const") == 0) end += 6;
            if (name.compare(end, 2, "::") != 0) break;
            i = end;
            continue;
        }
        if (c == '{') { // {lambda(int)#1}: as it is
            const std::size_t end = name.find('}', i);
            if (depth == 0) out += name.compare(i, 7, "{lambda") == 0 ? "{lambda}" : name.substr(i, end - i + 1);
            if (end == std::string::npos) break;
            i = end + 1;
            continue;
        }
        if (c == '<') ++depth;
        if (depth == 0) {
            if (c == ' ')
                out.clear(); // what came before was the return type
            else
                out += c;
        }
        if (c == '>' && depth > 0) --depth;
        ++i;
    }
    return (out.empty() ? name : out) + tag;
}

std::string printable(const std::string& text) {
    std::string out;
    for (std::size_t i = 0; i < text.size();) {
        const ShownCharacter c = shown_character(text.data() + i, text.size() - i);
        if (c.is_shown)
            out.append(text, i, c.length);
        else
            out += '?';
        i += c.length;
    }
    return out;
}

} // namespace libprofile::tools
