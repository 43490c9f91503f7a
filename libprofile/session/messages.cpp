#include "libprofile/session/messages.hpp"

#include <cstdarg>
#include <cstdio>
#include <unistd.h>

namespace libprofile {

namespace {
bool silent = false;
}

void silence_messages() noexcept { silent = true; }

void say(const char* format, ...) noexcept {
    if (silent) return;
    char line[2048];
    int used = std::snprintf(line, sizeof line, "libprofile: ");
    va_list arguments;
    va_start(arguments, format);
    const int n = std::vsnprintf(line + used, sizeof line - static_cast<std::size_t>(used) - 1, format, arguments);
    va_end(arguments);
    used = n < 0 ? used : used + n;
    if (used > static_cast<int>(sizeof line) - 2) used = static_cast<int>(sizeof line) - 2;
    line[used++] = '\n';
    // A line is lost when stderr is closed: nothing better can be done with it.
    [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, line, static_cast<std::size_t>(used));
}

} // namespace libprofile
