// The coding of the values of successive iterations: as differences from earlier iterations with the same structure. One description for
// the writer in the job and for readers.
// Contract: no exceptions, no allocation (the owner of a track gives it memory); belongs to one thread. `Coder` is a RangeEncoder::Run, which
// takes values and returns them as a reader will see them, or a RangeDecoder, which only returns them.
//
// Iterations differ by their kind and by noise. So there are several predictions, in slots. The writer says which slot an iteration continues
// (one per recent structure signature). A prediction is the last value in that slot (counts) or a running mean (times). Values may be coarse:
// rounded to multiples of 2^shift away from the prediction, so the error of a value is at most 2^(shift-1), whatever the values before.
// Differential coding with the quantiser inside the loop: Cutler, "Differential quantization" (1952).
#pragma once

#include "format/metrics.hpp"
#include "format/range_code.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <initializer_list>

namespace libprofile {

/// A vector of numbered values per iteration.
class SeriesTrack {
  public:
    static constexpr unsigned slots = 4;

    struct Rule {
        unsigned shift = 0;     // 0 for exact values
        bool averaged = false;  // the prediction is a running mean, not the last value
        bool is_absent = false; // probably 0, which does not change the prediction
        bool spreads = false;   // spread() is asked for
    };

    std::uint32_t columns() const { return columns_; }
    std::uint32_t capacity() const { return capacity_; }
    unsigned slots_in_memory() const { return room_; }
    /// Memory for `capacity` columns and the first `room` slots.
    static constexpr std::size_t bytes(std::uint32_t capacity, unsigned room) { return std::size_t{capacity} * (room * 8 + 4); }
    void* memory() const { return predicted_[0]; }
    /// Moves to other memory: bytes(capacity, room) zeroes, with at least the present columns and slots. The old memory belongs to the caller
    /// again.
    void move_to(void* memory, std::uint32_t capacity, unsigned room) {
        SeriesTrack old = *this;
        auto* bytes = static_cast<unsigned char*>(memory);
        for (unsigned s = 0; s < room; ++s, bytes += std::size_t{capacity} * 8) {
            predicted_[s] = reinterpret_cast<std::uint64_t*>(bytes);
            if (s < room_ && columns_ != 0) std::memcpy(bytes, old.predicted_[s], std::size_t{columns_} * 8);
        }
        changes_ = reinterpret_cast<Odds<4>*>(bytes);
        lengths_ = bytes + std::size_t{capacity} * 2;
        for (std::uint32_t i = 0; i < capacity; ++i) changes_[i] = i < columns_ ? old.changes_[i] : Odds<4>{};
        if (columns_ != 0) std::memcpy(lengths_, old.lengths_, columns_);
        capacity_ = capacity;
        room_ = room;
    }
    /// Sets the number of columns, at most the capacity. New columns have had the value 0.
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
        is_there_ = {};
        rest_changes_ = {};
        rest_length_ = 0;
        odds_ = rest_odds_ = {};
    }
    void copy_slot(unsigned to, unsigned from) {
        if (to != from && columns_ != 0) std::memcpy(predicted_[to], predicted_[from], std::size_t{columns_} * 8);
    }
    bool has_history(unsigned slot, std::uint32_t column) const { return predicted_[slot][column] != 0; }

