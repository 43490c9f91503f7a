// The ranks of a finished profile one after the other, several at a time: for sums over profiles that are larger than memory.
// Contract: const access is thread-safe; allocates; throws ReadError where files cannot be read, and std::bad_alloc.
#pragma once

#include "tools/reader/directory.hpp"
#include "tools/reader/model.hpp"
#include "tools/reader/numbering.hpp"
#include "tools/reader/sample_pools.hpp"
#include "tools/reader/unpack.hpp"

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace libprofile::tools {

class RankStream {
  public:
    /// Memory that whoever sums ranks up keeps from one to the next.
    class Room {
      public:
        explicit Room(const RankStream& stream) : sums_(stream.tables().metrics.size(), stream.tables().paths.size()) {}

      private:
        friend class RankStream;
        PathSums sums_; // of a thread
        SharingRoom sharing_;
        std::vector<std::vector<Cell>> cells_;
    };

    /// Reads the tables: job, ranks, call paths, names that were stored, and locations without phases.
    /// Empty if the profile has to be read as a whole: it has several files, no directory, or some damage.
    static std::unique_ptr<RankStream> open(const std::filesystem::path& folder);
    static std::unique_ptr<RankStream> open(std::unique_ptr<const ByteSource> source);

    /// As read_profile() gives them, without phases, and without what only phases and loops have.
    const Profile& tables() const { return tables_; }
    Profile take_tables() { return std::move(tables_); }
    /// Ranks in ascending order; places of these are what sum_up() takes.
    const std::vector<std::uint32_t>& ranks() const { return ranks_; }

    /// Sums over phases and clusters, computing time shared out, of each thread of a rank that has some: calls visit(thread, metric, column), with
    /// the call paths and metrics of tables(). Must be asked before take_tables().
    /// Returns false if something is damaged or missing: then the profile has to be read as a whole.
    template <class Visit> bool sum_up(std::size_t rank, Room& room, Visit visit) const {
        return sum_threads(
            rank, room, [&](std::uint32_t thread) { room.sums_.take([&](std::uint32_t metric, const PathColumn& column) { visit(thread, metric, column); }); });
    }

  private:
    using PhaseLists = std::vector<CellList>; // by cluster, the rest last
    /// Call paths by node of a thread, and what they are to the sharing out.
    struct NodeTable {
        std::vector<std::uint32_t> paths;
        std::vector<PathUse> uses;
    };
    using Nodes = std::shared_ptr<const NodeTable>;
    Nodes table_of(std::vector<std::uint32_t> paths) const;
    explicit RankStream(std::unique_ptr<const ByteSource> source) : source_(std::move(source)) {}
    bool sum_threads(std::size_t rank, Room& room, const std::function<void(std::uint32_t thread)>& done) const;
    static std::optional<std::map<std::uint32_t, std::vector<PhaseLists>>> lists_of(RawRank& raw);
    bool read_tables();
    void take_names(std::vector<StoredName> names);
    bool load(const BlockEntry& entry, Unpacker& unpacker, RawFile& to) const;
    bool add_nodes(const RawRank& raw, std::uint32_t rank);
    Nodes nodes_of(const LocationRecord& location, std::uint32_t rank) const;
    Nodes through_map(std::uint32_t rank, std::uint32_t thread) const;

    std::unique_ptr<const ByteSource> source_;
    Profile tables_;
    Numbering numbering_{tables_};
    std::vector<std::uint32_t> ranks_;
    std::vector<std::uint32_t> metric_numbers_;                                 // in the profile, by those of the file
    std::vector<std::uint32_t> job_nodes_;                                      // in the profile, by node of the job's tree; empty: it has none
    std::map<std::pair<std::uint32_t, std::uint32_t>, Nodes> own_nodes_;        // by rank and thread: of those with trees of their own
    std::map<std::pair<std::uint32_t, std::uint32_t>, LocationRecord> records_; // by rank and thread
    std::optional<Directory> directory_;
    std::map<std::uint32_t, std::vector<BlockEntry>> blocks_; // by rank: phases, their values, and maps
    mutable std::mutex lending_;
    mutable std::map<std::pair<std::uint32_t, std::uint32_t>, Nodes> lent_; // by rank and thread: through maps that others use, too
};

} // namespace libprofile::tools
