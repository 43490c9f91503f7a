// All commands of `libprofile`, but for `run`, whose arguments belong to the program from some point on.
#pragma once

#include "tools/commands/command.hpp"

#include <memory>
#include <vector>

namespace libprofile::tools {

std::unique_ptr<Command> make_report_command();
std::unique_ptr<Command> make_view_command();
std::unique_ptr<Command> make_export_command();
std::unique_ptr<Command> make_evaluate_command();
std::unique_ptr<Command> make_recover_command();
std::unique_ptr<Command> make_filter_command();
std::unique_ptr<Command> make_metrics_command();
std::unique_ptr<Command> make_options_command();

/// In the order of the overview.
std::vector<std::unique_ptr<Command>> make_commands();

} // namespace libprofile::tools