    template <class Coder> std::int64_t code(Coder& coder, unsigned slot, std::uint32_t column, std::int64_t value, Rule rule) {
        if (rule.is_absent) return code_absent(coder, value, rule.shift);
        const std::uint64_t prediction = predicted_[slot][column];
        if (!Coder::reading && rule.spreads) learn_spread(value, prediction);
        if (!Coder::reading && is_predicted(value, prediction)) { // nothing else would change
            coder.decide(changes_[column], false);
            return value;
        }
        const std::int64_t difference = code_difference(coder, changes_[column], lengths_[column], odds_, wanted(value, prediction, rule.shift));
        const std::int64_t result = value_of(prediction, difference, rule.shift);
        keep(slot, column, result, rule.averaged);
        return result;
    }
    /// For the writer only: codes exact values, none of which may be absent, as long as they are as predicted. Returns the first other column,
    /// or `end`. Most counts of most iterations are.
    template <class Coder> std::uint32_t code_predicted(Coder& coder, unsigned slot, std::uint32_t column, std::uint32_t end, const std::int64_t* values) {
        const std::uint64_t* const predicted = predicted_[slot];
        Odds<4>* const changes = changes_;
        constexpr std::uint32_t together = 4; // compared at once
        const auto is_other = [&](std::uint32_t c) { return static_cast<std::uint64_t>(values[c]) ^ predicted[c]; };
        for (; column + together <= end; column += together) {
            if ((is_other(column) | is_other(column + 1) | is_other(column + 2) | is_other(column + 3)) != 0) break;
            for_each_constant<together>([&](auto i) { coder.decide(changes[column + i], false); });
        }
        for (; column < end && static_cast<std::uint64_t>(values[column]) == predicted[column]; ++column) coder.decide(changes[column], false);
        return column;
    }
    /// For the writer only: code() of an absent value that is 0.
    template <class Coder> void code_nothing(Coder& coder) { coder.decide(is_there_, false); }
    /// Codes a value that is known except for rounding errors: the rest of a sum. The column still learns how far its values are from its own
    /// prediction.
    template <class Coder> std::int64_t code_rest(Coder& coder, unsigned slot, std::uint32_t column, std::int64_t value, Rule rule, std::int64_t left) {
        const std::uint64_t prediction = left < 0 ? 0 : static_cast<std::uint64_t>(left);
        if (!Coder::reading && rule.spreads) learn_spread(value, predicted_[slot][column]);
        const std::int64_t difference = code_difference(coder, rest_changes_, rest_length_, rest_odds_, wanted(value, prediction, rule.shift));
        const std::int64_t result = value_of(prediction, difference, rule.shift);
        const std::int64_t own = wanted(result, predicted_[slot][column], rule.shift);
        changes_[column].learn(own != 0);
        if (own != 0) expect(lengths_[column], length_of(own));
        keep(slot, column, result, rule.averaged);
        return result;
    }
    /// The number of bits that the next difference of a column will probably take, in arbitrary units.
    std::uint32_t likely_cost(std::uint32_t column) const { return lengths_[column] * (0x10000u - changes_[column].no); }

    /// For the writer only: two of three values are closer to their prediction than 2^this, in units of 1 / spread_unit. A column's first values do
    /// not count. Survives restart().
    static constexpr std::int32_t spread_unit = 256;
    std::int32_t spread() const { return spread_; }

  private:
    static bool is_predicted(std::int64_t value, std::uint64_t prediction) { return static_cast<std::uint64_t>(value) == prediction && value >= 0; }
    void learn_spread(std::int64_t value, std::uint64_t prediction) {
        if (prediction == 0) return;
        const auto length = static_cast<std::int32_t>(length_of(static_cast<std::int64_t>(static_cast<std::uint64_t>(value) - prediction)));
        constexpr std::int32_t step = spread_unit / 64; // up twice as fast as down, so a third of the values are above
        if (spread_ < 0)
            spread_ = length * spread_unit;
        else
            spread_ += length * spread_unit > spread_ ? 2 * step : spread_ >= step ? -step : 0;
    }
    static std::int64_t wanted(std::int64_t value, std::uint64_t prediction, unsigned shift) {
        // Zero stays zero: rounded down it would be below 0, and then clamped. Otherwise call paths would appear that were never visited.
        const std::uint64_t half = shift == 0 || value == 0 ? 0 : std::uint64_t{1} << (shift - 1);
        return static_cast<std::int64_t>(static_cast<std::uint64_t>(value) - prediction + half) >> shift;
    }
    static std::int64_t value_of(std::uint64_t prediction, std::int64_t difference, unsigned shift) {
        const auto result = static_cast<std::int64_t>(prediction + (static_cast<std::uint64_t>(difference) << shift));
        return shift != 0 && result < 0 ? 0 : result;
    }
    static unsigned length_of(std::int64_t difference) {
        const auto bits = static_cast<std::uint64_t>(difference);
        return static_cast<unsigned>(std::bit_width(difference < 0 ? 0 - bits : bits));
    }
    void keep(unsigned slot, std::uint32_t column, std::int64_t result, bool averaged) {
        std::uint64_t& memory = predicted_[slot][column];
        const auto now = static_cast<std::uint64_t>(result);
        if (!averaged || memory == 0)
            memory = now;
        else
            memory += static_cast<std::uint64_t>(static_cast<std::int64_t>(now - memory) >> 2);
    }
    /// `expected`: a running mean of lengths, in quarters; 0 before the first.
    static void expect(unsigned char& expected, unsigned length) {
        const int now = static_cast<int>(length < 63 ? length : 63) * 4;
        expected = static_cast<unsigned char>(expected == 0 ? now : expected + ((now - expected + 2) >> 2));
    }
    template <class Coder> std::int64_t code_absent(Coder& coder, std::int64_t value, unsigned shift) {
        const std::int64_t coarse = wanted(value, 0, shift);
        if (!coder.decide(is_there_, coarse != 0)) return 0;
        unsigned char unknown = 0;
        return value_of(0, code_size(coder, unknown, odds_, coarse), shift);
    }
    template <class Coder> std::int64_t code_difference(Coder& coder, Odds<4>& changes, unsigned char& expected, LengthOdds& odds, std::int64_t value) {
        return coder.decide(changes, value != 0) ? code_size(coder, expected, odds, value) : 0;
    }
    template <class Coder> std::int64_t code_size(Coder& coder, unsigned char& expected, LengthOdds& odds, std::int64_t value) {
        const bool negative = coder.decide(is_negative_, value < 0);
        const auto bits = static_cast<std::uint64_t>(value);
        const unsigned length = odds.code(coder, (expected + 1u) >> 2, Coder::reading ? 1 : length_of(value));
        expect(expected, length);
        const std::uint64_t top = std::uint64_t{1} << (length - 1);
        const std::uint64_t coded = top | coder.bits((negative ? 0 - bits : bits) & (top - 1), length - 1);
        return static_cast<std::int64_t>(negative ? 0 - coded : coded);
    }

