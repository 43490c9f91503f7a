#include "tools/commands/report.hpp"

#include "tools/commands/report_json.hpp"
#include "tools/commands/report_text.hpp"
#include "tools/names/expand_inlined.hpp"
#include "tools/names/resolve.hpp"
#include "tools/profile/reader.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace libprofile::tools {

namespace {

constexpr int width_elsewhere = 100;
constexpr int narrowest = 80; // below, tables lose their names

/// ASCII where the terminal's locale says that it cannot show more; files and pipes get Unicode.
bool is_unicode_terminal() {
    for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
        const char* value = std::getenv(name);
        if (value == nullptr || *value == 0)
            continue;
        return strcasestr(value, "utf-8") != nullptr || strcasestr(value, "utf8") != nullptr;
    }
    return false;
}

TextStyle style_of(const ReportOptions& options) {
    TextStyle style;
    const bool terminal = ::isatty(STDOUT_FILENO) != 0;
    style.width = options.width > 0 ? options.width : width_elsewhere;
    winsize size{};
    if (options.width == 0 && terminal && ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        style.width = std::max<int>(narrowest, size.ws_col);
    style.unicode = !options.ascii && (!terminal || is_unicode_terminal());
    const char* no_color = std::getenv("NO_COLOR"); // no-color.org
    const char* term = std::getenv("TERM");
    style.colour = terminal && !options.ascii && (no_color == nullptr || *no_color == 0) &&
                   (term == nullptr || std::strcmp(term, "dumb") != 0);
    return style;
}

} // namespace

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
    const std::string text = options.json ? report_json(profile, {options.trace, options.series})
                                          : report_text(profile, style_of(options), options.full_paths);
    std::fwrite(text.data(), 1, text.size(), stdout);
    return 0;
}

} // namespace libprofile::tools
