// Completion of the command line for bash, from the options that the commands declare.
// Contract: thread-safe (no state); allocates its result; throws std::bad_alloc only.
#pragma once

#include "tools/commands/commands.hpp"

#include <string>

namespace libprofile::tools {

/// A file for bash-completion's folder `completions`.
std::string bash_completion(const std::vector<std::unique_ptr<Command>>& commands);

} // namespace libprofile::tools
