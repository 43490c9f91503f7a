#include "tools/commands/commands.hpp"

#include <fmt/format.h>

namespace libprofile::tools {

namespace {

constexpr const char* introduction = "libprofile shows how a parallel (MPI) program spends its time, and how that changes while it runs.\n\n"
                                     "Examples:\n"
                                     "  mpirun -n 4 libprofile run -- ./app args   measure a job; no recompilation, any MPI, any language\n"
                                     "  libprofile report libprofile-app-1234      what it found, as text\n"
                                     "  libprofile diagnose libprofile-app-1234    what made the run longer than it could be\n"
                                     "  libprofile compare libprofile-app-1 libprofile-app-2  what is slower than in another run\n"
                                     "  libprofile report libprofile-app-1234 --format json > app.json\n"
                                     "  libprofile view libprofile-app-1234        the same as a page for the browser\n"
                                     "  libprofile run --help                      the settings of a measurement\n\n"
                                     "Commands:\n"
                                     "  run        start a program with the measurement library\n";

} // namespace

std::vector<std::unique_ptr<Command>> make_commands() {
    std::vector<std::unique_ptr<Command>> commands;
    for (const auto make : {make_report_command, make_diagnose_command, make_structure_command, make_compare_command, make_scale_command, make_view_command,
                            make_export_command, make_recover_command, make_evaluate_command, make_filter_command, make_metrics_command, make_options_command})
        commands.push_back(make());
    return commands;
}

std::string overview(const std::vector<std::unique_ptr<Command>>& commands) {
    std::string text = introduction;
    for (const auto& command : commands) text += fmt::format("  {:<9}  {}\n", command->name(), command->summary());
    return text + "\nlibprofile COMMAND --help tells more; libprofile --version prints the version.\n";
}

void declare(CLI::App& app, const std::vector<std::unique_ptr<Command>>& commands, CommonFlags flags) {
    app.set_help_flag();
    app.add_flag("-h,--help", flags.help);
    app.add_flag("--version", flags.version);
    app.require_subcommand(0, 1);
    for (const auto& command : commands) {
        CLI::App* sub = app.add_subcommand(command->name());
        sub->set_help_flag();
        sub->add_flag("-h,--help", flags.command_help);
        command->declare(*sub);
    }
}

} // namespace libprofile::tools
