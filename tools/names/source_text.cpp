#include "tools/names/source_text.hpp"

#include "tools/names/labels.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

namespace libprofile::tools {

namespace {

constexpr std::size_t most_bytes = std::size_t{16} << 20;

bool is_named_like_source(const std::string& path) {
    constexpr std::string_view endings[] = {"c",   "cc",  "cpp", "cxx", "c++",  "C",    "cu",  "hip",  "h",   "hh",  "hpp",  "hxx", "H",   "cuh", "inl", "ipp",
                                            "tpp", "tcc", "inc", "def", "f",    "for",  "ftn", "f77",  "f90", "f95", "f03",  "f08", "f18", "F",   "FOR", "F77",
                                            "F90", "F95", "F03", "F08", "F18",  "fpp",  "py",  "pyx",  "pxd", "pxi", "jl",   "rs",  "go",  "d",   "m",   "mm",
                                            "s",   "S",   "asm", "y",   "l",    "ll",   "yy",  "java", "js",  "ts",  "lua",  "rb",  "pl",  "r",   "R",   "ml",
                                            "hs",  "nim", "zig", "cl",  "ispc", "sycl", "x",   "t",    "txx", "ixx", "cppm", "chpl"};
    const std::string name = base_name(path);
    const std::size_t dot = name.find_last_of('.');
    // The headers of the standard library of C++ have no ending.
    if (dot == std::string::npos) return path.find("/include/") != std::string::npos;
    return dot != 0 && std::find(std::begin(endings), std::end(endings), std::string_view(name).substr(dot + 1)) != std::end(endings);
}

std::string normal(const std::string& path) {
    std::string text = std::filesystem::path(path).lexically_normal().string();
    while (!text.empty() && text.back() == '/') text.pop_back();
    return text;
}

/// Whether the bytes are there; else `problem` says why.
bool read_text(const std::string& path, std::string& bytes, std::int64_t& changed_ns, std::string& problem) {
    if (!is_named_like_source(path)) return problem = "it is not named like source code", false;
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK); // a pipe must not make us wait
    if (fd < 0) return problem = std::strerror(errno), false;
    struct stat status {};
    if (::fstat(fd, &status) != 0)
        problem = std::strerror(errno);
    else if (S_ISDIR(status.st_mode))
        problem = "it is a folder";
    else if (!S_ISREG(status.st_mode))
        problem = "it is no regular file";
    else if (static_cast<std::uint64_t>(status.st_size) > most_bytes)
        problem = "it is larger than 16 MiB";
    changed_ns = std::int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec;
    char part[1 << 16];
    while (problem.empty()) {
        const ssize_t got = ::read(fd, part, sizeof part);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) problem = std::strerror(errno);
        if (got <= 0) break;
        bytes.append(part, static_cast<std::size_t>(got));
        if (bytes.size() > most_bytes) problem = "it is larger than 16 MiB";
    }
    ::close(fd);
    if (problem.empty() && bytes.find('\0') != std::string::npos) problem = "it is no text";
    return problem.empty();
}

std::vector<std::string> lines_of(const std::string& bytes) {
    std::vector<std::string> lines;
    std::string line;
    const auto end_line = [&] {
        lines.push_back(printable(line));
        line.clear();
    };
    for (const char c : bytes) {
        if (c == '\n')
            end_line();
        else if (c == '\t')
            line.append(8 - line.size() % 8, ' ');
        else if (c != '\r')
            line += c;
    }
    if (!line.empty()) end_line();
    return lines;
}

} // namespace

SourceText read_source(const std::string& file, const std::vector<SourceMap>& maps) {
    const std::string recorded = normal(file);
    std::vector<std::string> candidates;
    for (const SourceMap& map : maps)
        if (const std::string from = normal(map.from); recorded == from || recorded.starts_with(from + "/"))
            candidates.push_back(map.to + recorded.substr(from.size()));
    candidates.push_back(recorded);
    SourceText first;
    for (const std::string& path : candidates) {
        SourceText text;
        text.path = path;
        std::string bytes;
        if (read_text(path, bytes, text.changed_ns, text.problem)) {
            text.lines = lines_of(bytes);
            return text;
        }
        if (first.path.empty()) first = std::move(text);
    }
    return first;
}

std::int64_t time_of_change(const std::string& path) {
    struct stat status {};
    return ::stat(path.c_str(), &status) != 0 ? 0 : std::int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec;
}

} // namespace libprofile::tools
