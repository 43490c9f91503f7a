#include "tools/frames/read_frame.hpp"

#include "tools/analysis/cell_rows.hpp"
#include "tools/analysis/in_parallel.hpp"
#include "tools/analysis/selection.hpp"
#include "tools/export/path_nodes.hpp"
#include "tools/frames/table_frame.hpp"
#include "tools/frames/totals_file.hpp"
#include "tools/names/expand_inlined.hpp"
#include "tools/names/resolve.hpp"
#include "tools/reader/rank_stream.hpp"
#include "tools/reader/reader.hpp"

#include <algorithm>
#include <atomic>
#include <limits>
#include <map>
#include <sys/stat.h>
#include <tuple>

namespace libprofile::tools {

namespace fs = std::filesystem;

namespace {

constexpr std::uint32_t no_node = std::numeric_limits<std::uint32_t>::max();

/// The files that the values are of, as they are now.
std::vector<TotalsKey::File> files_of(const fs::path& folder) {
    std::vector<TotalsKey::File> files;
    for (const fs::path& path : profile_files(folder)) {
        struct stat status {};
        if (path.filename() == names_file || ::stat(path.c_str(), &status) != 0) continue;
        files.push_back({path.filename().string(), static_cast<std::uint64_t>(status.st_size),
                         static_cast<std::uint64_t>(status.st_mtim.tv_sec) * 1000000000u + static_cast<std::uint64_t>(status.st_mtim.tv_nsec)});
    }
    return files;
}

TotalsKey key_of(std::vector<TotalsKey::File> files, const Profile& tables) {
    TotalsKey key;
    key.files = std::move(files);
    for (const MetricInfo& metric : tables.metrics) key.metrics.push_back(metric.name);
    key.paths = tables.paths.size();
    key.threads = tables.locations.size();
    return key;
}

/// What one of the readers of ranks has.
struct RankReader {
    explicit RankReader(const RankStream& stream) : room(stream), sums(stream.tables().metrics.size(), stream.tables().paths.size()) {}
    RankStream::Room room;
    PathSums sums; // over its ranks
    std::vector<unsigned char> encoded;
};

/// Reads all ranks. Empty if the profile has to be read as a whole.
std::shared_ptr<const TotalsFile> make_totals(const RankStream& stream, const TotalsKey& key, const fs::path& folder) {
    std::unique_ptr<TotalsWriter> writer = folder.empty() ? nullptr : TotalsWriter::open(folder);
    if (!writer) writer = TotalsWriter::open({});
    if (!writer) return nullptr;
    std::mutex lending;
    std::vector<std::unique_ptr<RankReader>> idle;
    std::atomic<bool> failed{false};
    in_parallel(stream.ranks().size(), [&](std::size_t at) {
        if (failed) return;
        std::unique_ptr<RankReader> reader;
        {
            const std::lock_guard lock(lending);
            if (!idle.empty()) {
                reader = std::move(idle.back());
                idle.pop_back();
            }
        }
        if (!reader) reader = std::make_unique<RankReader>(stream);
        const bool is_whole = stream.sum_up(at, reader->room, [&](std::uint32_t thread, std::uint32_t metric, const PathColumn& column) {
            writer->add(stream.ranks()[at], thread, metric, column, reader->encoded);
            for (std::size_t i = 0; i < column.path.size(); ++i) reader->sums.add(metric, column.path[i], column.value[i]);
        });
        if (!is_whole) failed = true;
        const std::lock_guard lock(lending);
        idle.push_back(std::move(reader));
    });
    if (failed || idle.empty()) return nullptr;
    PathSums& all = idle.front()->sums;
    for (std::size_t i = 1; i < idle.size(); ++i)
        idle[i]->sums.take([&](std::uint32_t metric, const PathColumn& column) {
            for (std::size_t p = 0; p < column.path.size(); ++p) all.add(metric, column.path[p], column.value[p]);
        });
    std::vector<TotalsSum> sums;
    all.take([&](std::uint32_t metric, const PathColumn& column) { sums.push_back({metric, column}); });
    if (writer->finish(key, sums)) return TotalsFile::open(writer->descriptor(), key);
    return folder.empty() ? nullptr : make_totals(stream, key, {}); // the disk is full
}

[[noreturn]] void refuse_totals() { throw FrameError(std::string(totals_file) + " is damaged; delete it, and it is made again"); }

/// A column of the frame in a file of totals.
class TotalsRows final : public RowSource {
  public:
    /// A metric of the file that counts for the column, and the nodes of its call paths; no_node: those that do not count.
    struct Part {
        std::uint32_t metric = 0;
        std::vector<std::uint32_t> node_of;
        bool is_sorted = false; // nodes ascend with the call paths that count
    };
    TotalsRows(std::shared_ptr<const TotalsFile> file, std::size_t nodes, std::vector<Part> parts)
        : file_(std::move(file)), nodes_(nodes), parts_(std::move(parts)) {}

