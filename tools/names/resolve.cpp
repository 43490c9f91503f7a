#include "tools/names/resolve.hpp"

#include "tools/names/labels.hpp"
#include "tools/names/loop_names.hpp"
#include "tools/names/symbols.hpp"
#include "tools/reader/decode.hpp"
#include "tools/reader/reader.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace libprofile::tools {

namespace {

/// "libprofile: resolving names: 3 of 12 modules", rewritten in place, from the second second on.
class Progress {
  public:
    Progress(bool wanted, std::size_t modules) : wanted_(wanted), modules_(modules), start_(std::chrono::steady_clock::now()) {}
    ~Progress() {
        if (shown_) std::fputs("\r\x1b[K", stderr);
    }
    void at(std::size_t module, const std::string& path) {
        if (!wanted_ || std::chrono::steady_clock::now() - start_ < std::chrono::seconds(1)) return;
        shown_ = true;
        fmt::print(stderr, "\r\x1b[Klibprofile: resolving names: module {} of {}, {:.40}", module + 1, modules_, printable(base_name(path)));
        std::fflush(stderr);
    }

  private:
    bool wanted_;
    bool shown_ = false;
    std::size_t modules_;
    std::chrono::steady_clock::time_point start_;
};

} // namespace

Resolution resolve_names(Profile& profile, bool progress) {
    Resolution result;
    std::vector<std::vector<std::uint32_t>> wanted(profile.modules.size()); // sites by module
    for (std::uint32_t s = 0; s < profile.sites.size(); ++s)
        if (profile.sites[s].name.line == 0) wanted[profile.sites[s].module].push_back(s);
    Progress line(progress, profile.modules.size());
    for (std::size_t m = 0; m < wanted.size(); ++m) {
        if (wanted[m].empty()) continue;
        line.at(m, profile.modules[m].path);
        Symbols symbols(profile.modules[m]);
        if (symbols.state() == ModuleState::Different) result.different.push_back(profile.modules[m].path);
        if (symbols.state() != ModuleState::Readable) continue;
        // In the order of addresses, so that a compilation unit is read once.
        std::sort(wanted[m].begin(), wanted[m].end(), [&](std::uint32_t a, std::uint32_t b) { return profile.sites[a].offset < profile.sites[b].offset; });
        for (const std::uint32_t s : wanted[m]) {
            line.at(m, profile.modules[m].path);
            SourceCode code = symbols.resolve(profile.sites[s].offset);
            Site& site = profile.sites[s];
            if (code.function.function.empty() || (code.function.line == 0 && code.function.function == site.name.function) ||
                (is_unresolved(code.function) && !is_unresolved(site.name)))
                continue;
            site.name = std::move(code.function);
            site.inlined = std::move(code.inlined);
            ++result.added;
        }
    }
    name_loops(profile);
    return result;
}

std::vector<unsigned char> encode_names(const Profile& profile) {
    const auto view = [](const std::string& s) { return Text(s.data(), s.size()); };
    const auto encode = [&](Encoder& e) {
        std::uint64_t count = 0;
        for (const Site& site : profile.sites) count += site.name.function.empty() ? 0 : 1;
        e.number(count);
        for (const Site& site : profile.sites) {
            if (site.name.function.empty()) continue;
            const Module& module = profile.modules[site.module];
            NameRecord r{view(module.build_id), view(module.path), site.offset,        view(site.name.function),
                         view(site.name.file),  site.name.line,    site.inlined.size()};
            describe(e, r);
            for (const SiteName& inlined : site.inlined) {
                InlinedRecord record{view(inlined.function), view(inlined.file), inlined.line};
                describe(e, record);
            }
        }
    };
    Encoder measure(nullptr, 0);
    encode(measure);
    const std::size_t payload = measure.size(), start = sizeof(FileHeader) + sizeof(BlockHeader);
    std::vector<unsigned char> bytes(start + (payload + 7) / 8 * 8);
    Encoder encoder(bytes.data() + start, payload);
    encode(encoder);
    FileHeader file{};
    std::memcpy(file.magic, file_magic, sizeof file_magic);
    file.version = format_version;
    const BlockHeader block{block_magic, static_cast<std::uint32_t>(BlockType::Names), payload, payload, crc32(bytes.data() + start, payload), no_rank};
    std::memcpy(bytes.data(), &file, sizeof file);
    std::memcpy(bytes.data() + sizeof file, &block, sizeof block);
    return bytes;
}

bool store_names(const Profile& profile, const std::filesystem::path& folder) {
    const std::vector<unsigned char> bytes = encode_names(profile);
    std::string temporary = (folder / ".names.XXXXXX").string();
    const int fd = ::mkstemp(temporary.data());
    if (fd < 0) return false;
    std::size_t done = 0;
    while (done < bytes.size()) {
        const ssize_t put = ::write(fd, bytes.data() + done, bytes.size() - done);
        if (put <= 0) break;
        done += static_cast<std::size_t>(put);
    }
    // As readable as the profile itself, not 0600.
    const mode_t mask = ::umask(0);
    ::umask(mask);
    const bool written = ::fchmod(fd, 0666 & ~mask) == 0 && done == bytes.size();
    const bool closed = ::close(fd) == 0;
    const bool good = written && closed && std::rename(temporary.c_str(), (folder / names_file).c_str()) == 0;
    if (!good) ::unlink(temporary.c_str());
    return good;
}

} // namespace libprofile::tools
