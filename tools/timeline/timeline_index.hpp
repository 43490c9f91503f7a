// Indexes of all threads whose events were left in their files: made once and kept beside the profile.
// Contract: constant after construction and then thread-safe; memory in proportion to the groups of leaves; throws ReadError where files cannot be read or
// are damaged, and std::bad_alloc.
//
// The file has what docs/format.md says. It belongs to the blocks whose checksums it names: one of other blocks, a damaged one, or one of another version
// is made again. Where the folder is not writable it goes to the user's cache, or else lives in memory.
#pragma once

#include "tools/reader/model.hpp"
#include "tools/timeline/row_index.hpp"

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace libprofile::tools {

/// The events of a thread, and their index.
class IndexedRow {
  public:
    IndexedRow(RowIndex index, EventFrames frames, const EventsElsewhere& block, std::vector<TimelineState> states, std::shared_ptr<const ByteSource> file)
        : index_(std::move(index)), frames_(std::move(frames)), block_(block), states_(std::move(states)), file_(std::move(file)) {}

    const RowIndex& index() const { return index_; }
    const EventFrames& frames() const { return frames_; }
    const EventsElsewhere& block() const { return block_; }
    const std::vector<TimelineState>& states() const { return states_; } // by node
    /// @throws ReadError if they are damaged
    std::vector<EventLeaf> leaves(std::size_t group) const;
    /// @param place in RowIndex::tens; @throws ReadError the same
    std::vector<LeafTen> tens(std::size_t place) const;

  private:
    std::vector<unsigned char> read(const IndexBytes& place) const;

    const RowIndex index_;
    const EventFrames frames_;
    const EventsElsewhere block_;
    const std::vector<TimelineState> states_;
    const std::shared_ptr<const ByteSource> file_; // the index
};

/// By position in Profile::locations; null: it has no events.
using IndexedRows = std::vector<const IndexedRow*>;

/// What states the nodes of a thread are.
std::vector<TimelineState> states_of_nodes(const Profile& profile, const EventsElsewhere& block);

class TimelineIndex {
  public:
    /// Called with the number of threads that are done, and how many there are; by one thread at a time.
    using Progress = std::function<void(std::size_t done, std::size_t all)>;
    /// Null if no events were left in files. What is damaged has no row, and a note.
    static std::shared_ptr<const TimelineIndex> open(const Profile& profile, const Progress& progress);
    /// Of an index in memory. Null if it is not of this profile.
    static std::shared_ptr<const TimelineIndex> read(const Profile& profile, std::shared_ptr<const ByteSource> file);
    /// Where the index of a profile is kept.
    static std::filesystem::path path_of(const Profile& profile);

    /// By position in Profile::locations; null: it has no events.
    const IndexedRow* row(std::size_t location) const { return rows_[location].get(); }
    IndexedRows rows() const;
    const std::vector<std::string>& notes() const { return notes_; } // sentences without a full stop
    std::uint64_t index_bytes() const { return index_bytes_; }
    std::uint64_t event_bytes() const { return event_bytes_; } // as they are stored

  private:
    std::vector<std::unique_ptr<const IndexedRow>> rows_;
    std::vector<std::string> notes_;
    std::uint64_t index_bytes_ = 0, event_bytes_ = 0;
};

} // namespace libprofile::tools
