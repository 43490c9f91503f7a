#include "tools/analysis/line_source.hpp"

#include "tools/names/labels.hpp"
#include "tools/text/phrases.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace libprofile::tools {

namespace {

/// What the file is newer than: the program that was made from it, or the job; empty if it is older than both.
std::string older_than(const Profile& profile, const FunctionLines& lines, const std::string& file, std::int64_t changed_ns) {
    for (const FunctionLine& line : lines.lines) {
        if (line.file != file) continue;
        const std::string& module = profile.modules[line.module].path;
        const std::int64_t built = time_of_change(module);
        if (built != 0 && changed_ns > built) return printable(base_name(module));
    }
    return profile.job.start_unix_ns != 0 && changed_ns > 0 && static_cast<std::uint64_t>(changed_ns) > profile.job.start_unix_ns ? "the job" : "";
}

std::string without_lines(const Profile& profile, const FunctionLines& lines) {
    std::vector<std::string> modules;
    for (const FunctionLine& line : lines.lines)
        if (const std::string path = printable(profile.modules[line.module].path);
            line.file.empty() && std::find(modules.begin(), modules.end(), path) == modules.end())
            modules.push_back(path);
    const std::string more = modules.size() > 1 ? fmt::format(" and {} more", modules.size() - 1) : "";
    return fmt::format("lines are not known in {}{}: there is no debug information of it here (-g)", modules.empty() ? "the program" : modules.front(), more);
}

} // namespace

LineSource source_of(const Profile& profile, const FunctionLines& lines, const std::string& file, const std::vector<SourceMap>& maps) {
    LineSource source;
    if (file.empty()) {
        source.note = without_lines(profile, lines);
        return source;
    }
    source.text = read_source(file, maps);
    const std::string path = printable(source.text.path);
    if (!source.text.problem.empty()) {
        const std::size_t slash = file.find_last_of('/');
        const std::string folder = slash == std::string::npos || slash == 0 ? "OLD" : printable(file.substr(0, slash));
        source.note = fmt::format("no source of {}: {}; --source-map {}=FOLDER says where it is now", path, source.text.problem, folder);
    } else if (const std::string than = older_than(profile, lines, file, source.text.changed_ns); !than.empty()) {
        source.note = fmt::format("{} is newer than {}: its lines may be others than those that were measured", path, than);
    } else if (std::any_of(lines.lines.begin(), lines.lines.end(),
                           [&](const FunctionLine& line) { return line.file == file && line.line > source.text.lines.size(); })) {
        source.note = fmt::format("{} has {} only: it is another version than the one that was measured", path, plural(source.text.lines.size(), "line"));
    }
    return source;
}

} // namespace libprofile::tools