    std::uint64_t* predicted_[slots] = {};
    Odds<4>* changes_ = nullptr;       // per column: the value differs from the prediction
    unsigned char* lengths_ = nullptr; // per column: the length of its differences
    std::uint32_t columns_ = 0;
    std::uint32_t capacity_ = 0;
    unsigned room_ = 0; // number of slots that have memory
    Odds<5> is_negative_;
    Odds<4> is_there_; // a value that should be absent is not
    LengthOdds odds_;
    Odds<4> rest_changes_;
    unsigned char rest_length_ = 0;
    LengthOdds rest_odds_;
    std::int32_t spread_ = -1; // nothing is known
};

/// The whole-iteration values: the rows of the catalogue that are not sums of others, times without those of the rows below, and the part of the
/// iteration's wall time beyond them (phases inside it).
constexpr std::size_t series_totals_count() {
    std::size_t count = 1;
    for (const CatalogueRow& row : metric_catalogue) count += row.kind != CatalogueKind::Sum ? 1 : 0;
    return count;
}
inline constexpr std::size_t series_totals = series_totals_count();
/// After them come the chosen counters, and those of regions.
inline constexpr std::size_t most_series_totals = series_totals + most_counter_metrics;

/// Which of them are times of a category: neighbouring values are similar.
struct SeriesTotalKinds {
    bool is_time[most_series_totals] = {};
    constexpr SeriesTotalKinds() {
        std::size_t n = 0;
        for (const CatalogueRow& row : metric_catalogue)
            if (row.kind != CatalogueKind::Sum) is_time[n++] = row.kind == CatalogueKind::Time;
    }
};
inline constexpr SeriesTotalKinds series_total_kinds;

/// `condensed`: condensed_size values; `wall` in ns; `out`: most_series_totals values.
inline void series_totals_of(const std::uint64_t* condensed, std::uint64_t wall, std::int64_t* out) {
    std::uint64_t own[catalogue_size];
    std::memcpy(own, condensed, sizeof own);
    for_each_constant<catalogue_size>([&](auto i) {
        constexpr CatalogueRow row = metric_catalogue[i];
        if constexpr (row.kind == CatalogueKind::Time && row.parent != CatalogueId::None) own[static_cast<std::size_t>(row.parent)] -= condensed[i];
    });
    std::size_t n = 0;
    for_each_constant<catalogue_size>([&](auto i) {
        if constexpr (metric_catalogue[i].kind != CatalogueKind::Sum) out[n++] = static_cast<std::int64_t>(own[i]);
    });
    out[n] = static_cast<std::int64_t>(wall - condensed[static_cast<std::size_t>(CatalogueId::Total)]);
    for (std::size_t i = 0; i < most_counter_metrics; ++i) out[series_totals + i] = static_cast<std::int64_t>(condensed[catalogue_size + i]);
}
/// The inverse function.
inline void condensed_of(const std::int64_t* totals, std::uint64_t* condensed, std::uint64_t& wall) {
    std::size_t n = 0;
    for_each_constant<catalogue_size>([&](auto i) {
        if constexpr (metric_catalogue[i].kind != CatalogueKind::Sum)
            condensed[i] = static_cast<std::uint64_t>(totals[n++]);
        else
            condensed[i] = 0;
    });
    for_each_constant<catalogue_size>([&](auto up) {
        constexpr std::size_t i = catalogue_size - 1 - up;
        constexpr CatalogueRow row = metric_catalogue[i];
        if constexpr (row.parent != CatalogueId::None) condensed[static_cast<std::size_t>(row.parent)] += condensed[i];
    });
    wall = condensed[static_cast<std::size_t>(CatalogueId::Total)] + static_cast<std::uint64_t>(totals[n]);
    for (std::size_t i = 0; i < most_counter_metrics; ++i) condensed[catalogue_size + i] = static_cast<std::uint64_t>(totals[series_totals + i]);
}

