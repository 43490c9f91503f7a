// How the values of one iteration after the other are coded: as differences from what iterations of the same structure had
// before. One description for the writer in the job and for readers.
// Contract: no exceptions, no allocation (the owner of a track gives it memory); belongs to one thread. `Coder` is a
// RangeEncoder::Run, then values go in and come back as a reader will see them, or a RangeDecoder, then they come out.
//
// Two things differ from iteration to iteration: the kind of iteration, and noise. So there are several predictions, in
// slots; the writer says which slot an iteration continues (one per recent structure signature), and a prediction is the
// last value in that slot (counts) or a running mean (times). Values may be coarse: rounded to multiples of 2^shift away
// from the prediction, so that no value is off by more than 2^(shift-1), whatever came before.
// Differential coding with the quantiser inside the loop: Cutler, "Differential quantization" (1952).
#pragma once

#include "format/metrics.hpp"
#include "format/range_code.hpp"

#include <cstdint>
#include <cstring>

namespace libprofile {

/// A vector of numbered values per iteration.
class SeriesTrack {
  public:
    static constexpr unsigned slots = 4;

    struct Rule {
        unsigned shift = 0;    // 0: exact
        bool averaged = false; // the prediction is a running mean, not the last value
        bool is_absent = false; // known to be 0, most likely; no reason to forget the prediction
    };

    std::uint32_t columns() const { return columns_; }
    std::uint32_t capacity() const { return capacity_; }
    unsigned slots_in_memory() const { return room_; }
    /// Memory for `capacity` columns and the first `room` slots.
    static constexpr std::size_t bytes(std::uint32_t capacity, unsigned room) { return std::size_t{capacity} * (room * 8 + 4); }
    void* memory() const { return predicted_[0]; }
    /// Moves to other memory, bytes(capacity, room) of zeroes, with at least the columns and slots that it has; what it had
    /// before is the caller's again.
    void move_to(void* memory, std::uint32_t capacity, unsigned room) {
        SeriesTrack old = *this;
        auto* place = static_cast<unsigned char*>(memory);
        for (unsigned s = 0; s < room; ++s, place += std::size_t{capacity} * 8) {
            predicted_[s] = reinterpret_cast<std::uint64_t*>(place);
            if (s < room_ && columns_ != 0) std::memcpy(place, old.predicted_[s], std::size_t{columns_} * 8);
        }
        changes_ = reinterpret_cast<Odds<4>*>(place);
        lengths_ = place + std::size_t{capacity} * 2;
        for (std::uint32_t i = 0; i < capacity; ++i) changes_[i] = i < columns_ ? old.changes_[i] : Odds<4>{};
        if (columns_ != 0) std::memcpy(lengths_, old.lengths_, columns_);
        capacity_ = capacity;
        room_ = room;
    }
    /// There are so many columns now, not more than the capacity. New ones have had the value 0.
    void grow(std::uint32_t columns) {
        if (columns > columns_ && columns <= capacity_) columns_ = columns;
    }
    /// Forgets all values and odds, so that decoding can begin here.
    void restart() {
        for (unsigned s = 0; s < room_; ++s)
            if (capacity_ != 0) std::memset(predicted_[s], 0, std::size_t{capacity_} * 8);
        for (std::uint32_t i = 0; i < capacity_; ++i) changes_[i] = {};
        if (capacity_ != 0) std::memset(lengths_, 0, capacity_);
        is_negative_ = {};
        for (auto& odds : magnitude_) odds = {};
    }
    void copy_slot(unsigned to, unsigned from) {
        if (to != from && columns_ != 0) std::memcpy(predicted_[to], predicted_[from], std::size_t{columns_} * 8);
    }
    bool has_history(unsigned slot, std::uint32_t column) const { return predicted_[slot][column] != 0; }

    template <class Coder> std::int64_t code(Coder& coder, unsigned slot, std::uint32_t column, std::int64_t value, Rule rule) {
        std::uint64_t& memory = predicted_[slot][column];
        const std::uint64_t prediction = rule.is_absent ? 0 : memory;
        // Nothing stays nothing: rounded down it is below 0, where values end. Else there would be paths that nobody took.
        const std::uint64_t half = rule.shift == 0 || value == 0 ? 0 : std::uint64_t{1} << (rule.shift - 1);
        const auto wanted = static_cast<std::int64_t>(static_cast<std::uint64_t>(value) - prediction + half) >> rule.shift;
        const std::int64_t difference = code_difference(coder, column, wanted);
        auto result = static_cast<std::int64_t>(prediction + (static_cast<std::uint64_t>(difference) << rule.shift));
        if (rule.shift != 0 && result < 0) result = 0;
        if (rule.is_absent) return result;
        const auto now = static_cast<std::uint64_t>(result);
        if (!rule.averaged || memory == 0)
            memory = now;
        else
            memory += static_cast<std::uint64_t>(static_cast<std::int64_t>(now - memory) >> 2);
        return result;
    }

