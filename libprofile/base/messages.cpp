#include "libprofile/base/messages.hpp"

#include "format/shown_text.hpp"

#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <ctime>
#include <unistd.h>

namespace libprofile {

namespace {
bool silent = false;

/// A line is lost if stderr is closed, a pipe that nobody reads, or a file that may not grow. Nothing better can be done. In the latter
/// two cases a signal would end the program.
void write_line(const char* line, std::size_t size) {
    sigset_t refusals;
    sigset_t before;
    sigset_t pending;
    sigemptyset(&refusals);
    sigaddset(&refusals, SIGPIPE);
    sigaddset(&refusals, SIGXFSZ);
    sigpending(&pending);
    pthread_sigmask(SIG_BLOCK, &refusals, &before);
    if (write(STDERR_FILENO, line, size) < 0 && (errno == EPIPE || errno == EFBIG)) {
        const int ours = errno == EPIPE ? SIGPIPE : SIGXFSZ;
        sigdelset(&refusals, ours == SIGPIPE ? SIGXFSZ : SIGPIPE);
        const timespec at_once{};
        if (sigismember(&pending, ours) == 0) sigtimedwait(&refusals, nullptr, &at_once);
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

/// Replaces each unprintable character by one '?'; used as a pattern in a shell, the result still matches the file. Returns the new length.
std::size_t make_printable(char* line, std::size_t size) {
    std::size_t used = 0;
    for (std::size_t i = 0; i < size;) {
        const ShownCharacter c = shown_character(line + i, size - i);
        if (!c.is_shown) line[used++] = '?';
        for (unsigned k = 0; c.is_shown && k < c.length; ++k) line[used++] = line[i + k];
        i += c.length;
    }
    return used;
}

} // namespace

void silence_messages() noexcept { silent = true; }

void say(const char* format, ...) noexcept {
    if (silent) return;
    char line[9216]; // two paths
    int used = std::snprintf(line, sizeof line, "libprofile: ");
    va_list arguments;
    va_start(arguments, format);
    const int n = std::vsnprintf(line + used, sizeof line - static_cast<std::size_t>(used) - 1, format, arguments);
    va_end(arguments);
    used = n < 0 ? used : used + n;
    if (used > static_cast<int>(sizeof line) - 2) used = static_cast<int>(sizeof line) - 2;
    used = static_cast<int>(make_printable(line, static_cast<std::size_t>(used)));
    line[used++] = '\n';
    write_line(line, static_cast<std::size_t>(used));
}

} // namespace libprofile
