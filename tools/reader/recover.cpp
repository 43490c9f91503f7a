#include "tools/reader/recover.hpp"

#include "tools/reader/byte_source.hpp"
#include "tools/reader/job_state.hpp"
#include "tools/reader/journal.hpp"
#include "tools/reader/reader.hpp"
#include "tools/reader/unify.hpp"
#include "tools/reader/whole_ranks.hpp"

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

/// A payload as it is in a file.
struct StoredBlock {
    std::vector<unsigned char> bytes;
    std::uint64_t raw_size = 0;
};

std::vector<unsigned char> load(const fs::path& path) {
    const FileSource source(path);
    return source.read(0, source.size());
}

struct Plan {
    std::vector<fs::path> files;
    std::set<std::size_t> needed; // of them: they have ranks that cannot be taken
    std::map<std::uint32_t, Source> ranks;
    std::optional<std::size_t> tables_of_job; // the file that has them. One at most: their numbers mean nothing in another
    std::optional<StoredBlock> metrics;       // of the first file; cells of files with others would mean something else
    std::vector<MetricInfo> metric_infos;
    std::optional<StoredBlock> job; // of the file of the rank that began first
    std::uint64_t start_unix_ns = 0;
    std::uint64_t ranks_of_job = 0;
};

std::optional<StoredBlock> find_stored(const BlockList& list, BlockType type) {
    for (const Block& block : list.blocks)
        if (block.type == type) return StoredBlock{{block.stored.begin(), block.stored.end()}, block.raw_size};
    return std::nullopt;
}

bool are_equal(const std::vector<MetricInfo>& a, const std::vector<MetricInfo>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const MetricInfo& x, const MetricInfo& y) { return x.name == y.name && x.unit == y.unit; });
}

bool uses_tables_of_job(const RawRank& rank) {
    return std::any_of(rank.locations.begin(), rank.locations.end(),
                       [](const auto& location) { return location.second.paths_in != static_cast<std::uint64_t>(PathsIn::OwnTree); });
}

/// A profile next to its live files would spoil the end of a running job.
void refuse_living(const RawFile& file, const fs::path& path) {
    const std::string host = host_name();
    for (const auto& [rank, raw] : file.ranks)
        if (raw.info && !host.empty() && raw.info->host == host && is_living_rank(raw.info->pid, path.parent_path()))
            throw ReadError(fmt::format("rank {} still runs (process {} on this machine), and will write the profile when it ends; libprofile "
                                        "report {} shows what there is now",
                                        rank, raw.info->pid, path.parent_path().string()));
}

/// Which ranks' data are better in this file than in those before. Returns false if it has no data of any rank.
bool survey_ranks(const RawFile& file, const std::string& name, Plan& plan, Recovery& result) {
    bool has_tables_of_others = false;
    WholeRanks ranks(file);
    for (const auto& [rank, raw] : file.ranks) {
        if (!raw.info || raw.locations.empty() || !ranks.has_tables(raw)) continue;
        const bool is_whole = ranks.is_whole(raw);
        const auto present = plan.ranks.find(rank);
        if (present != plan.ranks.end() && (present->second.is_complete || !is_whole)) continue;
        if (uses_tables_of_job(raw)) {
            if (plan.tables_of_job && *plan.tables_of_job != plan.files.size()) {
                has_tables_of_others = true;
                continue;
            }
            plan.tables_of_job = plan.files.size();
        }
        plan.ranks[rank] = {plan.files.size(), is_whole};
    }
    if (has_tables_of_others) {
        plan.needed.insert(plan.files.size());
        result.left_out.push_back(fmt::format("{} cannot be joined with another file, because each has the call paths of its ranks in "
                                              "tables of the job",
                                              name));
    }
    return !file.ranks.empty();
}

/// Looks at one file.
void survey(const fs::path& path, Plan& plan, Recovery& result) {
    const std::string name = path.filename().string();
    RawFile file;
    BlockList list;
    std::vector<unsigned char> bytes;
    try {
        bytes = load(path);
        list = find_blocks(bytes);
        file = decode_file(bytes, name);
    } catch (const ReadError& error) {
        result.left_out.push_back(fmt::format("{} is {}", name, error.what()));
        return;
    }
    refuse_living(file, path);
    if (list.header.version == oldest_version) { // it has no journals
        result.left_out.push_back(fmt::format("{} is of format version {}", name, list.header.version));
        return;
    }
    if (!plan.metrics && file.metrics) {
        plan.metrics = find_stored(list, BlockType::Metrics);
        plan.metric_infos = *file.metrics;
    }
    if (!file.metrics || !are_equal(*file.metrics, plan.metric_infos)) {
        result.left_out.push_back(fmt::format("{} has no table of metrics, or another one", name));
        return;
    }
    if (file.job) {
        plan.ranks_of_job = std::max(plan.ranks_of_job, file.job->ranks);
        if (!plan.job || file.job->start_unix_ns < plan.start_unix_ns) {
            plan.job = find_stored(list, BlockType::Job);
            plan.start_unix_ns = file.job->start_unix_ns;
        }
    }
    if (survey_ranks(file, name, plan, result))
        plan.files.push_back(path);
    else
        result.left_out.push_back(fmt::format("{} has no rank's data", name));
}

