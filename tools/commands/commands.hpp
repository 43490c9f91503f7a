// All commands of `libprofile`, but for `run`, whose arguments belong to the program from some point on.
#pragma once

#include "tools/commands/command.hpp"

#include <memory>
#include <string>
#include <vector>

namespace libprofile::tools {

std::unique_ptr<Command> make_report_command();
std::unique_ptr<Command> make_diagnose_command();
std::unique_ptr<Command> make_structure_command();
std::unique_ptr<Command> make_compare_command();
std::unique_ptr<Command> make_scale_command();
std::unique_ptr<Command> make_view_command();
std::unique_ptr<Command> make_export_command();
std::unique_ptr<Command> make_evaluate_command();
std::unique_ptr<Command> make_recover_command();
std::unique_ptr<Command> make_filter_command();
std::unique_ptr<Command> make_metrics_command();
std::unique_ptr<Command> make_options_command();

/// In the order of the overview.
std::vector<std::unique_ptr<Command>> make_commands();

/// All of `libprofile --help`.
std::string overview(const std::vector<std::unique_ptr<Command>>& commands);

/// What the flags that every command line may have are parsed into.
struct CommonFlags {
    bool& help;
    bool& version;
    bool& command_help;
};

/// Declares each command, with its options, and the common flags. All must live as long as `app`.
void declare(CLI::App& app, const std::vector<std::unique_ptr<Command>>& commands, CommonFlags flags);

} // namespace libprofile::tools