  private:
    template <class Coder> std::int64_t code_difference(Coder& coder, std::uint32_t column, std::int64_t value) {
        if (!coder.decide(changes_[column], value != 0)) return 0;
        const bool negative = coder.decide(is_negative_, value < 0);
        const auto bits = static_cast<std::uint64_t>(value);
        const std::uint64_t magnitude = (negative ? 0 - bits : bits) - 1;
        const std::uint64_t coded = magnitude_[lengths_[column]].code(coder, magnitude) + 1;
        const unsigned length = static_cast<unsigned>(std::bit_width(coded));
        lengths_[column] = static_cast<unsigned char>(length / 4 < length_classes ? length / 4 : length_classes - 1);
        return static_cast<std::int64_t>(negative ? 0 - coded : coded);
    }

    static constexpr unsigned length_classes = 8; // the last: from 28 bits on
    std::uint64_t* predicted_[slots] = {};
    Odds<4>* changes_ = nullptr;        // per column: it differs from the prediction
    unsigned char* lengths_ = nullptr;  // per column: how long its last difference was
    std::uint32_t columns_ = 0;
    std::uint32_t capacity_ = 0;
    unsigned room_ = 0; // slots that have memory
    Odds<5> is_negative_;
    NumberOdds<5> magnitude_[length_classes];
};

/// The whole-iteration values: the rows of the catalogue that are not sums of others, times without those of the rows below,
/// and what the iteration's wall time has beyond them (phases inside it).
constexpr std::size_t series_totals_count() {
    std::size_t count = 1;
    for (const CatalogueRow& row : metric_catalogue) count += row.kind != CatalogueKind::Sum ? 1 : 0;
    return count;
}
inline constexpr std::size_t series_totals = series_totals_count();

/// `condensed`: all rows of the catalogue; `wall` in ns; `out`: series_totals values.
inline void series_totals_of(const std::uint64_t* condensed, std::uint64_t wall, std::int64_t* out) {
    std::uint64_t own[catalogue_size];
    for (std::size_t i = 0; i < catalogue_size; ++i) own[i] = condensed[i];
    for (std::size_t i = 0; i < catalogue_size; ++i) {
        const CatalogueRow& row = metric_catalogue[i];
        if (row.kind == CatalogueKind::Time && row.parent != CatalogueId::None)
            own[static_cast<std::size_t>(row.parent)] -= condensed[i];
    }
    std::size_t n = 0;
    for (std::size_t i = 0; i < catalogue_size; ++i)
        if (metric_catalogue[i].kind != CatalogueKind::Sum) out[n++] = static_cast<std::int64_t>(own[i]);
    out[n] = static_cast<std::int64_t>(wall - condensed[static_cast<std::size_t>(CatalogueId::Total)]);
}
/// The way back.
inline void condensed_of(const std::int64_t* totals, std::uint64_t* condensed, std::uint64_t& wall) {
    std::size_t n = 0;
    for (std::size_t i = 0; i < catalogue_size; ++i)
        condensed[i] = metric_catalogue[i].kind != CatalogueKind::Sum ? static_cast<std::uint64_t>(totals[n++]) : 0;
    for (std::size_t i = catalogue_size; i-- > 0;) {
        const CatalogueRow& row = metric_catalogue[i];
        if (row.parent != CatalogueId::None) condensed[static_cast<std::size_t>(row.parent)] += condensed[i];
    }
    wall = condensed[static_cast<std::size_t>(CatalogueId::Total)] + static_cast<std::uint64_t>(totals[n]);
}

/// Metrics whose values may be rounded: times and bytes. Counts never are.
struct CoarseMetrics {
    bool holds[metric_count] = {};
    constexpr CoarseMetrics() {
        holds[static_cast<std::size_t>(Metric::Time)] = true;
        for (const CatalogueRow& row : metric_catalogue)
            if (row.kind == CatalogueKind::Direct && row.unit[0] == 'b') // "bytes"
                holds[static_cast<std::size_t>(row.direct)] = true;
    }
};
inline constexpr CoarseMetrics coarse_metrics;
constexpr bool may_be_coarse(std::size_t metric) { return coarse_metrics.holds[metric]; }

/// The columns of the event cells: (node, metric). Counts and bytes come first, since a call path that was not visited has no
/// time. Arrays of the owner.
struct SeriesColumns {
    std::uint32_t counts = 0;
    std::uint32_t times = 0;
    std::uint32_t* count_keys = nullptr; // node * 64 + metric
    std::uint32_t* time_nodes = nullptr;
    std::uint32_t* visits_of = nullptr;  // per time: the column with the node's visits; `none`
    static constexpr std::uint32_t none = 0xffffffffu;
};

/// The state of coding, the same on both sides. Both streams begin anew with each chunk of iterations.
class SeriesCode {
  public:
    static constexpr std::uint32_t chunk_iterations = 256;

