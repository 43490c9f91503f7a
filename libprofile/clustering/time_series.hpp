// The time series of a phase on one thread: every iteration's whole-iteration values, exactly, and its event cells. Counts are exact; times (on
// request bytes, too) have errors up to a bound that the user can choose. Values are coded as they come.
//
// Contract: belongs to one thread, used with its in-tool flag set; nothing throws; memory from its pool. Work per iteration is linear in all
// event cells that the phase has had so far, and independent of the number of iterations. Integer arithmetic only.
//
// Memory: a few bytes per iteration. When half of the series' share is used, the times of new iterations become coarser (unless the user
// chose a bound). When all of it is used, or others need the rest, chunks of 256 iterations lose their event cells: every second one first, then
// every second one of the rest, so that the remaining chunks are spread evenly. The whole-iteration values follow in the same way. Iterations
// without them are still in their clusters, and totals stay exact.
#pragma once

#include "format/profile_file.hpp"
#include "format/series_code.hpp"
#include "format/series_records.hpp"
#include "libprofile/clustering/chain_sink.hpp"
#include "libprofile/clustering/event_columns.hpp"
#include "libprofile/clustering/iteration_profile.hpp"
#include "libprofile/clustering/signature.hpp"

#include <cstdint>

namespace libprofile {

struct SeriesSettings {
    bool keeps_cells = true; // else the whole-iteration values only
    static constexpr std::uint32_t default_ppm = 2500;
    std::uint32_t time_error_ppm = default_ppm; // of the largest time of an event cell so far: no event time is off by more
    std::uint32_t bytes_error_ppm = 0;          // the same for each metric of bytes; 0 for exact
    std::uint64_t most_bytes = 0;               // of coded series; 0 for the process's quota
    bool may_coarsen = false;                   // whether times may get coarser, up to coarse_ppm, when memory is short
    static constexpr std::uint32_t coarse_ppm = 40000;
    std::uint32_t counter_metrics = 0; // of the chosen counters
};

struct SeriesChunk {
    std::uint32_t iterations = 0;
    std::uint32_t counts_before = 0; // columns known when the chunk began
    std::uint32_t times_before = 0;
    bool has_totals = false;
    bool has_cells = false;
    ByteChain totals;
    ByteChain cells;
};

class TimeSeries {
  public:
    TimeSeries(Arena& arena, Pool& pool, SeriesSettings settings) noexcept;
    TimeSeries(const TimeSeries&) = delete;
    TimeSeries& operator=(const TimeSeries&) = delete;
    ~TimeSeries() { memory_quota.series_changed(told_, 0); }

    /// Adds one iteration. `events`: the cells of event paths by key, nullptr if unknown. `condensed`: condensed_size values. `wall` in ns.
    void add(const Cell* events, std::uint32_t count, const std::uint64_t* condensed, std::uint64_t wall, const StructureSignatures& signatures) noexcept;
    /// Others are expected to need `bytes` of the quota. Checked once per chunk.
    void leave(std::uint64_t bytes) noexcept { others_need_ = bytes; }
    bool is_chunk_full() const { return running_ != nullptr && running_->iterations + 1 == SeriesCode::chunk_iterations; }
    /// Adds an iteration without values.
    void add_unknown() noexcept;

    std::uint64_t iterations() const { return iterations_; }
    std::size_t chunk_count() const { return chunks_.size(); }
    const SeriesChunk& chunk(std::size_t i) const { return chunks_[i]; }
    const SeriesColumns& columns() const { return columns_.columns(); }
    std::uint32_t whole_values() const { return code_.whole_values; } // of each iteration
    /// The accuracy and cost of the coding, by metric.
    SeriesAccuracyRecord accuracy(std::size_t metric) const { return accuracy_of_[metric] == 0 ? SeriesAccuracyRecord{} : accuracy_[accuracy_of_[metric] - 1]; }
    /// Bytes in use: coded series, predictions, columns.
    std::size_t memory() const;

    /// The last bytes of the running chunk's streams, which the coders still hold back. Returns their number.
    static constexpr std::size_t most_held_back = ChainSink::most_held_back;
    std::size_t held_back_totals(unsigned char* out) const noexcept;
    std::size_t held_back_cells(unsigned char* out) const noexcept;

  private:
    using Sink = ChainSink;
    struct Recent {
        Signature strong;
        Signature weak;
        std::uint64_t last = 0; // iteration + 1; 0 if free
    };

    bool begin_chunk() noexcept;
    void end_chunk() noexcept;
    void choose_slot(const StructureSignatures& signatures, unsigned& slot, unsigned& source) noexcept;
    bool reserve(SeriesTrack& track, std::uint32_t columns, unsigned slot) noexcept;
    template <class T> bool reserve(T*& array, std::uint32_t& room, std::uint32_t wanted) noexcept;
    bool find_metrics() noexcept;
    bool find_columns(const Cell* events, std::uint32_t count, unsigned slot) noexcept;
    void code_cells(const Cell* events, std::uint32_t count, unsigned slot, unsigned source, std::int64_t time_sum) noexcept;
    void code_totals(unsigned slot, unsigned source, std::int64_t* totals, std::uint32_t after) noexcept;
    void code_values(unsigned slot, unsigned source, const std::uint8_t* shift, std::int64_t time_sum) noexcept;
    std::uint8_t shift_for_spread() const noexcept;
    std::uint8_t shift_for_times() noexcept;
    void end_iteration() noexcept;
    void drop_failed() noexcept;
    void drop_cells(SeriesChunk& chunk) noexcept;
    void drop_totals(SeriesChunk& chunk) noexcept;
    void keep_within_limits() noexcept;
    void coarsen() noexcept;
    void thin_out() noexcept;
    std::size_t held_back(const RangeEncoder<Sink>& coder, unsigned char* out) const noexcept;

    Arena* arena_;
    Pool* pool_;
    SeriesSettings settings_;
    SeriesCode code_;
    EventColumns columns_;
    StableArray<SeriesChunk, 4> chunks_;
    SeriesChunk* running_ = nullptr;
    Sink totals_sink_;
    Sink cells_sink_;
    RangeEncoder<Sink> totals_coder_{totals_sink_};
    RangeEncoder<Sink> cells_coder_{cells_sink_};
    Recent recent_[SeriesTrack::slots];
    unsigned last_slot_ = 0;
    std::uint8_t spread_shift_ = 0;  // of the last iteration: the step that follows from the spread of times, within the bound
    std::int64_t* values_ = nullptr; // of one iteration: counts, then times
    std::uint32_t value_room_ = 0;
    std::uint32_t* cell_columns_ = nullptr; // of the iteration's cells
    std::uint32_t cell_room_ = 0;
    std::uint32_t cells_found_ = 0; // valid elements of cell_columns_
    std::size_t chain_bytes_ = 0;   // of closed chunks
    std::uint64_t told_ = 0;        // reported to the quota
    std::uint64_t others_need_ = 0;
    unsigned cells_kept_ = 0; // one chunk in 2^cells_kept_ keeps its cells
    unsigned totals_kept_ = 0;
    std::uint64_t iterations_ = 0;
    bool has_ended_ = false;
    // Records of the metrics that occur: programs use a few of them, and a phase with few call paths has little other memory.
    SeriesAccuracyRecord* accuracy_ = nullptr;
    std::uint32_t accuracy_room_ = 0;
    std::uint32_t metrics_found_ = 0;
    std::uint32_t columns_looked_at_ = 0;         // columns whose metrics have records
    std::uint8_t accuracy_of_[cell_metrics] = {}; // index of its record + 1; 0 if it has none
};

} // namespace libprofile
