#include "libprofile/clustering/time_series.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

namespace libprofile {

namespace {

/// The largest shift that keeps every error within `error_ppm` of `largest`.
std::uint8_t shift_for(std::uint64_t largest, std::uint32_t error_ppm) {
    const std::uint64_t bound = largest / 1000000 * error_ppm + largest % 1000000 * error_ppm / 1000000;
    return static_cast<std::uint8_t>(std::bit_width(bound)); // 2^(shift-1) <= bound; 0 for 0
}

} // namespace

TimeSeries::TimeSeries(Arena& arena, Pool& pool, SeriesSettings settings) noexcept : arena_(&arena), pool_(&pool), settings_(settings) {
    totals_sink_.pool = cells_sink_.pool = &pool;
    code_.whole_values = static_cast<std::uint32_t>(series_totals + settings.counter_metrics);
}

/// Makes room for `columns` columns, and for predictions in `slot`.
bool TimeSeries::reserve(SeriesTrack& track, std::uint32_t columns, unsigned slot) noexcept {
    if (columns > track.capacity() || slot >= track.slots_in_memory()) {
        const std::uint32_t wanted = columns > track.capacity() ? columns + track.capacity() / 4 : track.capacity();
        const unsigned room = slot >= track.slots_in_memory() ? slot + 1 : track.slots_in_memory();
        const std::size_t bytes = SeriesTrack::bytes(wanted, room);
        void* memory = pool_->allocate(bytes);
        if (memory == nullptr) return false;
        void* old = track.memory();
        const std::size_t old_bytes = SeriesTrack::bytes(track.capacity(), track.slots_in_memory());
        std::memset(memory, 0, bytes);
        track.move_to(memory, wanted, room);
        if (old != nullptr) pool_->release(old, old_bytes);
    }
    track.grow(columns);
    return true;
}

bool TimeSeries::begin_chunk() noexcept {
    if (has_ended_) return false;
    running_ = chunks_.append(*arena_);
    has_ended_ = running_ == nullptr;
    if (has_ended_) return false;
    running_->counts_before = columns().counts;
    running_->times_before = columns().times;
    running_->has_totals = true;
    running_->has_cells = running_->has_totals && settings_.keeps_cells;
    code_.restart_totals();
    code_.restart_cells(columns().counts, columns().times);
    totals_sink_.chain = &running_->totals;
    cells_sink_.chain = &running_->cells;
    totals_coder_ = RangeEncoder<Sink>(totals_sink_);
    cells_coder_ = RangeEncoder<Sink>(cells_sink_);
    for (Recent& recent : recent_) recent = {};
    last_slot_ = 0;
    return true;
}

void TimeSeries::end_chunk() noexcept {
    if (running_->has_totals) totals_coder_.finish();
    if (running_->has_cells) cells_coder_.finish();
    drop_failed();
    running_->totals.trim(*pool_);
    running_->cells.trim(*pool_);
    chain_bytes_ += running_->totals.memory() + running_->cells.memory();
    running_ = nullptr;
    keep_within_limits();
}

/// Chooses the slot of the last iterations with the same structure. Else takes the slot that was unused for longest, with the predictions of
/// the most similar structure: the same call paths, or the iteration before.
void TimeSeries::choose_slot(const StructureSignatures& signatures, unsigned& slot, unsigned& source) noexcept {
    unsigned oldest = 0;
    unsigned similar = SeriesTrack::slots;
    for (unsigned s = 0; s < SeriesTrack::slots; ++s) {
        const Recent& recent = recent_[s];
        if (recent.last < recent_[oldest].last) oldest = s;
        if (recent.last == 0) continue;
        if (recent.strong == signatures.strong) {
            slot = source = last_slot_ = s;
            recent_[s].last = iterations_ + 1;
            return;
        }
        if (recent.weak == signatures.weak && (similar == SeriesTrack::slots || recent.last > recent_[similar].last)) similar = s;
    }
    slot = oldest;
    source = similar != SeriesTrack::slots ? similar : last_slot_;
    recent_[slot] = {signatures.strong, signatures.weak, iterations_ + 1};
    last_slot_ = slot;
}

/// Makes room for `wanted` elements; the contents are lost.
template <class T> bool TimeSeries::reserve(T*& array, std::uint32_t& room, std::uint32_t wanted) noexcept {
    if (wanted <= room) return true;
    wanted += room / 4;
    auto* fresh = static_cast<T*>(pool_->allocate(wanted * sizeof(T)));
    if (fresh == nullptr) return false;
    pool_->release(array, room * sizeof(T));
    array = fresh;
    room = wanted;
    return true;
}

/// Gives the metrics of new columns their records.
bool TimeSeries::find_metrics() noexcept {
    const SeriesColumns& known = columns();
    const auto give = [this](std::size_t metric) {
        if (accuracy_of_[metric] != 0) return true;
        if (metrics_found_ == accuracy_room_) {
            SeriesAccuracyRecord* const old = accuracy_;
            const std::uint32_t room = accuracy_room_ + 1; // programs with few call paths need very few
            auto* fresh = static_cast<SeriesAccuracyRecord*>(pool_->allocate(room * sizeof(SeriesAccuracyRecord)));
            if (fresh == nullptr) return false;
            std::copy(old, old + metrics_found_, fresh);
            pool_->release(old, accuracy_room_ * sizeof(SeriesAccuracyRecord));
            accuracy_ = fresh;
            accuracy_room_ = room;
        }
        accuracy_[metrics_found_] = {};
        accuracy_of_[metric] = static_cast<std::uint8_t>(++metrics_found_);
        return true;
    };
    if (known.counts + known.times == columns_looked_at_) return true;
    for (std::uint32_t i = 0; i < known.counts; ++i)
        if (!give(known.count_keys[i] & ((1u << Cell::metric_bits) - 1))) return false;
    if (known.times != 0 && !give(static_cast<std::size_t>(Metric::Time))) return false;
    columns_looked_at_ = known.counts + known.times;
    return true;
}

/// Finds every cell's column and makes room for the values.
bool TimeSeries::find_columns(const Cell* events, std::uint32_t count, unsigned slot) noexcept {
    constexpr std::uint64_t bytes_per_cell = 64; // in tables: columns, predictions, values
    if (bytes_per_cell * count > memory_quota.series_share() / 8) return false;
    if (count > cell_room_) cells_found_ = 0;
    if (!reserve(cell_columns_, cell_room_, count)) return false;
    const std::uint32_t guessed = std::exchange(cells_found_, 0);
    if (!columns_.find_or_add(events, count, cell_columns_, guessed, *pool_)) return false;
    cells_found_ = count;
    const SeriesColumns& known = columns();
    return find_metrics() && reserve(values_, value_room_, known.counts + known.times) && reserve(code_.counts, known.counts, slot) &&
           reserve(code_.times, known.times, slot);
}

/// Coding is one function, so the coder's state stays in registers.
[[gnu::flatten]] void TimeSeries::code_totals(unsigned slot, unsigned source, std::int64_t* totals, std::uint32_t after) noexcept {
    RangeEncoder<Sink>::Run coder(totals_coder_);
    code_.code_unknown(coder, false);
    code_.code_slot(coder, slot, source);
    code_.code_totals(coder, slot, source, totals, after);
}

/// The same.
[[gnu::flatten]] void TimeSeries::code_values(unsigned slot, unsigned source, const std::uint8_t* shift, std::int64_t time_sum) noexcept {
    RangeEncoder<Sink>::Run coder(cells_coder_);
    code_.code_cells(coder, slot, source, columns(), shift, time_sum, values_, values_ + columns().counts);
}

/// The difference between iterations can be far below the bound on the error, which is a share of the largest time. So the step is also limited
/// by the difference from the prediction that one time in three exceeds. That takes two to three bits a time for every program; where
/// iterations are similar, errors are small, too. The limit is loosened together with the bound only when memory is short.
std::uint8_t TimeSeries::shift_for_spread() const noexcept {
    constexpr std::int32_t unit = SeriesTrack::spread_unit;
    const std::int32_t spread = code_.times.spread();
    if (spread < 0) return 4; // the first iteration: 16 ns are negligible
    const std::uint32_t looser = settings_.may_coarsen ? settings_.time_error_ppm / SeriesSettings::default_ppm : 1;
    const std::int32_t wanted = spread + (looser > 1 ? (std::bit_width(looser) - 1) * unit : 0);
    const std::int32_t now = spread_shift_;
    // Not after every small change, since saying so costs bits.
    if (wanted >= now * unit - unit / 2 && wanted < now * unit + unit + unit / 2) return static_cast<std::uint8_t>(now);
    return static_cast<std::uint8_t>(wanted / unit);
}

/// The step of times, from the bound and the spread. A requested bound that is looser than the default gives larger steps than the default only if
/// iterations differ far more: an eighth of the difference that one time in three exceeds, or of the bound. Predictions are then still
/// means of measured values. With steps as large as the bound, times would be coded as their prediction, which would stay the first value: that
/// takes 2 % less memory and has several times the error.
std::uint8_t TimeSeries::shift_for_times() noexcept {
    const std::uint64_t largest = accuracy(0).largest_value;
    const std::uint8_t permitted = shift_for(largest, settings_.time_error_ppm);
    const std::uint8_t spread = shift_for_spread();
    const std::uint8_t both = spread_shift_ = std::min(permitted, spread);
    if (settings_.may_coarsen || settings_.time_error_ppm <= SeriesSettings::default_ppm) return both;
    constexpr std::uint8_t eighth = 3;
    const std::uint8_t usual = std::min(shift_for(largest, SeriesSettings::default_ppm), spread);
    return std::max(usual, static_cast<std::uint8_t>(both > eighth ? both - eighth : 0));
}

void TimeSeries::code_cells(const Cell* events, std::uint32_t count, unsigned slot, unsigned source, std::int64_t time_sum) noexcept {
    // Copies, since for the compiler a value that is stored might be one of ours.
    std::int64_t* const values = values_;
    const std::uint32_t* const column_of = cell_columns_;
    SeriesAccuracyRecord* const records = accuracy_;
    std::fill_n(values, columns().counts + columns().times, 0);
    for (std::uint32_t i = 0; i < count; ++i) {
        const std::uint64_t value = events[i].value;
        values[column_of[i]] = static_cast<std::int64_t>(value);
        SeriesAccuracyRecord& accuracy = records[accuracy_of_[events[i].metric()] - 1];
        if (value > accuracy.largest_value) [[unlikely]]
            accuracy.largest_value = value;
        accuracy.cells += value != 0 ? 1 : 0;
    }
    std::uint8_t shift[cell_metrics] = {};
    constexpr auto time = static_cast<std::size_t>(Metric::Time);
    shift[time] = shift_for_times();
    if (settings_.bytes_error_ppm != 0)
        for (std::size_t m = 0; m < metric_count; ++m)
            if (may_be_coarse(m) && m != time) shift[m] = shift_for(accuracy(m).largest_value, settings_.bytes_error_ppm);
    code_values(slot, source, shift, time_sum);
    for (std::uint32_t i = 0; i < count; ++i) {
        const std::uint32_t metric = events[i].metric();
        if (shift[metric] != 0) records[accuracy_of_[metric] - 1].add_error(events[i].value, static_cast<std::uint64_t>(values[column_of[i]]));
    }
}

void TimeSeries::add(const Cell* events, std::uint32_t count, const std::uint64_t* condensed, std::uint64_t wall,
                     const StructureSignatures& signatures) noexcept {
    if (running_ == nullptr && !begin_chunk()) return;
    unsigned slot = 0;
    unsigned source = 0;
    choose_slot(signatures, slot, source);
    std::int64_t totals[most_series_totals];
    series_totals_of(condensed, wall, totals);
    const std::uint32_t after = running_->has_totals ? code_.totals_after(totals) : 0;
    if (running_->has_totals && !reserve(code_.totals, after, slot)) drop_totals(*running_);
    std::int64_t time_sum = 0;
    if (running_->has_totals) {
        code_totals(slot, source, totals, after);
        time_sum = series_call_time(totals);
    }
    if (running_->has_cells) {
        if (events != nullptr && find_columns(events, count, slot))
            code_cells(events, count, slot, source, time_sum);
        else
            drop_cells(*running_); // those of the whole chunk
    }
    end_iteration();
}

void TimeSeries::add_unknown() noexcept {
    if (running_ == nullptr && !begin_chunk()) return;
    if (running_->has_totals) {
        RangeEncoder<Sink>::Run coder(totals_coder_);
        code_.code_unknown(coder, true);
    }
    end_iteration();
}

/// A stream without memory has a hole. The totals can use the pieces of the cells.
void TimeSeries::drop_failed() noexcept {
    if (running_->totals.failed())
        drop_totals(*running_);
    else if (running_->cells.failed())
        drop_cells(*running_);
}

void TimeSeries::end_iteration() noexcept {
    // A small quota may be less than a chunk.
    if (running_->has_cells && running_->cells.memory() > memory_quota.series_share() / 2) drop_cells(*running_);
    drop_failed();
    ++iterations_;
    if (++running_->iterations == SeriesCode::chunk_iterations) end_chunk();
}

void TimeSeries::drop_cells(SeriesChunk& chunk) noexcept {
    if (&chunk != running_) chain_bytes_ -= chunk.cells.memory();
    chunk.cells.release(*pool_);
    chunk.has_cells = false;
}

/// Without the totals, the predictions that the cells continue are unknown.
void TimeSeries::drop_totals(SeriesChunk& chunk) noexcept {
    drop_cells(chunk);
    if (&chunk != running_) chain_bytes_ -= chunk.totals.memory();
    chunk.totals.release(*pool_);
    chunk.has_totals = false;
}

void TimeSeries::keep_within_limits() noexcept {
    const auto tell = [this] {
        const std::uint64_t now = memory();
        memory_quota.series_changed(told_, now);
        told_ = now;
    };
    tell();
    coarsen();
    // Memory once used is reused but never returned, so the series cannot grow any more.
    if (settings_.most_bytes == 0 && !memory_quota.has_room_for_series(others_need_))
        settings_.most_bytes = std::max<std::uint64_t>(chain_bytes_, memory_quota.limit() / 64);
    if (settings_.most_bytes == 0 || chain_bytes_ <= settings_.most_bytes) return;
    thin_out();
    tell();
}

/// Saves a few bits for each time before iterations are lost altogether: 1 % when half of the room is used, 4 % at three quarters.
void TimeSeries::coarsen() noexcept {
    if (!settings_.may_coarsen) return;
    const bool is_own = settings_.most_bytes != 0;
    const std::uint64_t room = is_own ? settings_.most_bytes : memory_quota.series_share();
    const std::uint64_t used = is_own ? chain_bytes_ : memory_quota.series();
    const std::uint32_t wanted = used > room / 4 * 3 ? SeriesSettings::coarse_ppm : used > room / 2 ? SeriesSettings::coarse_ppm / 4 : 0;
    if (wanted > settings_.time_error_ppm) settings_.time_error_ppm = wanted;
}

/// Brings the closed chunks below the limit.
void TimeSeries::thin_out() noexcept {
    const auto drop_one = [this](unsigned kept, bool cells) {
        for (std::size_t i = 0; i < chunks_.size(); ++i) {
            SeriesChunk& chunk = chunks_[i];
            const bool is_full = cells ? chunk.has_cells : chunk.has_totals;
            if (&chunk == running_ || !is_full || i % (std::size_t{1} << kept) == 0) continue;
            if (cells)
                drop_cells(chunk);
            else
                drop_totals(chunk);
            return true;
        }
        return false;
    };
    while (chain_bytes_ > settings_.most_bytes) {
        if (drop_one(cells_kept_, true)) continue;
        if (std::size_t{1} << cells_kept_ < chunks_.size()) {
            ++cells_kept_;
            continue;
        }
        if (drop_one(totals_kept_, false)) continue;
        if (std::size_t{1} << totals_kept_ >= chunks_.size()) return;
        ++totals_kept_;
    }
}

std::size_t TimeSeries::memory() const {
    std::size_t sum = chain_bytes_ + chunks_.size() * sizeof(SeriesChunk) + columns_.memory();
    if (running_ != nullptr) sum += running_->totals.memory() + running_->cells.memory();
    for (const SeriesTrack* track : {&code_.totals, &code_.counts, &code_.times}) sum += SeriesTrack::bytes(track->capacity(), track->slots_in_memory());
    sum += accuracy_room_ * sizeof *accuracy_;
    return sum + value_room_ * sizeof *values_ + cell_room_ * sizeof *cell_columns_ + sizeof *this;
}

std::size_t TimeSeries::held_back(const RangeEncoder<Sink>& coder, unsigned char* out) const noexcept {
    Sink look;
    look.tail = out;
    coder.redirected(look).finish();
    return look.size;
}
std::size_t TimeSeries::held_back_totals(unsigned char* out) const noexcept {
    return running_ != nullptr && running_->has_totals ? held_back(totals_coder_, out) : 0;
}
std::size_t TimeSeries::held_back_cells(unsigned char* out) const noexcept {
    return running_ != nullptr && running_->has_cells ? held_back(cells_coder_, out) : 0;
}

} // namespace libprofile
