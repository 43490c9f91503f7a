#include "tools/text/terminal.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
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
        if (value == nullptr || *value == 0) continue;
        return strcasestr(value, "utf-8") != nullptr || strcasestr(value, "utf8") != nullptr;
    }
    return false;
}

} // namespace

TextStyle style_of_output(int width, bool ascii) {
    TextStyle style;
    const bool terminal = ::isatty(STDOUT_FILENO) != 0;
    style.width = width > 0 ? width : width_elsewhere;
    winsize size{};
    if (width == 0 && terminal && ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) style.width = std::max<int>(narrowest, size.ws_col);
    style.unicode = !ascii && (!terminal || is_unicode_terminal());
    const char* no_color = std::getenv("NO_COLOR"); // no-color.org
    const char* term = std::getenv("TERM");
    style.colour = terminal && !ascii && (no_color == nullptr || *no_color == 0) && (term == nullptr || std::strcmp(term, "dumb") != 0);
    return style;
}

} // namespace libprofile::tools
