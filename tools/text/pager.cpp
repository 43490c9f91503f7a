#include "tools/text/pager.hpp"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/wait.h>
#include <unistd.h>

namespace libprofile::tools {

namespace {

std::string pager_command() {
    for (const char* name : {"LIBPROFILE_PAGER", "PAGER"})
        if (const char* value = std::getenv(name)) return std::strcmp(value, "cat") == 0 ? std::string() : value;
    return "less";
}

/// Returns false if it could not be started.
bool page(const std::string& text, const std::string& command) {
    // F: end when all fits, R: colours, X: leave the text on the screen. The user's own options come first.
    ::setenv("LESS", "FRX", 0);
    bool started = false;
    if (std::FILE* pipe = ::popen(command.c_str(), "w")) {
        // Who ends the pager has seen enough, and Ctrl-C is the pager's; the pager itself has both as they were.
        struct sigaction ignore {
        }, broken_pipe{}, interrupt{};
        ignore.sa_handler = SIG_IGN;
        ::sigaction(SIGPIPE, &ignore, &broken_pipe);
        ::sigaction(SIGINT, &ignore, &interrupt);
        std::fwrite(text.data(), 1, text.size(), pipe);
        const int status = ::pclose(pipe);
        ::sigaction(SIGPIPE, &broken_pipe, nullptr);
        ::sigaction(SIGINT, &interrupt, nullptr);
        constexpr int not_found = 127, not_executable = 126;
        started = !(WIFEXITED(status) && (WEXITSTATUS(status) == not_found || WEXITSTATUS(status) == not_executable));
    }
    return started;
}

} // namespace

void print_paged(const std::string& text, bool paged) {
    const std::string command = paged && ::isatty(STDOUT_FILENO) != 0 ? pager_command() : std::string();
    // Without less nothing is missing: no message about it.
    if (!command.empty() && page(text, command == "less" ? "command -v less >/dev/null || exit 127; exec less" : command)) return;
    std::fwrite(text.data(), 1, text.size(), stdout);
}

} // namespace libprofile::tools
