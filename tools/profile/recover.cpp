#include "tools/profile/recover.hpp"

#include "tools/profile/journal.hpp"
#include "tools/profile/reader.hpp"
#include "tools/profile/unify.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fmt/format.h>
#include <map>
#include <memory>
#include <set>
#include <unistd.h>

namespace libprofile::tools {

namespace fs = std::filesystem;

namespace {

/// Where the data of a rank are taken from.
struct Source {
    std::size_t file = 0;
    bool is_complete = false;
};

struct Plan {
    std::vector<fs::path> files;
    std::map<std::uint32_t, Source> ranks;
    std::vector<unsigned char> metrics; // of the first file; cells of files with others would mean something else
    std::vector<unsigned char> job;     // of the file of the rank that began first
    std::uint64_t start_unix_ns = 0;
    std::uint64_t ranks_of_job = 0;
};

Bytes payload_of(const BlockList& list, BlockType type) {
    for (const Block& block : list.blocks)
        if (block.type == type)
            return block.payload;
    return {};
}

/// Looks at one file: which ranks' data are better here than in those before.
void survey(const fs::path& path, Plan& plan, Recovery& result) {
    const std::string name = path.filename().string();
    const std::vector<unsigned char> bytes = load_file(path);
    std::optional<RawFile> file;
    BlockList list;
    try {
        list = find_blocks(bytes);
        file = decode_file(bytes, name);
    } catch (const ReadError& error) {
        result.left_out.push_back(fmt::format("{} is {}", name, error.what()));
        return;
    }
    const Bytes metrics = payload_of(list, BlockType::Metrics);
    if (plan.metrics.empty())
        plan.metrics.assign(metrics.begin(), metrics.end());
    if (!file->metrics || !std::equal(metrics.begin(), metrics.end(), plan.metrics.begin(), plan.metrics.end())) {
        result.left_out.push_back(fmt::format("{} has no table of metrics, or another one", name));
        return;
    }
    if (file->job) {
        plan.ranks_of_job = std::max(plan.ranks_of_job, file->job->ranks);
        if (plan.job.empty() || file->job->start_unix_ns < plan.start_unix_ns) {
            const Bytes job = payload_of(list, BlockType::Job);
            plan.job.assign(job.begin(), job.end());
            plan.start_unix_ns = file->job->start_unix_ns;
        }
    }
    bool is_used = false;
    for (const auto& [rank, raw] : file->ranks) {
        if (!raw.info || !raw.modules || !raw.functions || raw.trees.empty())
            continue;
        const bool is_whole = is_whole_rank(raw);
        const auto present = plan.ranks.find(rank);
        if (present != plan.ranks.end() && (present->second.is_complete || !is_whole))
            continue;
        plan.ranks[rank] = {plan.files.size(), is_whole};
        is_used = true;
    }
    if (is_used || !file->ranks.empty())
        plan.files.push_back(path);
    else
        result.left_out.push_back(fmt::format("{} has no rank's data", name));
}

class Writer {
  public:
    explicit Writer(const fs::path& path) : path_(path), file_(std::fopen(path.c_str(), "wbx"), &std::fclose) {
        if (!file_)
            fail();
    }
    void write(const void* bytes, std::size_t size) {
        if (std::fwrite(bytes, 1, size, file_.get()) != size)
            fail();
        size_ += size;
    }
    void block(BlockType type, std::uint32_t rank, Bytes payload) {
        BlockHeader header{};
        header.magic = block_magic;
        header.type = static_cast<std::uint32_t>(type);
        header.stored_size = header.raw_size = payload.size();
        header.crc = type == BlockType::Journal ? 0 : crc32(payload.data(), payload.size());
        header.rank = rank;
        write(&header, sizeof header);
        write(payload.data(), payload.size());
        const unsigned char zeros[8] = {};
        write(zeros, (8 - payload.size() % 8) % 8);
    }
    std::uint64_t finish() {
        if (std::fflush(file_.get()) != 0 || ::fsync(::fileno(file_.get())) != 0)
            fail();
        file_.reset();
        return size_;
    }

  private:
    [[noreturn]] void fail() const { throw ReadError(fmt::format("cannot write {}: {}", path_.string(), std::strerror(errno))); }

    fs::path path_;
    std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
    std::uint64_t size_ = 0;
};

void copy_rank(const BlockList& list, std::uint32_t rank, Writer& writer) {
    for (const Block& block : list.blocks) {
        if (block.rank != rank)
            continue;
        Bytes payload = block.payload;
        if (block.type == BlockType::Journal) {
            JournalScanner scanner(payload);
            while (scanner.next()) {
            }
            payload = payload.first(scanner.used());
        }
        writer.block(block.type, rank, payload);
    }
}

std::uint64_t write_profile(const Plan& plan, const fs::path& path) {
    Writer writer(path);
    FileHeader header{};
    std::memcpy(header.magic, file_magic, sizeof file_magic);
    header.version = format_version;
    header.ranks = plan.ranks.size();
    writer.write(&header, sizeof header);
    if (!plan.job.empty())
        writer.block(BlockType::Job, no_rank, plan.job);
    writer.block(BlockType::Metrics, no_rank, plan.metrics);
    for (std::size_t f = 0; f < plan.files.size(); ++f) {
        const std::vector<unsigned char> bytes = load_file(plan.files[f]);
        const BlockList list = find_blocks(bytes);
        for (const auto& [rank, source] : plan.ranks)
            if (source.file == f)
                copy_rank(list, rank, writer);
    }
    return writer.finish();
}

} // namespace

Recovery recover(const fs::path& folder) {
    std::error_code error;
    if (!fs::is_directory(folder, error))
        throw ReadError(fmt::format("{} is no folder; give the one that has the files of the job", folder.string()));
    Recovery result;
    result.file = folder / "profile.lprof";
    if (fs::exists(result.file, error))
        throw ReadError(fmt::format("{} is there already, and is never overwritten; read it with libprofile report {}",
                                    result.file.string(), folder.string()));
    Plan plan;
    for (const fs::path& path : profile_files(folder))
        if (path.filename() != names_file)
            survey(path, plan, result);
    if (plan.ranks.empty())
        throw ReadError(result.left_out.empty()
                            ? fmt::format("there is nothing to recover in {}: no file of any rank", folder.string())
                            : fmt::format("there is nothing to recover in {}: {}", folder.string(), result.left_out.front()));
    result.ranks_of_job = std::max<std::uint64_t>(plan.ranks_of_job, std::uint64_t{plan.ranks.rbegin()->first} + 1);
    const fs::path fresh = folder / "profile.lprof.recovered"; // no name that a reader takes for a profile
    fs::remove(fresh, error); // of a recovery that was interrupted
    try {
        result.bytes = write_profile(plan, fresh);
    } catch (...) {
        fs::remove(fresh, error);
        throw;
    }
    fs::create_hard_link(fresh, result.file, error); // fails where a rename would overwrite
    if (error && error != std::errc::file_exists) {
        error.clear(); // a file system without links
        fs::rename(fresh, result.file, error);
    }
    if (error)
        throw ReadError(fmt::format("cannot name the recovered profile {}: {}", result.file.string(), error.message()));
    std::error_code ignored;
    fs::remove(fresh, ignored);
    for (const auto& [rank, source] : plan.ranks)
        (source.is_complete ? result.ended : result.live).push_back(rank);
    for (const fs::path& path : plan.files)
        result.not_needed.push_back(path.filename().string());
    return result;
}

} // namespace libprofile::tools
