// The file of the indexes: rows, then a directory of them, then a footer.
// Contract: a writer belongs to one thread at a time; failures are answers; throws ReadError where the source does, and std::bad_alloc.
#pragma once

#include "tools/reader/replaced_file.hpp"
#include "tools/timeline/row_builder.hpp"

#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

namespace libprofile::tools {

/// The row of one thread in the file, and the block and states that it was made of.
struct IndexPlace {
    std::uint64_t rank = 0, thread = 0;
    std::uint64_t block_at = 0, stored_size = 0, raw_size = 0, block_crc = 0, states_crc = 0;
    std::uint64_t at = 0, size = 0, crc = 0; // of the encoded RowIndex; 0, 0: the events are damaged
    bool is_same_block(const IndexPlace& other) const {
        return rank == other.rank && thread == other.thread && block_at == other.block_at && stored_size == other.stored_size && raw_size == other.raw_size &&
               block_crc == other.block_crc && states_crc == other.states_crc;
    }
};

class IndexWriter {
  public:
    /// Beside the profile, in the user's cache, or in memory.
    static std::optional<IndexWriter> open(const std::filesystem::path& path);
    IndexWriter(IndexWriter&& other) noexcept;
    IndexWriter& operator=(IndexWriter&&) = delete;
    ~IndexWriter();

    /// @param built null: the events are damaged
    void add(IndexPlace place, BuiltRow* built);
    /// Gives the file its name. Null if not all could be written.
    std::shared_ptr<const ByteSource> finish();
    bool is_in_memory() const { return !replaced_; }

  private:
    IndexWriter(std::optional<ReplacedFile> replaced, int file) : replaced_(std::move(replaced)), file_(file) {}
    void put(std::span<const unsigned char> bytes);

    std::optional<ReplacedFile> replaced_;
    int file_;
    std::uint64_t size_ = 0;
    bool failed_ = false;
    std::vector<IndexPlace> places_;
};

/// The rows of a file. Empty if it is damaged or of another version.
std::optional<std::vector<IndexPlace>> read_places(const ByteSource& file);

/// Where the index goes if the folder of the profile is not writable; empty: nowhere.
std::filesystem::path cached_index(const std::filesystem::path& path);

} // namespace libprofile::tools