class Writer {
  public:
    explicit Writer(const fs::path& path) : path_(path), file_(std::fopen(path.c_str(), "wbx"), &std::fclose) {
        if (!file_) fail();
    }
    void write(const void* bytes, std::size_t size) {
        if (std::fwrite(bytes, 1, size, file_.get()) != size) fail();
        size_ += size;
    }
    void block(BlockType type, std::uint32_t rank, Bytes payload, std::uint64_t raw_size) {
        BlockHeader header{};
        header.magic = block_magic;
        header.type = static_cast<std::uint32_t>(type);
        header.stored_size = payload.size();
        header.raw_size = raw_size;
        header.crc = type == BlockType::Journal ? 0 : crc32(payload.data(), payload.size());
        header.rank = rank;
        write(&header, sizeof header);
        write(payload.data(), payload.size());
        const unsigned char zeros[8] = {};
        write(zeros, (8 - payload.size() % 8) % 8);
    }
    std::uint64_t finish() {
        if (std::fflush(file_.get()) != 0 || ::fsync(::fileno(file_.get())) != 0) fail();
        file_.reset();
        return size_;
    }

  private:
    [[noreturn]] void fail() const { throw ReadError(fmt::format("cannot write {}: {}", path_.string(), std::strerror(errno))); }

    fs::path path_;
    std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
    std::uint64_t size_ = 0;
};

/// The job's tables and all ways into them, which ranks share.
void copy_tables_of_job(const BlockList& list, Writer& writer) {
    for (const Block& block : list.blocks) {
        const bool is_table = block.type == BlockType::Modules || block.type == BlockType::Functions || block.type == BlockType::Tree;
        if (block.type == BlockType::NodeMap || (is_table && block.rank == no_rank)) writer.block(block.type, block.rank, block.stored, block.raw_size);
    }
}

void copy_rank(const BlockList& list, std::uint32_t rank, Writer& writer) {
    for (const Block& block : list.blocks) {
        // A directory says where blocks are, and they are elsewhere now.
        if (block.rank != rank || block.type == BlockType::NodeMap || block.type == BlockType::Directory) continue;
        if (block.type != BlockType::Journal) {
            writer.block(block.type, rank, block.stored, block.raw_size);
            continue;
        }
        JournalScanner scanner(block.stored);
        while (scanner.next()) {
        }
        writer.block(block.type, rank, block.stored.first(scanner.used()), scanner.used());
    }
}

std::uint64_t write_profile(const Plan& plan, const fs::path& path) {
    Writer writer(path);
    FileHeader header{};
    std::memcpy(header.magic, file_magic, sizeof file_magic);
    header.version = format_version;
    header.ranks = plan.ranks.size();
    writer.write(&header, sizeof header);
    if (plan.job) writer.block(BlockType::Job, no_rank, plan.job->bytes, plan.job->raw_size);
    if (plan.metrics) writer.block(BlockType::Metrics, no_rank, plan.metrics->bytes, plan.metrics->raw_size);
    for (std::size_t f = 0; f < plan.files.size(); ++f) {
        const std::vector<unsigned char> bytes = load(plan.files[f]);
        const BlockList list = find_blocks(bytes);
        if (plan.tables_of_job == f) copy_tables_of_job(list, writer);
        for (const auto& [rank, source] : plan.ranks)
            if (source.file == f) copy_rank(list, rank, writer);
    }
    return writer.finish();
}

} // namespace

Recovery recover(const fs::path& folder) {
    std::error_code error;
    if (!fs::is_directory(folder, error)) throw ReadError(fmt::format("{} is not a folder; give the one that has the files of the job", folder.string()));
    Recovery result;
    result.file = folder / "profile.lprof";
    if (fs::exists(result.file, error))
        throw ReadError(fmt::format("{} already exists and is never overwritten; read it with libprofile report {}", result.file.string(), folder.string()));
    Plan plan;
    for (const fs::path& path : profile_files(folder))
        if (path.filename() != names_file) survey(path, plan, result);
    if (plan.ranks.empty())
        throw ReadError(result.left_out.empty() ? fmt::format("there is nothing to recover in {}: no file of any rank", folder.string())
                                                : fmt::format("there is nothing to recover in {}: {}", folder.string(), result.left_out.front()));
    result.ranks_of_job = std::max<std::uint64_t>(plan.ranks_of_job, std::uint64_t{plan.ranks.rbegin()->first} + 1);
    const fs::path fresh = folder / "profile.lprof.recovered"; // no name that a reader takes for a profile
    fs::remove(fresh, error);                                  // of a recovery that was interrupted
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
    if (error) throw ReadError(fmt::format("cannot name the recovered profile {}: {}", result.file.string(), error.message()));
    std::error_code ignored;
    fs::remove(fresh, ignored);
    for (const auto& [rank, source] : plan.ranks) (source.is_complete ? result.ended : result.live).push_back(rank);
    for (std::size_t f = 0; f < plan.files.size(); ++f)
        if (!plan.needed.contains(f)) result.not_needed.push_back(plan.files[f].filename().string());
    return result;
}

} // namespace libprofile::tools
