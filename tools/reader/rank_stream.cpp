#include "tools/reader/rank_stream.hpp"

#include "tools/reader/decode_phase.hpp"
#include "tools/reader/reader.hpp"

#include <algorithm>
#include <set>
#include <tuple>

namespace libprofile::tools {

namespace fs = std::filesystem;

namespace {

constexpr const char* common_file = "profile.lprof";

bool has_own_tree(const LocationRecord& record) { return record.paths_in == static_cast<std::uint64_t>(PathsIn::OwnTree); }

} // namespace

std::unique_ptr<RankStream> RankStream::open(const fs::path& folder) {
    std::error_code error;
    if (!fs::is_directory(folder, error)) return nullptr;
    const std::vector<fs::path> files = profile_files(folder);
    const bool is_one = std::all_of(files.begin(), files.end(), [](const fs::path& p) { return p.filename() == common_file || p.filename() == names_file; });
    if (!is_one || files.empty() || files.front().filename() != common_file) return nullptr;
    std::unique_ptr<RankStream> stream;
    try {
        stream = open(std::make_unique<const FileSource>(files.front()));
    } catch (const ReadError&) { // whose reason the one that reads all of it gives
    }
    std::error_code no_names;
    if (!stream || !fs::exists(folder / names_file, no_names)) return stream;
    try {
        const FileSource names(folder / names_file);
        stream->take_names(decode_file(names.read(0, names.size()), names_file).names);
    } catch (const ReadError&) { // names are a convenience
    }
    return stream;
}

std::unique_ptr<RankStream> RankStream::open(std::unique_ptr<const ByteSource> source) {
    std::unique_ptr<RankStream> stream(new RankStream(std::move(source)));
    if (!stream->read_tables()) return nullptr;
    return stream;
}

void RankStream::take_names(std::vector<StoredName> names) {
    for (StoredName& stored : names)
        if (const auto site = numbering_.known_site(stored.module, stored.offset)) {
            tables_.sites[*site].name = std::move(stored.name);
            tables_.sites[*site].inlined = std::move(stored.inlined);
        }
}

/// Returns false if the block is damaged.
bool RankStream::load(const BlockEntry& entry, Unpacker& unpacker, RawFile& to) const {
    const std::optional<LoadedBlock> loaded = directory_->read(entry);
    if (!loaded) return false;
    decode_block(loaded->block, directory_->header().version, unpacker, to);
    return to.damages.empty();
}

/// Numbers are those of unify(): tables of the job first, then those of the ranks in their order.
bool RankStream::read_tables() {
    directory_ = Directory::open(*source_);
    if (!directory_ || directory_->header().version < 4) return false;
    RawFile file;
    Unpacker unpacker(source_->size());
    for (const RankEntry& entry : directory_->ranks()) {
        const std::optional<std::vector<BlockEntry>> entries = directory_->blocks(entry);
        const bool is_first = &entry == &directory_->ranks().front();
        if (!entries) return false;
        for (const BlockEntry& block : *entries) {
            const bool of_job = block.rank == no_rank;
            switch (block.type) {
            case BlockType::Job:
            case BlockType::Metrics:
                if (!of_job || !is_first) continue;
                break;
            case BlockType::Modules:
            case BlockType::Functions:
            case BlockType::Tree:
                if (of_job && !is_first) continue;
                break;
            case BlockType::Rank:
            case BlockType::Location:
            case BlockType::Regions:
                if (of_job) continue;
                break;
            case BlockType::Phase:
            case BlockType::Cells:
            case BlockType::NodeMap:
                if (of_job) continue;
                if (!directory_->claim(block)) return false;
                blocks_[entry.rank].push_back(block);
                continue;
            default: continue;
            }
            if (!directory_->claim(block) || !load(block, unpacker, file)) return false;
        }
    }
    if (!file.job || !file.metrics) return false;
    tables_.job = *file.job;
    for (const MetricInfo& metric : *file.metrics) metric_numbers_.push_back(numbering_.metric(metric));
    job_nodes_ = numbering_.nodes_of(file.tables, numbering_.numbers_of(file.tables), 0);
    for (auto& [rank, raw] : file.ranks) {
        if (!raw.info || raw.locations.empty() || raw.info->threads > raw.locations.size() || !add_nodes(raw, rank)) return false;
        ranks_.push_back(rank);
        tables_.ranks[rank] = std::move(*raw.info);
        tables_.region_names.merge(raw.region_names);
        for (const auto& [thread, record] : raw.locations) {
            tables_.locations.push_back({rank, thread, record.wall_ns, record.complete != 0, {}, {}, {}});
            records_.emplace(std::pair(rank, thread), record);
        }
    }
    if (ranks_.empty() || ranks_.size() != directory_->ranks().size()) return false;
    tables_.job.ranks = std::max<std::uint64_t>(tables_.job.ranks, std::uint64_t{ranks_.back()} + 1);
    return true;
}

RankStream::Nodes RankStream::table_of(std::vector<std::uint32_t> paths) const {
    std::vector<PathUse> uses = uses_of(tables_, paths);
    return std::make_shared<const NodeTable>(NodeTable{std::move(paths), std::move(uses)});
}

/// Returns false if a thread's call paths cannot be known.
bool RankStream::add_nodes(const RawRank& raw, std::uint32_t rank) {
    std::optional<std::optional<TableNumbers>> own;
    for (const auto& [thread, record] : raw.locations) {
        if (!has_own_tree(record)) {
            if (job_nodes_.empty()) return false;
            continue;
        }
        if (!own) own = numbering_.numbers_of(raw.tables);
        std::vector<std::uint32_t> nodes = numbering_.nodes_of(raw.tables, *own, thread);
        if (nodes.empty()) return false;
        own_nodes_.emplace(std::pair(rank, thread), table_of(std::move(nodes)));
    }
    return true;
}

/// Null if the map is missing, or leads out of the job's tree.
RankStream::Nodes RankStream::through_map(std::uint32_t rank, std::uint32_t thread) const {
    const auto blocks = blocks_.find(rank);
    if (blocks == blocks_.end()) return nullptr;
    RawFile file;
    Unpacker unpacker(source_->size());
    for (const BlockEntry& block : blocks->second)
        if (block.type == BlockType::NodeMap && block.thread == thread && !load(block, unpacker, file)) return nullptr;
    const auto& maps = file.ranks[rank].node_maps;
    const auto map = maps.find(thread);
    if (map == maps.end()) return nullptr;
    std::vector<std::uint32_t> nodes = {0};
    nodes.reserve(map->second.size() + 1);
    for (const std::uint32_t node : map->second) {
        if (node >= job_nodes_.size()) return nullptr;
        nodes.push_back(job_nodes_[node]);
    }
    return table_of(std::move(nodes));
}

RankStream::Nodes RankStream::nodes_of(const LocationRecord& location, std::uint32_t rank) const {
    const auto own = own_nodes_.find({rank, static_cast<std::uint32_t>(location.thread)});
    if (own != own_nodes_.end()) return own->second;
    const std::pair key(static_cast<std::uint32_t>(location.map_rank), static_cast<std::uint32_t>(location.map_thread));
    if (key == std::pair(rank, static_cast<std::uint32_t>(location.thread)) && rank != ranks_.front()) return through_map(key.first, key.second);
    const std::lock_guard lock(lending_);
    const auto [known, is_new] = lent_.try_emplace(key);
    if (is_new) known->second = through_map(key.first, key.second);
    return known->second;
}

/// The values of the phases of a rank, by thread. Empty if they do not fit together.
std::optional<std::map<std::uint32_t, std::vector<RankStream::PhaseLists>>> RankStream::lists_of(RawRank& raw) {
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<const RawCells*>> values; // by thread and number of the phase
    for (const RawCells& cells : raw.cells) values[{cells.thread, cells.phase}].push_back(&cells);
    std::map<std::uint32_t, std::vector<PhaseLists>> of_thread;
    std::set<std::tuple<std::uint32_t, std::string, PhaseKind>> seen;
    for (RawPhase& phase : raw.phases) {
        if (!seen.emplace(phase.thread, phase.name, phase.kind).second) return std::nullopt;
        PhaseLists& lists = of_thread[phase.thread].emplace_back();
        for (const Cluster& cluster : phase.data.clusters) lists.push_back({{}, cluster.equivalence_class});
        lists.push_back({{}, class_of_rest});
        for (const RawCells* cells : values[{phase.thread, phase.number}]) {
            if (!belongs_to(phase, *cells)) return std::nullopt;
            std::span<const Cell> rest = cells->cells;
            for (std::size_t list = 0; list < lists.size(); ++list) {
                const auto size = static_cast<std::size_t>(cells->sizes[list]);
                lists[list].pieces.push_back(rest.first(size));
                rest = rest.subspan(size);
            }
        }
        values.erase({phase.thread, phase.number});
        if (phase.metrics_found.size() < phase.metrics_expected) return std::nullopt;
    }
    if (!values.empty()) return std::nullopt; // of no phase
    return of_thread;
}

bool RankStream::sum_threads(std::size_t at, Room& room, const std::function<void(std::uint32_t thread)>& done) const {
    const std::uint32_t rank = ranks_[at];
    RawFile file;
    RawRank& raw = file.ranks[rank];
    raw.spare_cells = std::move(room.cells_);
    Unpacker unpacker(source_->size());
    if (const auto blocks = blocks_.find(rank); blocks != blocks_.end())
        for (const BlockEntry& block : blocks->second)
            if (block.type != BlockType::NodeMap && !load(block, unpacker, file)) return false;
    const auto of_thread = lists_of(raw);
    if (!of_thread) return false;
    for (const auto& [thread, phases] : *of_thread) {
        const auto record = records_.find({rank, thread});
        if (record == records_.end()) continue; // of a thread that is not there
        const Nodes nodes = nodes_of(record->second, rank);
        if (!nodes) return false;
        for (const PhaseLists& lists : phases)
            if (!add_shared_out({nodes->paths, metric_numbers_}, nodes->uses, lists, room.sharing_, room.sums_)) return false;
        done(thread);
    }
    room.cells_ = std::move(raw.spare_cells);
    for (RawCells& cells : raw.cells) room.cells_.push_back(std::move(cells.cells));
    return true;
}

} // namespace libprofile::tools
