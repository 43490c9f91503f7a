#include "tools/launch/run.hpp"

#include "libprofile/base/launcher.hpp"
#include "tools/launch/executable.hpp"
#include "tools/launch/iteration_line.hpp"
#include "tools/launch/machine_file.hpp"
#include "tools/launch/settings.hpp"
#include "tools/names/labels.hpp"
#include "tools/text/layout.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

namespace libprofile::tools {

namespace fs = std::filesystem;

namespace {

int fail(int code, const std::string& message) {
    if (is_first_of_job())
        fmt::print(stderr, "libprofile: error: {}\n", printable(message));
    else
        ::usleep(500000); // launchers kill the other ranks when one fails: the one that speaks must come first
    return code;
}

/// lib/libprofile.so of the installation, or that of the build tree; empty when neither is there.
std::string runtime_library() {
    std::error_code error;
    fs::path self = fs::read_symlink("/proc/self/exe", error);
    if (error) // no /proc: as it was started, which the kernel tells, too
        self = fs::canonical(reinterpret_cast<const char*>(::getauxval(AT_EXECFN)), error);
    if (error) return "";
    for (const char* relative : {"../lib/libprofile.so", "../libprofile/libprofile.so"}) {
        const fs::path path = (self.parent_path() / relative).lexically_normal();
        if (fs::exists(path, error)) return path.string();
    }
    return "";
}

/// The runtime comes last: libraries that are preloaded already keep their position. What must be `first` comes first of all.
std::string preload_value(const std::string& library, const std::string& first = "") {
    const char* present = std::getenv("LD_PRELOAD");
    std::string value = first;
    if (present != nullptr && *present != 0) value += (first.empty() ? "" : ":") + std::string(present);
    if (value.empty()) return library;
    std::string list = value;
    for (char& c : list)
        if (c == ' ') c = ':';
    if ((":" + list + ":").find(":" + library + ":") != std::string::npos) return value;
    return value + ":" + library;
}

/// LIBPROFILE_QUIET as this run sets it, or as the environment has it.
bool is_quiet(const RunRequest& request) {
    const char* inherited = std::getenv("LIBPROFILE_QUIET");
    std::string value = inherited == nullptr ? "0" : inherited;
    for (const auto& [variable, setting] : request.settings)
        if (variable == "LIBPROFILE_QUIET") value = setting;
    return flag_value(value);
}

const OptionRow* find_option(const std::string& flag) {
    for (const OptionRow& row : option_table)
        if (flag_of(row) == flag) return &row;
    return nullptr;
}

/// The description's first clause, for a table that fits on a screen.
std::string first_clause(const char* description) {
    const std::string text = description;
    return text.substr(0, std::min({text.find(" ("), text.find("; "), text.find(": same call")}));
}

} // namespace

RunRequest parse_run(const std::vector<std::string>& arguments) {
    RunRequest request;
    std::size_t i = 0;
    for (; i < arguments.size(); ++i) {
        const std::string& argument = arguments[i];
        if (argument == "--") {
            ++i;
            break;
        }
        if (argument.size() < 2 || argument[0] != '-') break;
        if (argument == "-h" || argument == "--help") {
            request.help = true;
            return request;
        }
        if (argument == "--print-env") {
            request.print_env = true;
            continue;
        }
        const std::size_t equals = argument.find('=');
        const std::string flag = argument.substr(0, equals);
        const OptionRow* row = find_option(flag);
        if (row == nullptr) {
            request.problem = fmt::format("run has no option {}; see libprofile run --help", flag);
            return request;
        }
        std::string value = "1";
        if (equals != std::string::npos)
            value = argument.substr(equals + 1);
        else if (row->type != OptionType::Flag) {
            if (i + 1 == arguments.size() || arguments[i + 1] == "--") {
                request.problem = fmt::format("{} needs a value; see libprofile run --help", flag);
                return request;
            }
            value = arguments[++i];
        }
        if (const std::string problem = value_problem(*row, value); !problem.empty()) {
            request.problem = fmt::format("{} {}, not \"{}\"", flag, problem, value);
            return request;
        }
        request.settings.emplace_back(std::string(option_prefix) + row->name, value);
    }
    request.command.assign(arguments.begin() + static_cast<std::ptrdiff_t>(std::min(i, arguments.size())), arguments.end());
    if (request.command.empty() && !request.print_env) request.problem = "no program to run; usage: mpirun -n 4 libprofile run -- ./app args";
    return request;
}

std::string run_help() {
    std::string out = "Examples:\n"
                      "  mpirun -n 4 libprofile run -- ./app args           measure a job\n"
                      "  mpirun -n 4 libprofile run --sample 0 -- ./app     MPI calls and phases only, no sampling\n"
                      "  mpirun -n 4 env $(libprofile run --print-env) ./app    the same by hand\n"
                      "  libprofile run -- ./app                            a program without MPI\n\n"
                      "Usage: libprofile run [options] [--] program [arguments]\n"
                      "Starts the program with the measurement library preloaded. The results are in a new folder\n"
                      "libprofile-<program>-<job>; read them with: libprofile report FOLDER\n\nOptions:\n";
    for (const OptionRow& row : option_table) {
        const std::string value = row.type == OptionType::Flag       ? ""
                                  : row.type == OptionType::Rate     ? " RATE"
                                  : row.type == OptionType::Duration ? " TIME"
                                                                     : " " + range_of(row);
        const std::string fallback = *row.default_value != 0 && row.type != OptionType::Flag ? fmt::format(" [{}]", row.default_value) : "";
        std::string head = flag_of(row) + value;
        for (const std::string& line : wrapped(first_clause(row.description) + fallback, 60)) {
            out += fmt::format("  {:<36} {}\n", head, line);
            head.clear();
        }
    }
    out += fmt::format("  {:<36} {}\n", "--print-env", "print the environment as NAME=value lines and stop");
    out += "Each option is also an environment variable: --sample 50Hz is LIBPROFILE_SAMPLE=50Hz (libprofile "
           "options).\n";
    return out;
}

std::string find_program(const std::string& name) {
    const auto is_program = [](const std::string& path) {
        struct stat status {};
        return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) && ::access(path.c_str(), X_OK) == 0;
    };
    if (name.find('/') != std::string::npos) return is_program(name) ? name : "";
    const char* list = std::getenv("PATH");
    const std::string path = list == nullptr ? "/bin:/usr/bin" : list; // as execvp
    for (std::size_t at = 0; at <= path.size();) {
        const std::size_t end = std::min(path.find(':', at), path.size());
        const std::string folder = path.substr(at, end - at);
        const std::string candidate = (folder.empty() ? std::string(".") : folder) + "/" + name;
        if (is_program(candidate)) return candidate;
        at = end + 1;
    }
    return "";
}

