// `libprofile run`: starts one process of a job with the measurement runtime preloaded.
// Contract: one thread; replaces the process on success; otherwise returns the exit code after at most one line on
// standard error for the whole job (written by the rank that the launcher's environment calls 0).
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace libprofile::tools {

/// The arguments of `libprofile run`, taken apart.
struct RunRequest {
    std::vector<std::pair<std::string, std::string>> settings; // LIBPROFILE_NAME, value
    bool print_env = false;
    bool help = false;
    std::vector<std::string> command;
    std::string problem; // why the arguments are wrong; empty when they are not
};

/// Options end at the first argument that is none, or at "--"; the rest belongs to the program.
/// Flags take `--name value` or `--name=value`; those of type flag `--name` or `--name=value`.
RunRequest parse_run(const std::vector<std::string>& arguments);

/// One screen, examples first.
std::string run_help();

/// Where execvp would find a program; empty when nowhere.
std::string find_program(const std::string& name);

/// @return exit code: 2 wrong arguments, 126 cannot be started, 127 not found (as env(1)), 1 runtime not installed
int run(const std::vector<std::string>& arguments);

} // namespace libprofile::tools
