// The command `libprofile`.
#include "tools/commands/commands.hpp"
#include "tools/evaluation/recording.hpp"
#include "tools/export/call_table.hpp"
#include "tools/frames/frame.hpp"
#include "tools/launch/run.hpp"
#include "tools/names/labels.hpp"
#include "tools/plot/svg.hpp"
#include "tools/reader/reader.hpp"
#include "tools/report/choice.hpp"
#include "tools/text/nearest.hpp"
#include "tools/timeline/passing_events.hpp"
#include "tools/view/page.hpp"

#include <algorithm>
#include <cstdio>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace {

namespace tools = libprofile::tools;

std::string did_you_mean(const std::string& wrong, const std::vector<std::string>& names) {
    const std::string near = tools::nearest_name(wrong, names);
    return near.empty() ? std::string() : fmt::format("; did you mean {}?", near);
}

/// What is wrong with the first unexpected argument.
std::string about_unexpected(const CLI::App& app, const std::vector<std::string>& arguments, const std::string& fallback) {
    std::vector<std::string> commands = {"run"}, options = {"--help"};
    const CLI::App* command = nullptr;
    for (const CLI::App* sub : app.get_subcommands({})) {
        commands.push_back(sub->get_name());
        if (!arguments.empty() && sub->get_name() == arguments[0]) command = sub;
    }
    if (command == nullptr && !arguments.empty() && !arguments[0].starts_with("-"))
        return fmt::format("there is no command {}{}", arguments[0], did_you_mean(arguments[0], commands));
    for (const CLI::Option* option : (command == nullptr ? &app : command)->get_options())
        for (const std::string& name : option->get_lnames()) options.push_back("--" + name);
    for (const std::string& argument : arguments) {
        const std::string name = argument.substr(0, argument.find('='));
        if (argument.starts_with("--") && argument != "--" && std::find(options.begin(), options.end(), name) == options.end())
            return fmt::format("{} has no option {}{}", command == nullptr ? "libprofile" : "libprofile " + command->get_name(), name,
                               did_you_mean(name, options));
    }
    return fallback;
}

int dispatch(int argc, char** argv) {
    // The arguments of `run` belong to the program from some point on, so they are taken apart there.
    if (argc > 1 && std::string(argv[1]) == "run") return tools::run(std::vector<std::string>(argv + 2, argv + argc));

    CLI::App app;
    bool help = false, version = false, command_help = false;
    const auto commands = tools::make_commands();
    tools::declare(app, commands, {help, version, command_help});
    try {
        app.parse(argc, argv);
    } catch (const CLI::ExtrasError& error) {
        const std::vector<std::string> arguments(argv + 1, argv + argc);
        std::vector<std::string> extra = app.remaining(true);
        std::sort(extra.begin(), extra.end(), [&](const std::string& a, const std::string& b) {
            return std::find(arguments.begin(), arguments.end(), a) < std::find(arguments.begin(), arguments.end(), b);
        });
        const std::string all = fmt::format("{} {} not expected", fmt::join(extra, " "), extra.size() == 1 ? "was" : "were");
        throw tools::UsageError(fmt::format("{}; see libprofile --help", about_unexpected(app, arguments, extra.empty() ? error.what() : all)));
    } catch (const CLI::ParseError& error) {
        throw tools::UsageError(fmt::format("{}; see libprofile --help", error.what()));
    }
    if (version) {
        fmt::print("libprofile {}\n", LIBPROFILE_VERSION);
        return 0;
    }
    for (const auto& command : commands) {
        if (!app.get_subcommand(command->name())->parsed()) continue;
        if (!command_help) return command->run();
        fmt::print("{}", command->help());
        return 0;
    }
    fmt::print(help ? stdout : stderr, "{}", tools::overview(commands));
    return help ? 0 : 2;
}

void print_error(const char* message) { fmt::print(stderr, "libprofile: error: {}\n", tools::printable(message)); }

} // namespace

int main(int argc, char** argv) {
    try {
        const int code = dispatch(argc, argv);
        if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
            print_error("cannot write to standard output; free some space or redirect it");
            return 1;
        }
        return code;
    } catch (const tools::UsageError& error) {
        print_error(error.what());
        return 2;
    } catch (const tools::ReadError& error) {
        print_error(error.what());
    } catch (const tools::FrameError& error) {
        print_error(error.what());
    } catch (const tools::SelectionError& error) {
        print_error(error.what());
    } catch (const tools::FilterError& error) {
        print_error(error.what());
    } catch (const tools::NotRecordedInFull& error) {
        print_error(error.what());
    } catch (const tools::ExportError& error) {
        print_error(error.what());
    } catch (const tools::PlotError& error) {
        print_error(error.what());
    } catch (const tools::ViewError& error) {
        print_error(error.what());
    } catch (const std::bad_alloc&) {
        print_error("out of memory; read the profile on a larger machine");
    } catch (const std::exception& error) {
        print_error(fmt::format("{}; please report this", error.what()).c_str());
    }
    return 1;
}
