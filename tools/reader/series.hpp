// The coded time series of one phase on one location, and how to read it iteration by iteration.
// Contract: SeriesData is plain data; a SeriesReader belongs to one thread and keeps a reference to its data, which may be
// damaged: then reading ends early. Throws std::bad_alloc only.
#pragma once

#include "format/profile_file.hpp"
#include "format/series_code.hpp"
#include "format/series_records.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace libprofile::tools {

struct SeriesData {
    struct Column {
        std::uint32_t path = 0;
        std::uint32_t metric = 0;
    };
    struct Chunk {
        std::uint32_t iterations = 0;
        std::uint32_t counts_before = 0; // columns that the first iteration knows from before
        std::uint32_t times_before = 0;
        bool has_totals = false;
        bool has_cells = false; // only with totals
        std::vector<unsigned char> totals;
        std::vector<unsigned char> cells;
    };
    std::vector<Column> counts; // event cells that are no times
    std::vector<Column> times;
    std::vector<std::uint32_t> visits_of; // per time: index of the path's visits in `counts`, or SeriesColumns::none
    std::vector<Chunk> chunks;
    std::vector<std::uint32_t> counter_rows;                 // of the counters in the order of their values: catalogue_size + position among the counters
    std::array<SeriesAccuracyRecord, metric_count> accuracy; // by metric
    std::vector<SeriesData> later;                           // what comes after it, with columns of its own: the iterations of a journal; exact

    /// A column of the series or of what comes later. `later` may have the same path and metric again.
    struct NumberedColumn {
        Column column;
        bool is_time = false;
        std::size_t visits = none;     // the number of the path's visits, for times
        SeriesAccuracyRecord accuracy; // of its metric, in its part
        static constexpr std::size_t none = static_cast<std::size_t>(-1);
    };
    /// All of them; their positions are what SeriesReader::for_each_cell calls them.
    std::vector<NumberedColumn> numbered_columns() const;
    /// Calls visit(column) for every column of the series and of what comes later.
    template <class Visit> void for_each_column(Visit visit) {
        for (std::vector<Column>* columns : {&counts, &times})
            for (Column& column : *columns) visit(column);
        for (SeriesData& part : later) part.for_each_column(visit);
    }
    /// Calls visit(chunk) for every chunk in the order of the iterations.
    template <class Visit> void for_each_chunk(Visit visit) const {
        for (const Chunk& chunk : chunks) visit(chunk);
        for (const SeriesData& part : later) part.for_each_chunk(visit);
    }
    /// Whether whole iterations have this row of metric_rows.
    bool has_row(std::size_t row) const { return row < catalogue_size || std::find(counter_rows.begin(), counter_rows.end(), row) != counter_rows.end(); }
    SeriesAccuracyRecord accuracy_of(std::size_t metric) const; // of all parts together
    std::uint64_t iterations() const;
    std::uint64_t iterations_with_cells() const;
    std::uint64_t iterations_with_totals() const;
    std::uint64_t bytes() const; // of the streams
};

/// Goes through the iterations in order.
class SeriesReader {
  public:
    /// `with_cells` false: the whole-iteration values only, which is faster.
    explicit SeriesReader(const SeriesData& data, bool with_cells = true);

    /// Before the first next(): leaves out what can be left out without reading it of the iterations before one.
    /// @return how many were left out
    std::uint64_t skip_before(std::uint64_t iteration);
    /// Returns false if there is no further iteration.
    bool next();
    /// For the iteration that next() went to: what is known about it.
    bool has_totals() const { return has_totals_; }
    bool has_cells() const { return has_cells_; }
    /// By row of metric_rows, those that SeriesData::has_row(); exact. There may be fewer rows than the profile has, if it has counters that
    /// this location does not.
    const std::vector<std::uint64_t>& condensed() const { return condensed_; }
    std::uint64_t wall_ns() const { return wall_; } // inclusive; exact
    /// Calls visit(number, value) for every event cell that is not zero, counts first; `number` is its column's position in
    /// SeriesData::numbered_columns().
    template <class Visit> void for_each_cell(Visit visit) const {
        for (std::size_t i = 0; i < counts_.size(); ++i)
            if (counts_[i] != 0) visit(first_column_ + i, static_cast<std::uint64_t>(counts_[i]));
        for (std::size_t i = 0; i < times_.size(); ++i)
            if (times_[i] != 0) visit(first_column_ + counts_.size() + i, static_cast<std::uint64_t>(times_[i]));
    }

  private:
    void begin_part(const SeriesData& data);
    void begin_chunk();

    const SeriesData* whole_;
    std::size_t part_ = 0; // of `later` + 1
    const SeriesData* data_;
    std::size_t first_column_ = 0; // the number of its first column
    bool with_cells_;
    std::size_t chunk_ = 0;
    std::uint32_t in_chunk_ = 0;
    SeriesCode code_;
    std::vector<std::uint64_t> track_memory_[3];
    std::vector<std::uint32_t> count_keys_;
    std::vector<std::uint32_t> visits_of_;
    SeriesColumns columns_;
    std::optional<RangeDecoder> totals_;
    std::optional<RangeDecoder> cells_;
    std::vector<std::int64_t> counts_;
    std::vector<std::int64_t> times_;
    std::vector<std::uint64_t> condensed_;
    std::uint64_t wall_ = 0;
    bool has_totals_ = false;
    bool has_cells_ = false;
};

} // namespace libprofile::tools
