#include "tools/names/code_of_line.hpp"

#include "tools/names/symbols.hpp"

#include <algorithm>

namespace libprofile::tools {

namespace {

/// Without parameters and template arguments.
bool is_called(const std::string& full, const std::string& wanted) {
    std::string name;
    int depth = 0;
    for (std::size_t i = 0; i < full.size(); ++i) {
        if (full.compare(i, 21, "(anonymous namespace)") == 0) {
            name += "(anonymous namespace)";
            i += 20;
            continue;
        }
        const char c = full[i];
        if (c == '(' && depth == 0) break;
        if (c == '<') ++depth;
        if (depth == 0) name += c;
        if (c == '>' && depth != 0) --depth;
    }
    if (const std::size_t blank = name.rfind(' '); blank != std::string::npos && name.find("namespace)", blank) == std::string::npos)
        name.erase(0, blank + 1); // the type that a template returns
    if (name.size() < wanted.size() || name.compare(name.size() - wanted.size(), wanted.size(), wanted) != 0) return false;
    return name.size() == wanted.size() || (name.size() > wanted.size() + 2 && name.compare(name.size() - wanted.size() - 2, 2, "::") == 0);
}

} // namespace

CodeOfLine code_of_line(const std::string& path, const std::string& function, std::uint64_t line) {
    CodeOfLine out;
    Module on_disk;
    on_disk.path = path;
    Symbols symbols(on_disk);
    symbols.for_each_code_of(line, [&](std::uint64_t begin, std::uint64_t end) {
        const SourceCode code_at = symbols.resolve(begin);
        const SiteName& innermost = code_at.inlined.empty() ? code_at.function : code_at.inlined.back();
        if (!is_called(innermost.function, function)) return;
        if (!out.ranges.empty() && out.ranges.back().end == begin)
            out.ranges.back().end = end;
        else
            out.ranges.push_back({begin, end});
    });
    std::sort(out.ranges.begin(), out.ranges.end(), [](const auto& a, const auto& b) { return a.begin < b.begin; });
    return out;
}

} // namespace libprofile::tools
