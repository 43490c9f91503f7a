#include "tools/launch/iteration_line.hpp"

#include "tools/names/code_of_line.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace libprofile::tools {

namespace {

/// The libraries that the loader would load with a program, as the loader itself lists them (ldd).
std::vector<std::string> libraries_of(const std::string& program) {
    std::vector<std::string> found;
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return found;
    std::vector<std::string> variables{"LD_TRACE_LOADED_OBJECTS=1"};
    if (const char* path = std::getenv("LD_LIBRARY_PATH")) variables.push_back(std::string("LD_LIBRARY_PATH=") + path);
    std::vector<char*> environment;
    for (std::string& variable : variables) environment.push_back(variable.data());
    environment.push_back(nullptr);
    std::string path = program;
    std::array<char*, 2> arguments{path.data(), nullptr};
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    pid_t child = 0;
    const int error = ::posix_spawn(&child, program.c_str(), &actions, nullptr, arguments.data(), environment.data());
    posix_spawn_file_actions_destroy(&actions);
    ::close(ends[1]);
    std::string text;
    std::array<char, 4096> buffer;
    for (ssize_t n = 0; error == 0 && (n = ::read(ends[0], buffer.data(), buffer.size())) > 0;) text.append(buffer.data(), static_cast<std::size_t>(n));
    ::close(ends[0]);
    if (error == 0) ::waitpid(child, nullptr, 0);
    for (std::size_t at = 0; (at = text.find("=> /", at)) != std::string::npos;) {
        at += 3;
        found.push_back(text.substr(at, text.find_first_of(" \n", at) - at));
    }
    return found;
}

bool is_elf(const std::string& path) {
    std::array<char, 4> magic{};
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    const bool is = fd >= 0 && ::read(fd, magic.data(), magic.size()) == 4 && std::string_view(magic.data(), 4) == "\177ELF";
    if (fd >= 0) ::close(fd);
    return is;
}

/// The parts of a list, without those commas that are in brackets: f(int, int) is one.
std::vector<std::string> parts_of(const std::string& list) {
    std::vector<std::string> parts(1);
    int depth = 0;
    for (const char c : list) {
        depth += c == '(' || c == '<' ? 1 : (c == ')' || c == '>') && depth > 0 ? -1 : 0;
        if (c == ',' && depth == 0)
            parts.emplace_back();
        else
            parts.back() += c;
    }
    return parts;
}

/// "f:12" as its function and line.
bool is_line(const std::string& text, std::string& function, std::uint64_t& line) {
    const std::size_t colon = text.rfind(':');
    if (colon == std::string::npos || colon == 0 || text[colon - 1] == ':') return false;
    const char* end = text.data() + text.size();
    if (const auto [at, error] = std::from_chars(text.data() + colon + 1, end, line); error != std::errc() || at != end) return false;
    function = text.substr(0, colon);
    return true;
}

/// The program and its libraries.
std::vector<std::string> modules_of(const std::string& program) {
    std::vector<std::string> modules;
    if (program.empty() || !is_elf(program)) return modules;
    std::error_code error;
    const std::filesystem::path real = std::filesystem::canonical(program, error);
    modules.push_back(error ? program : real.string());
    for (std::string& library : libraries_of(program)) modules.push_back(std::move(library));
    return modules;
}

/// "app+0x10-0x20|app+0x50-0x60": the code of a line, in the first module that has some; empty: there is none.
std::string ranges_of(const std::vector<std::string>& modules, const std::string& function, std::uint64_t line) {
    for (const std::string& module : modules) {
        const CodeOfLine code = code_of_line(module, function, line);
        const std::string name = module.substr(module.rfind('/') + 1);
        std::string ranges;
        constexpr std::size_t most = 12;
        for (std::size_t i = 0; i < std::min(most, code.ranges.size()); ++i)
            ranges += fmt::format("{}{}+{:#x}-{:#x}", i == 0 ? "" : "|", name, code.ranges[i].begin, code.ranges[i].end);
        if (!ranges.empty()) return ranges;
    }
    return "";
}

} // namespace

std::string with_code_ranges(const std::string& value, const std::string& program, std::string& problem) {
    const std::size_t equals = value.find('=');
    std::vector<std::string> parts = parts_of(equals == std::string::npos ? value : value.substr(equals + 1));
    std::vector<std::string> modules;
    std::string list, function;
    bool has_lines = false;
    for (std::string& part : parts) {
        std::uint64_t line = 0;
        if (is_line(part, function, line)) {
            if (!has_lines) modules = modules_of(program);
            has_lines = true;
            std::string ranges = ranges_of(modules, function, line);
            if (ranges.empty()) {
                problem = fmt::format("no code for line {} of a function \"{}\" is known in {} and its libraries; compile with -g, "
                                      "take a line that has code, and name it by its function, not by the file",
                                      line, function, program.empty() ? "the program" : program);
                return "marker";
            }
            part = std::move(ranges);
        }
        list += (list.empty() ? "" : ",") + part;
    }
    if (!has_lines) return value;
    return (equals == std::string::npos || equals == 0 ? value.substr(equals == 0 ? 1 : 0) : value.substr(0, equals)) + "=" + list;
}

} // namespace libprofile::tools
