#include "tools/commands/report.hpp"

#include "tools/commands/report_json.hpp"
#include "tools/commands/report_text.hpp"
#include "tools/names/expand_inlined.hpp"
#include "tools/names/resolve.hpp"
#include "tools/profile/reader.hpp"
#include "tools/text/terminal.hpp"

#include <cstdio>
#include <filesystem>
#include <fmt/format.h>
#include <unistd.h>

namespace libprofile::tools {

int report(const ReportOptions& options) {
    Profile profile = read_profile(std::filesystem::path(options.place));
    const Resolution resolution = resolve_names(profile, ::isatty(STDERR_FILENO) != 0);
    std::error_code error;
    if (resolution.added != 0 && std::filesystem::is_directory(options.place, error))
        store_names(profile, options.place);
    expand_inlined(profile);
    for (const std::string& module : resolution.different)
        profile.notes.push_back(
            fmt::format("{} was rebuilt since the job ran; its functions have no names here", module));
    const std::string text =
        options.json
            ? report_json(profile, {options.trace, options.series})
            : report_text(profile, style_of_output(options.width, options.ascii), options.full_paths);
    std::fwrite(text.data(), 1, text.size(), stdout);
    return 0;
}

} // namespace libprofile::tools