int run(const std::vector<std::string>& arguments) {
    const RunRequest request = parse_run(arguments);
    if (request.help) {
        fmt::print("{}", run_help());
        return 0;
    }
    if (!request.problem.empty()) return fail(2, request.problem);
    const std::string library = runtime_library();
    if (library.empty()) return fail(1, "lib/libprofile.so is not next to this program's bin folder; install libprofile again");
    // The loader splits LD_PRELOAD at blanks and colons, and there is no way to quote them.
    if (library.find_first_of(" :") != std::string::npos)
        return fail(1, fmt::format("cannot preload {}: its path contains a blank or a colon; install libprofile "
                                   "somewhere else",
                                   library));
    if (request.print_env) {
        fmt::print("LD_PRELOAD={}\n", preload_value(library));
        for (const auto& [name, value] : request.settings) fmt::print("{}={}\n", name, value);
        return 0;
    }

    const std::string& name = request.command.front();
    const std::string program = find_program(name);
    if (const std::string why = why_not_measurable(program); !why.empty()) {
        if (is_first_of_job() && !is_quiet(request)) fmt::print(stderr, "libprofile: warning: {} {}; running it without measurement\n", printable(name), why);
    } else {
        for (const auto& [variable, value] : request.settings) ::setenv(variable.c_str(), value.c_str(), 1);
        if (const char* iteration = std::getenv("LIBPROFILE_ITERATION")) {
            const std::string asked = iteration;
            std::string problem;
            ::setenv("LIBPROFILE_ITERATION", with_code_ranges(asked, program, problem).c_str(), 1);
            if (!problem.empty() && is_first_of_job() && !is_quiet(request))
                fmt::print(stderr, "libprofile: warning: LIBPROFILE_ITERATION={}: {}; iterations are what the program marks\n", printable(asked),
                           printable(problem));
        }
        if (const std::string machine = machine_file(); !machine.empty()) ::setenv("LIBPROFILE_MACHINE_FILE", machine.c_str(), 1);
        ::setenv("LIBPROFILE_RUN_PID", fmt::format("{}", ::getpid()).c_str(), 1);
        ::setenv("LD_PRELOAD", preload_value(library, address_sanitizer(program)).c_str(), 1);
    }
    std::vector<char*> pointers;
    std::vector<std::string> command = request.command;
    for (std::string& word : command) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    std::fflush(nullptr);
    ::execvp(pointers[0], pointers.data());
    const int reason = errno;
    return fail(reason == ENOENT ? 127 : 126, fmt::format("cannot run {}: {}", name, std::strerror(reason)));
}

} // namespace libprofile::tools
