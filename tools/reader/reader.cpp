#include "tools/reader/reader.hpp"

#include "tools/reader/byte_source.hpp"
#include "tools/reader/unify.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <memory>

namespace libprofile::tools {

namespace fs = std::filesystem;

namespace {

constexpr const char* partial_suffix = ".partial";

bool ends_with(const std::string& text, const std::string& end) {
    return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

} // namespace

std::vector<fs::path> profile_files(const fs::path& folder) {
    std::vector<fs::path> files;
    std::error_code error;
    for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
        const std::string name = at->path().filename().string();
        std::error_code ignored;
        if (name == totals_file) continue;
        if ((ends_with(name, file_suffix) || ends_with(name, std::string(file_suffix) + partial_suffix)) && at->is_regular_file(ignored))
            files.push_back(at->path());
    }
    if (error) throw ReadError(fmt::format("cannot list the folder {}: {}", folder.string(), error.message()));
    std::sort(files.begin(), files.end(), [](const fs::path& a, const fs::path& b) {
        const auto key = [](const fs::path& p) {
            const std::string name = p.filename().string();
            return std::tuple(ends_with(name, partial_suffix), name != "profile.lprof", name.size(), name);
        };
        return key(a) < key(b);
    });
    return files;
}

namespace {

/// Decodes the files with `decode` and makes one profile of them.
template <class Files, class Name, class Decode> Profile read_files(const Files& files, Name name_of, Decode decode) {
    std::vector<RawFile> decoded;
    std::string failure;
    for (const auto& file : files) {
        const std::string name = name_of(file);
        try {
            decoded.push_back(decode(file));
            decoded.back().partial = ends_with(name, partial_suffix);
            // Names are a convenience: without them they are looked up again.
            if (name == names_file) decoded.back().damages.clear();
        } catch (const ReadError& error) {
            if (name == names_file) continue;
            if (failure.empty()) failure = fmt::format("{} is {}", name, error.what());
            RawFile unreadable;
            unreadable.name = name;
            unreadable.damages.note([&] { return std::string(error.what()); });
            decoded.push_back(std::move(unreadable));
        }
    }
    if (std::all_of(decoded.begin(), decoded.end(), [](const RawFile& f) { return f.ranks.empty(); }) && !failure.empty()) throw ReadError(failure);
    return unify(std::move(decoded));
}

/// The profile files at a path.
std::vector<fs::path> files_at(const fs::path& path) {
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    if (!fs::exists(status)) throw ReadError(fmt::format("{} does not exist; give the folder that libprofile named at the end of the job", path.string()));
    if (fs::is_regular_file(status)) return {path};
    if (!fs::is_directory(status)) throw ReadError(fmt::format("{} is neither a folder nor a file", path.string()));
    std::vector<fs::path> paths = profile_files(path);
    if (std::any_of(paths.begin(), paths.end(), [](const fs::path& p) { return p.filename() != names_file; })) return paths;
    throw ReadError(fs::exists(path / "job", error) ? fmt::format("{} has no profile: the job still runs, or it was killed before its first iteration or "
                                                                  "checkpoint; wait until it ends, or mark its iterations "
                                                                  "(docs/getting-started.md)",
                                                                  path.string())
                                                    : fmt::format("there is no profile in {}; give the folder that libprofile named at the end "
                                                                  "of the job (libprofile-<program>-<job>)",
                                                                  path.string()));
}

template <class Decode> Profile read_path(const fs::path& path, Decode decode) {
    const std::vector<fs::path> paths = files_at(path);
    const auto name_of = [](const fs::path& file) { return file.filename().string(); };
    try {
        return read_files(paths, name_of, [&](const fs::path& file) { return decode(file, name_of(file)); });
    } catch (const ReadError& failure) {
        throw ReadError(fmt::format("cannot read the profile in {}: {}; measure the job again, or give another folder", path.string(), failure.what()));
    }
}

} // namespace

Profile read_profile(std::span<const NamedBytes> files) {
    return read_files(
        files, [](const NamedBytes& file) { return file.name; }, [](const NamedBytes& file) { return decode_file(file.bytes, file.name); });
}

Profile read_profile(const fs::path& path) {
    return read_path(path, [](const fs::path& file, const std::string& name) {
        const FileSource source(file);
        return decode_file(source.read(0, source.size()), name);
    });
}

Profile read_profile_without_events(const fs::path& path, std::uint64_t least) {
    return read_path(path, [&](const fs::path& file, const std::string& name) {
        const FileSource source(file);
        std::optional<RawFile> rest = decode_without_events(source, file, least);
        return rest ? std::move(*rest) : decode_file(source.read(0, source.size()), name);
    });
}

Profile read_profile(const fs::path& path, const Selection& selection) {
    return read_path(path, [&](const fs::path& file, const std::string& name) {
        const FileSource source(file);
        return decode_selected(source, name, selection);
    });
}

Profile read_profile(const ByteSource& source, const std::string& name, const Selection& selection) {
    std::vector<RawFile> files;
    files.push_back(decode_selected(source, name, selection));
    return unify(std::move(files));
}

} // namespace libprofile::tools
