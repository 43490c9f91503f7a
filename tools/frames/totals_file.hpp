// What each thread's call paths had over the whole run: written once for a large profile, then read a thread at a time.
// Contract: TotalsFile is thread-safe (const), TotalsWriter::add() too. Both throw std::bad_alloc; failures are answers.
//
// Call paths have the numbers of the profile's tables (RankStream). The file is docs/format.md's totals.lprof, beside the profile, or
// without a name in memory where that folder is not writable.
#pragma once

#include "format/profile_file.hpp"
#include "format/totals.hpp"
#include "tools/reader/path_sums.hpp"
#include "tools/reader/replaced_file.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace libprofile::tools {

/// What totals belong to. Those of another key are no use.
struct TotalsKey {
    struct File {
        std::string name;
        std::uint64_t size = 0;
        std::uint64_t mtime_ns = 0;
        bool operator==(const File&) const = default;
    };
    std::vector<File> files;
    std::vector<std::string> metrics; // by number
    std::uint64_t paths = 0;
    std::uint64_t threads = 0;
    bool operator==(const TotalsKey&) const = default;
};

/// Sums of one metric over all threads.
struct TotalsSum {
    std::uint32_t metric = 0;
    PathColumn column;
};

class TotalsWriter {
  public:
    /// @param folder where the file gets its name; empty: it has none, and lives in memory
    /// Empty if it cannot be written.
    static std::unique_ptr<TotalsWriter> open(const std::filesystem::path& folder);
    ~TotalsWriter();

    /// One metric of one thread. What fails shows in finish().
    /// @param room memory that may be used again and again
    void add(std::uint32_t rank, std::uint32_t thread, std::uint32_t metric, const PathColumn& column, std::vector<unsigned char>& room);
    /// Writes the rest. The file can be read through descriptor() then, also if it got no name.
    /// Returns false when something could not be written.
    bool finish(const TotalsKey& key, const std::vector<TotalsSum>& sums);
    int descriptor() const { return file_; }

  private:
    TotalsWriter(std::optional<ReplacedFile> replaced, int file) : replaced_(std::move(replaced)), file_(file) {}
    void append(const BlockHeader& header, std::span<const unsigned char> payload);
    void put(std::span<const unsigned char> bytes);

    std::optional<ReplacedFile> replaced_;
    int file_;
    std::mutex mutex_;
    std::uint64_t size_ = 0;
    bool failed_ = false;
    std::vector<TotalsPlaceRecord> places_;
};

class TotalsFile {
  public:
    struct Place {
        std::uint32_t rank = 0;
        std::uint32_t thread = 0;
        std::uint32_t metric = 0;
        std::uint64_t rows = 0;
        std::uint64_t at = 0;
        std::uint64_t size = 0;
    };
    /// Empty if it is not there, damaged, or of another key.
    static std::shared_ptr<const TotalsFile> open(const std::filesystem::path& path, const TotalsKey& key);
    /// @param file is duplicated
    static std::shared_ptr<const TotalsFile> open(int file, const TotalsKey& key);
    TotalsFile(const TotalsFile&) = delete;
    TotalsFile& operator=(const TotalsFile&) = delete;
    ~TotalsFile();

    const std::vector<Place>& places() const { return places_; }
    const std::vector<TotalsSum>& sums() const { return sums_; }

    /// Calls visit(path, value) by ascending path. Returns false if the block is damaged.
    /// @param bytes memory of this thread
    template <class Visit> bool read(const Place& place, std::vector<unsigned char>& bytes, Visit visit) const;

  private:
    TotalsFile(int file, std::uint64_t size) : file_(file), size_(size) {}
    bool read_index(const TotalsKey& key);
    bool load(std::uint64_t at, std::uint64_t size, BlockType type, std::uint32_t rank, std::vector<unsigned char>& bytes) const;

    int file_;
    std::uint64_t size_;
    std::uint64_t paths_ = 0;
    std::vector<Place> places_;
    std::vector<TotalsSum> sums_;
};

/// The runs and values after a TotalsRecord. Returns false if they are none of a profile with so many call paths.
template <class Visit> bool visit_totals(Decoder& d, const TotalsRecord& record, std::uint64_t paths, Visit visit) {
    if (d.failed() || record.rows > paths || record.runs > record.rows || record.runs > d.remaining() / 2 || record.rows > d.remaining()) return false;
    Decoder values = d;
    std::uint64_t rows = 0, end = 0, skipped = 0;
    const auto next_run = [&](Decoder& runs, std::uint64_t& begin) {
        std::uint64_t gap = 0, length = 0;
        runs.number(gap);
        runs.number(length);
        if (runs.failed() || gap > paths - end || length > paths - end - gap) return false;
        begin = end + gap;
        end = begin + length;
        return true;
    };
    for (std::uint64_t r = 0; r < record.runs; ++r) { // the values come after all runs
        if (!next_run(values, skipped)) return false;
        rows += end - skipped;
    }
    if (rows != record.rows || values.remaining() < rows) return false;
    end = 0;
    for (std::uint64_t r = 0; r < record.runs; ++r) {
        std::uint64_t path = 0;
        next_run(d, path);
        for (; path < end; ++path) {
            std::uint64_t value = 0;
            values.number(value);
            visit(static_cast<std::uint32_t>(path), value);
        }
    }
    d = values;
    return !d.failed();
}

template <class Visit> bool TotalsFile::read(const Place& place, std::vector<unsigned char>& bytes, Visit visit) const {
    if (!load(place.at, place.size, BlockType::Totals, place.rank, bytes)) return false;
    Decoder d(bytes.data(), bytes.size());
    TotalsRecord record;
    describe(d, record);
    return record.thread == place.thread && record.metric == place.metric && record.rows == place.rows && visit_totals(d, record, paths_, visit) &&
           d.remaining() == 0;
}

} // namespace libprofile::tools
