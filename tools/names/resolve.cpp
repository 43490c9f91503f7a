#include "tools/names/resolve.hpp"

#include "tools/names/labels.hpp"
#include "tools/names/loop_names.hpp"
#include "tools/names/symbols.hpp"
#include "tools/reader/code_loops.hpp"
#include "tools/reader/decode.hpp"
#include "tools/reader/reader.hpp"
#include "tools/reader/replaced_file.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <memory>
#include <optional>
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

Resolution resolve_names(Profile& profile, bool progress, NameCache* cache) {
    Resolution result;
    NameCache own;
    if (cache == nullptr) cache = &own;
    std::vector<std::vector<std::uint32_t>> wanted(profile.modules.size()); // sites by module
    for (std::uint32_t s = 0; s < profile.sites.size(); ++s)
        if (profile.sites[s].name.line == 0) wanted[profile.sites[s].module].push_back(s);
    Progress line(progress, profile.modules.size());
    for (std::size_t m = 0; m < wanted.size(); ++m) {
        if (wanted[m].empty()) continue;
        line.at(m, profile.modules[m].path);
        const auto [at, is_new] = cache->modules.try_emplace({profile.modules[m].build_id, profile.modules[m].path});
        NameCache::KnownModule& known = at->second;
        std::unique_ptr<Symbols> symbols;
        const auto open = [&] {
            symbols = std::make_unique<Symbols>(profile.modules[m]);
            known.state = symbols->state();
        };
        if (is_new) open();
        if (known.state == ModuleState::Different) result.different.push_back(profile.modules[m].path);
        if (known.state != ModuleState::Readable) continue;
        // In the order of addresses, so that a compilation unit is read once.
        std::sort(wanted[m].begin(), wanted[m].end(), [&](std::uint32_t a, std::uint32_t b) { return profile.sites[a].offset < profile.sites[b].offset; });
        for (const std::uint32_t s : wanted[m]) {
            line.at(m, profile.modules[m].path);
            Site& site = profile.sites[s];
            auto found = known.sites.find(site.offset);
            if (found == known.sites.end()) {
                if (!symbols) open();
                if (known.state != ModuleState::Readable) break; // rebuilt meanwhile
                found = known.sites.emplace(site.offset, symbols->resolve(site.offset)).first;
            }
            const SourceCode& code = found->second;
            if (code.function.function.empty() || (code.function.line == 0 && code.function.function == site.name.function) ||
                (is_unresolved(code.function) && !is_unresolved(site.name)))
                continue;
            site.name = code.function;
            site.inlined = code.inlined;
            ++result.added;
        }
    }
    name_loops(profile);
    return result;
}

namespace {

Text view(const std::string& s) { return {s.data(), s.size()}; }

void put_names(Encoder& e, const Profile& profile) {
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
}

void put_loops(Encoder& e, const Profile& profile) {
    std::uint64_t count = 0;
    for (const ModuleLoops& loops : profile.loops) count += loops.empty() ? 0 : 1;
    e.number(count);
    for (std::size_t m = 0; m < profile.loops.size(); ++m) {
        if (profile.loops[m].empty()) continue;
        ModuleRecord r{view(profile.modules[m].build_id), view(profile.modules[m].path)};
        describe(e, r);
        encode(e, profile.loops[m]);
    }
}

/// Appends a block of the job.
template <class Put> void add_block(std::vector<unsigned char>& bytes, BlockType type, Put put) {
    Encoder measure(nullptr, 0);
    put(measure);
    const std::size_t payload = measure.size(), at = bytes.size(), start = at + sizeof(BlockHeader);
    bytes.resize(start + (payload + 7) / 8 * 8);
    Encoder encoder(bytes.data() + start, payload);
    put(encoder);
    const BlockHeader block{block_magic, static_cast<std::uint32_t>(type), payload, payload, crc32(bytes.data() + start, payload), no_rank};
    std::memcpy(bytes.data() + at, &block, sizeof block);
}

} // namespace

std::vector<unsigned char> encode_names(const Profile& profile) {
    FileHeader file{};
    std::memcpy(file.magic, file_magic, sizeof file_magic);
    file.version = format_version;
    std::vector<unsigned char> bytes(sizeof file);
    std::memcpy(bytes.data(), &file, sizeof file);
    add_block(bytes, BlockType::Names, [&](Encoder& e) { put_names(e, profile); });
    if (!profile.loops.empty()) add_block(bytes, BlockType::CodeLoops, [&](Encoder& e) { put_loops(e, profile); });
    return bytes;
}

bool store_names(const Profile& profile, const std::filesystem::path& folder) {
    const std::vector<unsigned char> bytes = encode_names(profile);
    std::optional<ReplacedFile> file = ReplacedFile::open(folder, names_file);
    return file && file->write(bytes) && file->commit();
}

} // namespace libprofile::tools