/// Whether the row's time is in MPI or in OpenMP.
constexpr bool is_call_time(std::size_t i) {
    CatalogueId row = static_cast<CatalogueId>(i);
    while (row != CatalogueId::Mpi && row != CatalogueId::OpenMp && row != CatalogueId::None) row = metric_catalogue[static_cast<std::size_t>(row)].parent;
    return row != CatalogueId::None;
}

/// The time in MPI and in OpenMP; `totals`: series_totals values.
inline std::int64_t series_call_time(const std::int64_t* totals) {
    std::uint64_t sum = 0;
    std::size_t n = 0;
    for_each_constant<catalogue_size>([&](auto i) {
        if constexpr (metric_catalogue[i].kind != CatalogueKind::Sum) {
            if constexpr (is_call_time(i)) sum += static_cast<std::uint64_t>(totals[n]);
            ++n;
        }
    });
    return static_cast<std::int64_t>(sum);
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

/// The columns of the event cells: (node, metric). Counts and bytes come first, since a call path that was not visited has no time. The arrays belong
/// to the owner.
struct SeriesColumns {
    std::uint32_t counts = 0;
    std::uint32_t times = 0;
    std::uint32_t* count_keys = nullptr; // node * 64 + metric
    std::uint32_t* time_nodes = nullptr;
    std::uint32_t* visits_of = nullptr; // per time: the column with the node's visits, or `none`
    static constexpr std::uint32_t none = 0xffffffffu;
};

/// The state of coding, equal on both sides. Both streams begin anew with each chunk of iterations.
class SeriesCode {
  public:
    static constexpr std::uint32_t chunk_iterations = 256;

    SeriesTrack totals;
    SeriesTrack counts;
    SeriesTrack times;
    std::uint32_t whole_values = series_totals; // values of an iteration; more with counters
    std::uint8_t shift[cell_metrics] = {};      // of metrics that may be coarse

    void restart_totals() {
        totals.restart();
        known_totals_ = 0;
        for (std::size_t i = 0; i < most_series_totals; ++i) totals_order_[i] = static_cast<std::uint8_t>(i);
        has_new_totals_ = {};
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
        is_shifted_[0] = is_shifted_[1] = {};
        std::memset(shift, 0, sizeof shift);
        are_exact_ = true;
    }

    /// Codes whether nothing is known of the iteration; then nothing else is coded for it.
    template <class Coder> bool code_unknown(Coder& coder, bool unknown) { return coder.decide(is_unknown_, unknown); }
    /// `slot`: the predictions that this iteration continues, which are first copied from slot `source`.
    template <class Coder> void code_slot(Coder& coder, unsigned& slot, unsigned& source) {
        if (coder.decide(is_other_slot_, slot != slot_))
            slot = static_cast<unsigned>(coder.bits(slot, 2));
        else
            slot = slot_;
        slot_ = slot;
        if (coder.decide(is_copy_, source != slot))
            source = static_cast<unsigned>(coder.bits(source, 2));
        else
            source = slot;
    }
    /// The number of columns of totals after these values are coded: those that were not 0 in an iteration of the chunk.
    std::uint32_t totals_after(const std::int64_t* values) const {
        std::int64_t any = 0;
        for (std::uint32_t c = known_totals_; c < whole_values; ++c) any |= values[totals_order_[c]];
        std::uint32_t count = known_totals_;
        if (any != 0) [[unlikely]]
            for (std::uint32_t c = known_totals_; c < whole_values; ++c) count += values[totals_order_[c]] != 0 ? 1 : 0;
        return count;
    }
    /// `after`: for the writer, totals_after(values).
    template <class Coder> void code_totals(Coder& coder, unsigned slot, unsigned source, std::int64_t* values, std::uint32_t after) {
        totals.copy_slot(slot, source);
        if (coder.decide(has_new_totals_, !Coder::reading && after != known_totals_)) {
            std::uint8_t unknown[most_series_totals];
            std::uint32_t left = 0;
            for (std::uint32_t c = known_totals_; c < whole_values; ++c) {
                const std::uint8_t i = totals_order_[c];
                if (coder.bits(values[i] != 0 ? 1 : 0, 1) != 0)
                    totals_order_[known_totals_++] = i;
                else
                    unknown[left++] = i;
            }
            std::memcpy(totals_order_ + known_totals_, unknown, left);
        }
        for (std::uint32_t column = 0; column < known_totals_; ++column) {
            const std::size_t i = totals_order_[column];
            values[i] = totals.code(coder, slot, column, values[i], {0, series_total_kinds.is_time[i], false});
        }
    }
    /// Codes values by column. Returns false if a reader met more columns than `columns` has. `time_sum`: the sum of all times if all of them are
    /// known, from the totals (series_call_time).
    template <class Coder> bool code_cells(Coder& coder, unsigned slot, unsigned source, const SeriesColumns& columns, const std::uint8_t* new_shift,
                                           std::int64_t time_sum, std::int64_t* count_values, std::int64_t* time_values) {
        counts.copy_slot(slot, source);
        times.copy_slot(slot, source);
        const bool more = columns.counts != known_counts_ || columns.times != known_times_;
        if (coder.decide(grown_, more)) {
            const std::uint64_t more_counts = code_rare(coder, columns.counts - known_counts_);
            const std::uint64_t more_times = code_rare(coder, columns.times - known_times_);
            if (more_counts > columns.counts - known_counts_ || more_times > columns.times - known_times_) return false;
            known_counts_ += static_cast<std::uint32_t>(more_counts);
            known_times_ += static_cast<std::uint32_t>(more_times);
        }
        for (const bool times_only : {true, false}) {
            bool changes = false;
            if constexpr (!Coder::reading) changes = times_only ? shift[0] != new_shift[0] : std::memcmp(shift + 1, new_shift + 1, metric_count - 1) != 0;
            if (!coder.decide(is_shifted_[times_only ? 0 : 1], changes)) continue;
            for (std::size_t m = 0; m < metric_count; ++m)
                if (may_be_coarse(m) && (m == 0) == times_only) shift[m] = static_cast<std::uint8_t>(coder.bits(Coder::reading ? 0 : new_shift[m], 6));
            are_exact_ = std::count(shift + 1, shift + metric_count, 0) == metric_count - 1;
        }
        for (std::uint32_t i = 0; i < known_counts_; ++i) {
            if (!Coder::reading && are_exact_) {
                i = counts.code_predicted(coder, slot, i, known_counts_, count_values);
                if (i == known_counts_) break;
            }
            // The first value is exact, and so are later equal ones.
            const unsigned coarse = counts.has_history(slot, i) ? shift[std::min<std::size_t>(columns.count_keys[i] & 63, cell_metrics - 1)] : 0;
            count_values[i] = counts.code(coder, slot, i, count_values[i], {coarse, false, false});
        }
        // The time that would take most bits comes last: it is the rest of the sum.
        const std::uint32_t end = known_times_;
        const auto is_absent = [visits_of = columns.visits_of, known = known_counts_, count_values](std::uint32_t i) {
            const std::uint32_t visits = visits_of[i];
            return visits < known && count_values[visits] == 0;
        };
        std::uint32_t last = end;
        std::uint32_t most = 0;
        for (std::uint32_t i = 0; i < end; ++i) {
            const std::uint32_t cost = times.likely_cost(i);
            if ((last != end && cost <= most) || is_absent(i)) continue;
            last = i;
            most = cost;
        }
        for (std::uint32_t i = 0; i < end; ++i) {
            if (i == last) continue;
            const bool absent = is_absent(i);
            if (!Coder::reading && absent && time_values[i] == 0) {
                times.code_nothing(coder);
                continue;
            }
            time_values[i] = times.code(coder, slot, i, time_values[i], {shift[0], true, absent, true});
            time_sum = static_cast<std::int64_t>(static_cast<std::uint64_t>(time_sum) - static_cast<std::uint64_t>(time_values[i]));
        }
        if (last != end) time_values[last] = times.code_rest(coder, slot, last, time_values[last], {shift[0], true, false, true}, time_sum);
        return true;
    }

  private:
    unsigned slot_ = 0;
    std::uint32_t known_totals_ = 0;
    std::uint8_t totals_order_[most_series_totals] = {}; // the known ones in the order of appearance, then the others: they were always 0
    std::uint32_t known_counts_ = 0;
    std::uint32_t known_times_ = 0;
    bool are_exact_ = true; // the counts: bytes are not rounded
    Odds<4> is_unknown_;
    Odds<4> has_new_totals_;
    Odds<4> is_other_slot_;
    Odds<4> is_copy_;
    Odds<4> grown_;
    Odds<4> is_shifted_[2]; // times, bytes
};

} // namespace libprofile
