#include "tools/profile/reader.hpp"

#include "tools/profile/unify.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <memory>
#include <sys/stat.h>
#include <unistd.h>

namespace libprofile::tools {

namespace fs = std::filesystem;

namespace {

constexpr const char* partial_suffix = ".partial";

bool ends_with(const std::string& text, const std::string& end) {
    return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

} // namespace

std::vector<unsigned char> load_file(const fs::path& path) {
    const auto fail = [&] { throw ReadError(fmt::format("{}: {}", path.string(), std::strerror(errno))); };
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        fail();
    const auto close = [](const int* f) { ::close(*f); };
    const std::unique_ptr<const int, decltype(close)> closer(&fd, close);
    struct stat status {};
    if (::fstat(fd, &status) != 0)
        fail();
    std::vector<unsigned char> bytes(static_cast<std::size_t>(status.st_size));
    std::size_t have = 0;
    while (have < bytes.size()) {
        const ssize_t got = ::read(fd, bytes.data() + have, bytes.size() - have);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            fail();
        if (got == 0)
            break;
        have += static_cast<std::size_t>(got);
    }
    bytes.resize(have);
    return bytes;
}

std::vector<fs::path> profile_files(const fs::path& folder) {
    std::vector<fs::path> files;
    std::error_code error;
    for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
        const std::string name = at->path().filename().string();
        std::error_code ignored;
        if ((ends_with(name, file_suffix) || ends_with(name, std::string(file_suffix) + partial_suffix)) &&
            at->is_regular_file(ignored))
            files.push_back(at->path());
    }
    if (error)
        throw ReadError(fmt::format("cannot list the folder {}: {}", folder.string(), error.message()));
    std::sort(files.begin(), files.end(), [](const fs::path& a, const fs::path& b) {
        const auto key = [](const fs::path& p) {
            const std::string name = p.filename().string();
            return std::tuple(ends_with(name, partial_suffix), name != "profile.lprof", name.size(), name);
        };
        return key(a) < key(b);
    });
    return files;
}

Profile read_profile(std::span<const NamedBytes> files) {
    std::vector<RawFile> decoded;
    std::string failure;
    for (const NamedBytes& file : files) {
        try {
            decoded.push_back(decode_file(file.bytes, file.name));
            decoded.back().partial = ends_with(file.name, partial_suffix);
            // Names are a convenience: without them they are looked up again.
            if (file.name == names_file)
                decoded.back().damages.clear();
        } catch (const ReadError& error) {
            if (file.name == names_file)
                continue;
            if (failure.empty())
                failure = fmt::format("{} is {}", file.name, error.what());
            RawFile unreadable;
            unreadable.name = file.name;
            unreadable.damages.push_back(error.what());
            decoded.push_back(std::move(unreadable));
        }
    }
    if (std::all_of(decoded.begin(), decoded.end(), [](const RawFile& f) { return f.ranks.empty(); }) &&
        !failure.empty())
        throw ReadError(failure);
    return unify(std::move(decoded));
}

Profile read_profile(const fs::path& place) {
    std::error_code error;
    const fs::file_status status = fs::status(place, error);
    if (!fs::exists(status))
        throw ReadError(
            fmt::format("{} does not exist; give the folder that libprofile named at the end of the job",
                        place.string()));
    std::vector<fs::path> paths;
    if (fs::is_directory(status)) {
        paths = profile_files(place);
        if (std::none_of(paths.begin(), paths.end(),
                         [](const fs::path& p) { return p.filename() != names_file; }))
            throw ReadError(
                fs::exists(place / "job", error)
                    ? fmt::format("{} has no profile: the job still runs, or it was killed before its first iteration or "
                                  "checkpoint; let it end in order to get one, or let it mark its iterations "
                                  "(docs/getting-started.md)",
                                  place.string())
                    : fmt::format("there is no profile in {}; give the folder that libprofile named at the end "
                                  "of the job (libprofile-<program>-<job>)",
                                  place.string()));
    } else if (fs::is_regular_file(status)) {
        paths.push_back(place);
    } else {
        throw ReadError(fmt::format("{} is neither a folder nor a file", place.string()));
    }
    std::vector<std::vector<unsigned char>> bytes;
    std::vector<NamedBytes> files;
    for (const fs::path& path : paths)
        bytes.push_back(load_file(path));
    for (std::size_t i = 0; i < paths.size(); ++i)
        files.push_back({paths[i].filename().string(), bytes[i]});
    try {
        return read_profile(files);
    } catch (const ReadError& failure) {
        throw ReadError(
            fmt::format("cannot read the profile in {}: {}; measure the job again, or give another folder",
                        place.string(), failure.what()));
    }
}

} // namespace libprofile::tools