    void add_place(std::vector<std::pair<std::size_t, TotalsFile::Place>> blocks) {
        for (const auto& [part, place] : blocks) rows_ += place.rows;
        blocks_.push_back(std::move(blocks));
    }
    std::uint64_t most_rows() const { return rows_; }
    std::size_t places() const override { return blocks_.size(); }

    FrameRow row(std::size_t place, RowBuffer& buffer) const override {
        const auto& blocks = blocks_[place];
        buffer.node.clear();
        buffer.value.clear();
        bool good = true;
        if (blocks.size() == 1 && parts_[blocks[0].first].is_sorted) {
            const std::vector<std::uint32_t>& node_of = parts_[blocks[0].first].node_of;
            buffer.node.reserve(static_cast<std::size_t>(blocks[0].second.rows));
            buffer.value.reserve(static_cast<std::size_t>(blocks[0].second.rows));
            good = file_->read(blocks[0].second, buffer.bytes, [&](std::uint32_t path, std::uint64_t value) {
                if (node_of[path] == no_node) return;
                buffer.node.push_back(node_of[path]);
                buffer.value.push_back(number(value));
            });
        } else {
            buffer.sums.resize(nodes_);
            buffer.there.resize(nodes_);
            for (const auto& [part, block] : blocks)
                good = file_->read(block, buffer.bytes, [&, &node_of = parts_[part].node_of](std::uint32_t path, std::uint64_t value) {
                    if (node_of[path] == no_node) return;
                    buffer.sums[node_of[path]] += value;
                    buffer.there[node_of[path]] = 1;
                }) && good;
            for (std::uint32_t n = 0; n < nodes_; ++n)
                if (buffer.there[n] != 0) {
                    buffer.node.push_back(n);
                    buffer.value.push_back(number(buffer.sums[n]));
                    buffer.sums[n] = buffer.there[n] = 0;
                }
        }
        if (!good) refuse_totals();
        return {buffer.node, buffer.value};
    }

  private:
    static double number(std::uint64_t value) { return static_cast<double>(static_cast<std::int64_t>(value)); } // differences may be below 0

    std::shared_ptr<const TotalsFile> file_;
    std::size_t nodes_;
    std::vector<Part> parts_;
    std::vector<std::vector<std::pair<std::size_t, TotalsFile::Place>>> blocks_; // by place: part and block
    std::uint64_t rows_ = 0;
};

/// Makes the frame of a whole run of its totals.
class RunFrame {
  public:
    RunFrame(Profile profile, std::shared_ptr<const TotalsFile> totals, const TableChoice& choice)
        : profile_(std::move(profile)), totals_(std::move(totals)), choice_(choice) {}

    Frame frame(const ReadLimits& limits) {
        resolve_names(profile_, false);
        innermost_ = expand_inlined(profile_);
        find_rows();
        find_places();
        number_nodes();
        add_columns(limits);
        return std::move(frame_);
    }

  private:
    using Metrics = std::map<std::uint32_t, TotalsFile::Place>; // by metric of the file

    void find_rows() {
        std::vector<Cell> cells;
        std::vector<std::uint64_t> weight(profile_.paths.size());
        for (const TotalsSum& sum : totals_->sums())
            for (std::size_t i = 0; i < sum.column.path.size(); ++i) {
                const std::uint32_t path = innermost_[sum.column.path[i]];
                cells.push_back({path, sum.metric, sum.column.value[i]});
                if (sum.metric == 0) weight[path] += sum.column.value[i];
            }
        const std::vector<MetricRow> all = metric_rows(profile_);
        rows_ = rows_of_choice(profile_, choice_, condense(profile_, cells));
        for (const std::size_t row : rows_) {
            FrameColumn& column = frame_.columns.emplace_back();
            column.metric = all[row].name;
            column.unit = all[row].unit;
        }
        cell_rows_.emplace(profile_, rows_);
        add_callees(profile_, weight);
        nodes_.emplace(profile_, choice_.by_line, choice_.short_names, std::move(weight));
    }

    void find_places() {
        std::map<std::pair<std::uint32_t, std::uint32_t>, Metrics> known;
        for (const TotalsFile::Place& place : totals_->places()) known[{place.rank, place.thread}].emplace(place.metric, place);
        for (const Location* location : locations_of_choice(profile_, choice_)) {
            const auto rank = profile_.ranks.find(location->rank);
            frame_.places.push_back({location->rank, location->thread, rank == profile_.ranks.end() ? "" : rank->second.host});
            blocks_.push_back(std::move(known[{location->rank, location->thread}]));
        }
    }

