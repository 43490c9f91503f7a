// One command of `libprofile`: its name, its help, its options, and what it does.
// Contract: one thread; main() keeps one object per command for the time of the process.
#pragma once

#include <CLI/CLI.hpp>
#include <stdexcept>
#include <string>

namespace libprofile::tools {

/// The arguments make no sense: one sentence for standard error; the exit code is 2.
struct UsageError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

class Command {
  public:
    virtual ~Command() = default;
    virtual const char* name() const = 0;
    /// One line of the overview.
    virtual const char* summary() const = 0;
    /// All of `libprofile NAME --help`: one screen, examples first.
    virtual const char* help() const = 0;
    /// Declares options and positional arguments, which parse into members of the object.
    virtual void declare(CLI::App& app) = 0;
    /// After parsing. Returns the exit code.
    /// @throws UsageError and what the command's functions throw; main() prints it as one line
    virtual int run() = 0;
};

} // namespace libprofile::tools