    SeriesTrack totals;
    SeriesTrack counts;
    SeriesTrack times;
    std::uint8_t shift[metric_count] = {}; // of metrics that may be coarse

    void restart_totals() {
        totals.restart();
        slot_ = 0;
        is_unknown_ = {};
        is_other_slot_ = {};
        is_copy_ = {};
    }
    void restart_cells(std::uint32_t count_columns, std::uint32_t time_columns) {
        counts.restart();
        times.restart();
        known_counts_ = count_columns;
        known_times_ = time_columns;
        grown_ = {};
        for (NumberOdds<4>& odds : growth_) odds = {};
        is_shifted_ = {};
        std::memset(shift, 0, sizeof shift);
    }
    std::uint32_t known_counts() const { return known_counts_; }
    std::uint32_t known_times() const { return known_times_; }

    /// Of an iteration of which nothing is known nothing else is coded.
    template <class Coder> bool code_unknown(Coder& coder, bool unknown) { return coder.decide(is_unknown_, unknown); }
    /// `slot`: the predictions that this iteration continues, after they were copied from slot `source`.
    template <class Coder> void code_slot(Coder& coder, unsigned& slot, unsigned& source) {
        if (coder.decide(is_other_slot_, slot != slot_)) slot = static_cast<unsigned>(coder.bits(slot, 2));
        else slot = slot_;
        slot_ = slot;
        if (coder.decide(is_copy_, source != slot)) source = static_cast<unsigned>(coder.bits(source, 2));
        else source = slot;
    }
    template <class Coder> void code_totals(Coder& coder, unsigned slot, unsigned source, std::int64_t* values) {
        totals.copy_slot(slot, source);
        std::uint32_t column = 0;
        for (std::size_t i = 0; i < catalogue_size; ++i) {
            if (metric_catalogue[i].kind == CatalogueKind::Sum) continue;
            values[column] = totals.code(coder, slot, column, values[column], {0, metric_catalogue[i].kind == CatalogueKind::Time, false});
            ++column;
        }
        values[column] = totals.code(coder, slot, column, values[column], {});
    }
    /// Values by column. False: a reader met more columns than `columns` has.
    template <class Coder>
    bool code_cells(Coder& coder, unsigned slot, unsigned source, const SeriesColumns& columns, const std::uint8_t* new_shift,
                    std::int64_t* count_values, std::int64_t* time_values) {
        counts.copy_slot(slot, source);
        times.copy_slot(slot, source);
        const bool more = columns.counts != known_counts_ || columns.times != known_times_;
        if (coder.decide(grown_, more)) {
            const std::uint64_t more_counts = growth_[0].code(coder, columns.counts - known_counts_);
            const std::uint64_t more_times = growth_[1].code(coder, columns.times - known_times_);
            if (more_counts > columns.counts - known_counts_ || more_times > columns.times - known_times_) return false;
            known_counts_ += static_cast<std::uint32_t>(more_counts);
            known_times_ += static_cast<std::uint32_t>(more_times);
        }
        if (coder.decide(is_shifted_, !Coder::reading && std::memcmp(shift, new_shift, sizeof shift) != 0))
            for (std::size_t m = 0; m < metric_count; ++m)
                if (may_be_coarse(m)) shift[m] = static_cast<std::uint8_t>(coder.bits(Coder::reading ? 0 : new_shift[m], 6));
        for (std::uint32_t i = 0; i < known_counts_; ++i) {
            // The first value is exact: so are all that stay the same.
            const unsigned coarse = counts.has_history(slot, i) ? shift[columns.count_keys[i] & 63] : 0;
            count_values[i] = counts.code(coder, slot, i, count_values[i], {coarse, false, false});
        }
        for (std::uint32_t i = 0; i < known_times_; ++i) {
            const std::uint32_t visits = columns.visits_of[i];
            const bool absent = visits < known_counts_ && count_values[visits] == 0;
            time_values[i] = times.code(coder, slot, i, time_values[i], {shift[0], true, absent});
        }
        return true;
    }

  private:
    unsigned slot_ = 0;
    std::uint32_t known_counts_ = 0;
    std::uint32_t known_times_ = 0;
    Odds<4> is_unknown_;
    Odds<4> is_other_slot_;
    Odds<4> is_copy_;
    Odds<4> grown_;
    Odds<4> is_shifted_;
    NumberOdds<4> growth_[2];
};

} // namespace libprofile
