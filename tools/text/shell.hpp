// Words of a command line that a user pastes into a shell.
// Contract: thread-safe (no state); allocates its result; throws std::bad_alloc only.
#pragma once

#include <string>

namespace libprofile::tools {

/// The text as one word of a POSIX shell: as it is if it has only harmless characters, else quoted. Control characters are written as the shell's
/// $'...' would read them, so that they do nothing on the terminal that shows the command.
std::string shell_word(const std::string& text);

} // namespace libprofile::tools
