#include "tools/reader/select.hpp"

#include "tools/reader/decode_phase.hpp"
#include "tools/reader/directory.hpp"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>

namespace libprofile::tools {

namespace {

template <class Set, class Key> bool is_wanted(const Set& set, const Key& key) { return set.empty() || set.contains(key); }

/// A loop that was found has a name of its own in the file, and may have different ones on different ranks: all such phases are
/// read, and which of them is meant shows when they are known (loop_phases.hpp).
bool is_wanted_phase(const std::set<std::string>& set, const std::string& name) {
    const auto is_loop = [](const std::string& text) { return text.starts_with("loop "); };
    return is_wanted(set, name) || (is_loop(name) && std::any_of(set.begin(), set.end(), is_loop));
}

/// Positions of metrics that need not be read. Times are shared out by samples.
std::set<std::uint32_t> unwanted_metrics(const RawFile& file, const Selection& selection) {
    std::set<std::uint32_t> positions;
    for (std::size_t i = 0; file.metrics && i < file.metrics->size(); ++i) {
        const std::string& name = (*file.metrics)[i].name;
        if (!is_wanted(selection.metrics, name) && (name != "samples" || !selection.metrics.contains("time"))) positions.insert(static_cast<std::uint32_t>(i));
    }
    return positions;
}

/// What of a rank that was not chosen tells functions apart.
RawRank witness_of(RawRank& rank) {
    RawRank witness;
    witness.is_witness = true;
    witness.tables = std::move(rank.tables);
    witness.locations = std::move(rank.locations);
    witness.node_maps = std::move(rank.node_maps);
    witness.phases = std::move(rank.phases);
    return witness;
}

/// Takes away what was not chosen.
void prune(RawFile& file, const Selection& selection) {
    std::set<std::uint32_t> with_data;
    for (const auto& [number, rank] : file.ranks)
        if (!rank.locations.empty()) with_data.insert(number);
    const auto is_end = [&](std::uint32_t rank) { return !with_data.empty() && (rank == *with_data.begin() || rank == *with_data.rbegin()); };
    std::erase_if(file.ranks, [&](const auto& rank) {
        // A rank that only lends its map to a chosen one is no rank of the selection.
        return !is_wanted(selection.ranks, rank.first) && rank.second.node_maps.empty() && !is_end(rank.first);
    });
    const std::set<std::uint32_t> unwanted = unwanted_metrics(file, selection);
    const auto prune_cells = [&](std::vector<Cell>& cells) { std::erase_if(cells, [&](const Cell& cell) { return unwanted.contains(cell.metric); }); };
    for (auto& [number, rank] : file.ranks) {
        if (!is_wanted(selection.ranks, number) && is_end(number)) {
            rank = witness_of(rank);
            continue;
        }
        if (!is_wanted(selection.ranks, number)) {
            RawRank lender;
            lender.node_maps = std::move(rank.node_maps);
            rank = std::move(lender);
        }
        std::erase_if(rank.phases, [&](const RawPhase& phase) { return !is_wanted_phase(selection.phases, phase.name); });
        for (RawPhase& phase : rank.phases) {
            prune_cells(phase.data.rest);
            for (Cluster& cluster : phase.data.clusters) prune_cells(cluster.cells);
        }
        if (!selection.traces) {
            rank.traces.clear();
            rank.waits.clear();
        }
        if (!selection.events) {
            rank.events.clear();
            rank.pages.reset();
        }
        std::erase_if(rank.series, [&](const RawSeries& series) { return !selection.series || !is_wanted_phase(selection.phases, series.phase); });
    }
}

class Loader {
  public:
    Loader(const ByteSource& source, Directory& directory, const Selection& selection, RawFile& file)
        : source_(&source), directory_(&directory), selection_(&selection), file_(&file), unpacker_(source.size()) {}

    void load_job();
    void load_rank(const RankEntry& rank, bool is_witness);
    /// Notes where the events of a rank are.
    void leave_events(const RankEntry& rank, const std::filesystem::path& path);
    std::uint64_t bytes_of_events(const RankEntry& rank);

  private:
    using Entries = std::vector<BlockEntry>;
    const Entries& entries_of(const RankEntry& rank);
    void load(const BlockEntry& entry);
    void load_job_tables();
    void load_maps(std::uint32_t rank);