    /// The call paths that have a value in the choice, and their callers, in the order of their numbers.
    void number_nodes() {
        std::vector<bool> is_used(profile_.paths.size());
        bool is_empty = true;
        const auto use = [&](std::uint32_t metric, std::uint32_t path) {
            if (cell_rows_->of(innermost_[path], metric).empty()) return;
            is_used[innermost_[path]] = true;
            is_empty = false;
        };
        if (choice_.ranks.empty()) {
            for (const TotalsSum& sum : totals_->sums())
                for (const std::uint32_t path : sum.column.path) use(sum.metric, path);
        } else {
            std::vector<unsigned char> bytes;
            for (const Metrics& metrics : blocks_)
                for (const auto& [metric, block] : metrics)
                    if (!totals_->read(block, bytes, [&, metric = metric](std::uint32_t path, std::uint64_t) { use(metric, path); })) refuse_totals();
        }
        if (is_empty) throw ExportError(nothing_measured);
        for (std::size_t p = is_used.size(); p-- > 1;)
            if (is_used[p]) is_used[profile_.paths[p].parent] = true;
        node_of_.assign(is_used.size(), 0);
        for (std::uint32_t p = 1; p < is_used.size(); ++p)
            if (is_used[p]) node_of_[p] = nodes_->of_path(node_of_[profile_.paths[p].parent], p);
        const TextPool& texts = nodes_->texts();
        for (std::uint32_t n = 0; n < nodes_->size(); ++n) {
            const PathNodes::Node& node = (*nodes_)[n];
            frame_.add_node(node.parent, name_of(node.kind), texts[node.name], texts[node.file], node.line, texts[node.module]);
        }
    }

    void add_columns(const ReadLimits& limits) {
        for (std::uint32_t c = 0; c < frame_.columns.size(); ++c) {
            std::vector<TotalsRows::Part> parts;
            std::map<std::uint32_t, std::size_t> part_of; // by metric
            for (const TotalsSum& sum : totals_->sums()) {
                TotalsRows::Part part{sum.metric, std::vector<std::uint32_t>(innermost_.size(), no_node), true};
                std::uint32_t before = no_node;
                for (const std::uint32_t path : sum.column.path) {
                    const std::vector<std::uint32_t>& into = cell_rows_->of(innermost_[path], sum.metric);
                    if (std::find(into.begin(), into.end(), c) == into.end()) continue;
                    const std::uint32_t node = node_of_[innermost_[path]];
                    part.node_of[path] = node;
                    part.is_sorted = part.is_sorted && (before == no_node || node > before);
                    before = node;
                }
                if (before == no_node) continue;
                part_of.emplace(sum.metric, parts.size());
                parts.push_back(std::move(part));
            }
            auto rows = std::make_shared<TotalsRows>(totals_, frame_.nodes.size(), std::move(parts));
            for (const Metrics& metrics : blocks_) {
                std::vector<std::pair<std::size_t, TotalsFile::Place>> blocks;
                for (const auto& [metric, block] : metrics)
                    if (const auto part = part_of.find(metric); part != part_of.end()) blocks.emplace_back(part->second, block);
                rows->add_place(std::move(blocks));
            }
            const bool is_kept = rows->most_rows() <= limits.most_rows;
            frame_.columns[c].source = std::move(rows);
            if (is_kept) frame_.columns[c].fetch();
        }
    }

    Profile profile_;
    std::shared_ptr<const TotalsFile> totals_;
    const TableChoice& choice_;
    std::vector<std::uint32_t> innermost_; // by call path of the totals: that of the profile
    std::vector<std::size_t> rows_;
    std::optional<CellRows> cell_rows_;
    std::optional<PathNodes> nodes_;
    std::vector<Metrics> blocks_;        // by place
    std::vector<std::uint32_t> node_of_; // by call path
    Frame frame_;
};

std::optional<Frame> frame_of_run(const fs::path& folder, const TableChoice& choice, const ReadLimits& limits) {
    std::vector<TotalsKey::File> files = files_of(folder);
    std::unique_ptr<RankStream> stream = RankStream::open(folder);
    if (!stream || files_of(folder) != files) return std::nullopt; // replaced in between: the totals would be of other files than the tables
    const TotalsKey key = key_of(std::move(files), stream->tables());
    std::shared_ptr<const TotalsFile> totals = TotalsFile::open(folder / totals_file, key);
    std::uint64_t bytes = 0;
    for (const TotalsKey::File& file : key.files) bytes += file.size;
    if (!totals) totals = make_totals(*stream, key, bytes >= limits.least_kept ? folder : fs::path());
    if (!totals) return std::nullopt;
    Profile tables = stream->take_tables();
    stream.reset();
    return RunFrame(std::move(tables), std::move(totals), choice).frame(limits);
}

} // namespace

Frame read_frame(const fs::path& place, const TableChoice& choice, const ReadLimits& limits) {
    std::optional<Frame> frame;
    if (!choice.iterations && !choice.has_phase) frame = frame_of_run(place, choice, limits);
    if (!frame) {
        Profile profile = read_profile(place);
        resolve_names(profile, false);
        expand_inlined(profile);
        frame = frame_of(make_call_table(profile, choice));
    }
    frame->source = place.string();
    return std::move(*frame);
}

} // namespace libprofile::tools
