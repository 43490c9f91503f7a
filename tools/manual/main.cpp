// Writes the man pages and the completion for bash: write_manual FOLDER. Part of the build.
#include "tools/launch/run.hpp"
#include "tools/manual/completion.hpp"
#include "tools/manual/man_page.hpp"

#include <cstdio>
#include <exception>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <stdexcept>

namespace {

namespace fs = std::filesystem;
namespace tools = libprofile::tools;

void write(const fs::path& file, const std::string& text) {
    fs::create_directories(file.parent_path());
    std::ofstream out(file);
    if (!(out << text << std::flush)) throw std::runtime_error("cannot write " + file.string());
}

void write_page(const fs::path& folder, const tools::ManPage& page) {
    write(folder / fmt::format("man/man{}/{}.{}", page.section, page.name, page.section), tools::man_page(page, LIBPROFILE_VERSION));
}

void write_all(const fs::path& folder) {
    const auto commands = tools::make_commands();
    std::string pages = "libprofile-run(1)";
    for (const auto& command : commands) pages += fmt::format(", libprofile-{}(1)", command->name());
    write_page(folder, {"libprofile", 1, "time-series call-path profiles of parallel programs",
                        "Usage: libprofile COMMAND [arguments]\n" + tools::overview(commands) +
                            "\nExit status:\n  0   all is well\n  1   it could not be done; one sentence on standard error says why\n"
                            "  2   the arguments are wrong\n",
                        pages + ", libprofile-options(7)"});
    write_page(folder, {"libprofile-run", 1, "start a program with the measurement library",
                        tools::run_help() + "\nExit status:\n  127   the program was not found\n  126   it cannot be started\n"
                                            "  2     the arguments are wrong\n  else  that of the program\n",
                        "libprofile(1), libprofile-options(7)"});
    for (const auto& command : commands)
        write_page(folder, {std::string("libprofile-") + command->name(), 1, command->summary(), command->help(), "libprofile(1), libprofile-options(7)"});
    write(folder / "man/man7/libprofile-options.7", tools::options_man_page(LIBPROFILE_VERSION));
    write(folder / "bash-completion/completions/libprofile", tools::bash_completion(commands));
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fprintf(stderr, "usage: write_manual FOLDER\n");
        return 2;
    }
    try {
        write_all(argv[1]);
        return 0;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "write_manual: error: %s\n", error.what());
        return 1;
    }
}