    const ByteSource* source_;
    Directory* directory_;
    const Selection* selection_;
    RawFile* file_;
    Unpacker unpacker_;
    std::map<std::uint32_t, Entries> entries_; // by rank: directories that were read
    std::set<std::pair<std::uint32_t, std::uint32_t>> maps_;
    std::set<std::uint32_t> unwanted_;
    std::set<std::uint32_t> witnessed_; // metrics
    bool has_job_tables_ = false;
};

const Loader::Entries& Loader::entries_of(const RankEntry& rank) {
    const auto [at, added] = entries_.try_emplace(rank.rank);
    if (added) {
        if (auto entries = directory_->blocks(rank))
            at->second = std::move(*entries);
        else
            file_->damages.note([&] { return fmt::format("the directory of rank {} is damaged", rank.rank); });
    }
    return at->second;
}

void Loader::load(const BlockEntry& entry) {
    const std::optional<LoadedBlock> loaded = directory_->load(entry);
    if (loaded)
        decode_block(loaded->block, directory_->header().version, unpacker_, *file_);
    else
        file_->damages.note([&] { return fmt::format("a block at byte {} is damaged", entry.at); });
}

void Loader::load_job() {
    for (const BlockEntry& entry : entries_of(directory_->ranks().front()))
        if (entry.type == BlockType::Job || entry.type == BlockType::Metrics) load(entry);
    unwanted_ = unwanted_metrics(*file_, *selection_);
    for (std::uint32_t i = 0; file_->metrics && i < file_->metrics->size(); ++i)
        if ((*file_->metrics)[i].name == "time" || (*file_->metrics)[i].name == "visits" || (*file_->metrics)[i].name == "samples") witnessed_.insert(i);
}

void Loader::load_job_tables() {
    if (has_job_tables_) return;
    has_job_tables_ = true;
    for (const BlockEntry& entry : entries_of(directory_->ranks().front()))
        if (entry.rank == no_rank && (entry.type == BlockType::Modules || entry.type == BlockType::Functions || entry.type == BlockType::Tree)) load(entry);
}

/// The maps into the job's tree that the locations of a rank use.
void Loader::load_maps(std::uint32_t rank) {
    std::set<std::pair<std::uint32_t, std::uint32_t>> wanted;
    for (const auto& [thread, location] : file_->ranks[rank].locations)
        if (location.paths_in == static_cast<std::uint64_t>(PathsIn::NodeMap))
            wanted.emplace(static_cast<std::uint32_t>(location.map_rank), static_cast<std::uint32_t>(location.map_thread));
    for (const auto& key : wanted) {
        load_job_tables();
        const RankEntry* lender = directory_->find(key.first);
        if (lender == nullptr || !maps_.insert(key).second) continue;
        for (const BlockEntry& entry : entries_of(*lender))
            if (entry.type == BlockType::NodeMap && entry.thread == key.second) load(entry);
    }
}

void Loader::load_rank(const RankEntry& rank, bool is_witness) {
    const Entries entries = entries_of(rank);
    bool has_own_tree = false;
    std::set<std::pair<std::uint32_t, std::uint32_t>> phases; // chosen ones, by thread and number
    for (const BlockEntry& entry : entries)
        if (entry.rank == rank.rank &&
            (entry.type == BlockType::Rank || entry.type == BlockType::Location || entry.type == BlockType::Phase || entry.type == BlockType::Tree)) {
            load(entry);
            has_own_tree = has_own_tree || entry.type == BlockType::Tree;
        }
    RawRank& raw = file_->ranks[rank.rank];
    for (const RawPhase& phase : raw.phases)
        if (is_witness || is_wanted_phase(selection_->phases, phase.name)) phases.emplace(phase.thread, phase.number);
    for (const BlockEntry& entry : entries) {
        if (entry.rank != rank.rank) continue;
        const bool in_phase = entry.phase && phases.contains({entry.thread, *entry.phase});
        const bool is_table = entry.type == BlockType::Modules || entry.type == BlockType::Functions;
        if (is_witness) {
            if ((is_table && has_own_tree) || (entry.type == BlockType::Cells && entry.metric && witnessed_.contains(*entry.metric))) load(entry);
            continue;
        }
        if ((is_table && has_own_tree) || entry.type == BlockType::Loops || entry.type == BlockType::Regions || entry.type == BlockType::Topology ||
            entry.type == BlockType::Machine || entry.type == BlockType::OpenMp || entry.type == BlockType::ShortThreads || entry.type == BlockType::Inside ||
            entry.type == BlockType::Partners || entry.type == BlockType::Clock || (entry.type == BlockType::Begins && in_phase) ||
            (entry.type == BlockType::Sequences && in_phase) || ((entry.type == BlockType::Trace || entry.type == BlockType::Waits) && selection_->traces) ||
            ((entry.type == BlockType::Events || entry.type == BlockType::Pages) && selection_->events) ||
            (entry.type == BlockType::Series && selection_->series && in_phase) ||
            (entry.type == BlockType::Cells && in_phase && entry.metric && !unwanted_.contains(*entry.metric)))
            load(entry);
    }
    load_maps(rank.rank);
}

std::uint64_t Loader::bytes_of_events(const RankEntry& rank) {
    std::uint64_t sum = 0;
    for (const BlockEntry& entry : entries_of(rank))
        if (entry.type == BlockType::Events) sum += std::min(entry.stored_size, source_->size());
    return sum;
}

void Loader::leave_events(const RankEntry& rank, const std::filesystem::path& path) {
    for (const BlockEntry& entry : entries_of(rank)) {
        if (entry.rank != rank.rank || entry.type != BlockType::Events) continue;
        BlockHeader header{};
        const std::vector<unsigned char> bytes = source_->read(entry.at, sizeof header);
        const bool is_there = bytes.size() == sizeof header && directory_->claim(entry);
        if (is_there) std::memcpy(&header, bytes.data(), sizeof header);
        const bool is_right = is_there && header.magic == block_magic && header.type == static_cast<std::uint32_t>(BlockType::Events) &&
                              header.rank == rank.rank && header.stored_size == entry.stored_size && header.raw_size >= header.stored_size &&
                              is_raw_size_allowed(header.raw_size, header.stored_size);
        EventsElsewhere left{path, entry.at + sizeof header, header.stored_size, header.raw_size, header.crc, nullptr, {}};
        if (!is_right || !file_->ranks[rank.rank].left_events.emplace(entry.thread, std::move(left)).second)
            file_->damages.note([&] { return fmt::format("a block at byte {} is damaged", entry.at); });
    }
}

} // namespace

std::optional<RawFile> decode_without_events(const ByteSource& source, const std::filesystem::path& path, std::uint64_t least) {
    std::optional<Directory> directory = Directory::open(source);
    if (!directory) return std::nullopt;
    Selection selection;
    selection.series = selection.traces = true;
    RawFile file;
    file.name = path.filename().string();
    file.ranks_expected = directory->header().ranks;
    Loader loader(source, *directory, selection, file);
    std::uint64_t bytes = 0;
    for (const RankEntry& rank : directory->ranks()) bytes += loader.bytes_of_events(rank);
    if (bytes < least) return std::nullopt;
    loader.load_job();
    for (const RankEntry& rank : directory->ranks()) {
        loader.load_rank(rank, false);
        loader.leave_events(rank, path);
    }
    if (!file.damages.empty()) return std::nullopt;
    join_cells(file);
    return file.damages.empty() ? std::optional(std::move(file)) : std::nullopt;
}

RawFile decode_selected(const ByteSource& source, const std::string& name, const Selection& selection) {
    std::optional<Directory> directory = Directory::open(source);
    RawFile file;
    if (directory) {
        file.name = name;
        file.ranks_expected = directory->header().ranks;
        file.selected = true;
        Loader loader(source, *directory, selection, file);
        loader.load_job();
        const auto& ranks = directory->ranks();
        for (const RankEntry& rank : ranks)
            if (is_wanted(selection.ranks, rank.rank))
                loader.load_rank(rank, false);
            else if (&rank == &ranks.front() || &rank == &ranks.back())
                loader.load_rank(rank, true);
        join_cells(file);
    }
    // A damaged directory costs time, but no data.
    if (!directory || !file.damages.empty()) file = decode_file(source.read(0, source.size()), name);
    file.selected = true;
    file.samples_unwanted = !is_wanted(selection.metrics, std::string("samples"));
    prune(file, selection);
    return file;
}

} // namespace libprofile::tools
