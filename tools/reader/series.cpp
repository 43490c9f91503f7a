#include "tools/reader/series.hpp"

#include <algorithm>

namespace libprofile::tools {

std::uint64_t SeriesData::iterations() const {
    std::uint64_t sum = 0;
    for_each_chunk([&](const Chunk& chunk) { sum += chunk.iterations; });
    return sum;
}

std::uint64_t SeriesData::iterations_with_cells() const {
    std::uint64_t sum = 0;
    for_each_chunk([&](const Chunk& chunk) { sum += chunk.has_cells ? chunk.iterations : 0; });
    return sum;
}

std::uint64_t SeriesData::iterations_with_totals() const {
    std::uint64_t sum = 0;
    for_each_chunk([&](const Chunk& chunk) { sum += chunk.has_totals ? chunk.iterations : 0; });
    return sum;
}

std::uint64_t SeriesData::bytes() const {
    std::uint64_t sum = 0;
    for_each_chunk([&](const Chunk& chunk) { sum += chunk.totals.size() + chunk.cells.size(); });
    return sum;
}

SeriesAccuracyRecord SeriesData::accuracy_of(std::size_t metric) const {
    SeriesAccuracyRecord all = accuracy[metric];
    for (const SeriesData& part : later) {
        const SeriesAccuracyRecord more = part.accuracy_of(metric);
        all.largest = std::max(all.largest, more.largest);
        all.sum += more.sum;
        all.cells += more.cells;
        all.largest_value = std::max(all.largest_value, more.largest_value);
    }
    return all;
}

std::vector<SeriesData::NumberedColumn> SeriesData::numbered_columns() const {
    std::vector<NumberedColumn> result;
    const auto add = [&](const SeriesData& part) {
        const std::size_t first = result.size();
        const auto put = [&](const Column& column, bool is_time, std::size_t visits) {
            result.push_back({column, is_time, visits, column.metric < metric_count ? part.accuracy[column.metric] : SeriesAccuracyRecord{}});
        };
        for (const Column& column : part.counts) put(column, false, NumberedColumn::none);
        for (std::size_t i = 0; i < part.times.size(); ++i) {
            const bool known = i < part.visits_of.size() && part.visits_of[i] < part.counts.size();
            put(part.times[i], true, known ? first + part.visits_of[i] : NumberedColumn::none);
        }
    };
    add(*this);
    for (const SeriesData& part : later) add(part);
    return result;
}

SeriesReader::SeriesReader(const SeriesData& data, bool with_cells) : whole_(&data), with_cells_(with_cells) { begin_part(data); }

void SeriesReader::begin_part(const SeriesData& data) {
    data_ = &data;
    chunk_ = 0;
    in_chunk_ = 0;
    const bool with_cells = with_cells_;
    code_ = SeriesCode();
    count_keys_.clear();
    code_.whole_values = static_cast<std::uint32_t>(series_totals + std::min(data.counter_rows.size(), most_counter_metrics));
    std::size_t rows = catalogue_size;
    for (const std::uint32_t row : data.counter_rows) rows = std::max<std::size_t>(rows, row + 1);
    condensed_.assign(rows, 0);
    const std::uint32_t sizes[] = {code_.whole_values, with_cells ? static_cast<std::uint32_t>(data.counts.size()) : 0,
                                   with_cells ? static_cast<std::uint32_t>(data.times.size()) : 0};
    SeriesTrack* tracks[] = {&code_.totals, &code_.counts, &code_.times};
    for (unsigned i = 0; i < 3; ++i) {
        track_memory_[i].assign(SeriesTrack::bytes(sizes[i], SeriesTrack::slots) / sizeof(std::uint64_t) + 1, 0);
        tracks[i]->move_to(track_memory_[i].data(), sizes[i], SeriesTrack::slots);
        tracks[i]->grow(sizes[i]);
    }
    for (const SeriesData::Column& column : data.counts) count_keys_.push_back(std::min<std::uint32_t>(column.metric, 63)); // the path does not matter
    visits_of_ = data.visits_of;
    columns_ = {sizes[1], sizes[2], count_keys_.data(), nullptr, visits_of_.data()};
    counts_.assign(sizes[1], 0);
    times_.assign(sizes[2], 0);
}

void SeriesReader::begin_chunk() {
    const SeriesData::Chunk& chunk = data_->chunks[chunk_];
    code_.restart_totals();
    totals_.emplace(chunk.totals.data(), chunk.totals.size());
    if (!with_cells_) return;
    code_.restart_cells(std::min<std::uint32_t>(chunk.counts_before, columns_.counts), std::min<std::uint32_t>(chunk.times_before, columns_.times));
    cells_.emplace(chunk.cells.data(), chunk.cells.size());
}

std::uint64_t SeriesReader::skip_before(std::uint64_t iteration) {
    // Chunks do not need each other.
    std::uint64_t skipped = 0;
    while (chunk_ < data_->chunks.size() && data_->chunks[chunk_].iterations <= iteration - skipped) skipped += data_->chunks[chunk_++].iterations;
    return skipped;
}

bool SeriesReader::next() {
    for (;;) {
        while (chunk_ < data_->chunks.size() && in_chunk_ == data_->chunks[chunk_].iterations) {
            ++chunk_;
            in_chunk_ = 0;
        }
        if (chunk_ < data_->chunks.size()) break;
        if (part_ == whole_->later.size()) return false;
        first_column_ += data_->counts.size() + data_->times.size();
        begin_part(whole_->later[part_++]);
    }
    if (in_chunk_++ == 0) begin_chunk();
    const SeriesData::Chunk& chunk = data_->chunks[chunk_];
    has_totals_ = has_cells_ = false;
    if (!chunk.has_totals || totals_->failed() || code_.code_unknown(*totals_, false)) return true;
    unsigned slot = 0, source = 0;
    code_.code_slot(*totals_, slot, source);
    std::int64_t values[most_series_totals] = {};
    code_.code_totals(*totals_, slot, source, values, 0);
    std::uint64_t condensed[condensed_size] = {};
    condensed_of(values, condensed, wall_);
    std::copy_n(condensed, catalogue_size, condensed_.begin());
    for (std::size_t i = 0; i < std::min(data_->counter_rows.size(), most_counter_metrics); ++i)
        condensed_[data_->counter_rows[i]] = condensed[catalogue_size + i];
    has_totals_ = !totals_->failed();
    if (!with_cells_ || !chunk.has_cells || !has_totals_ || cells_->failed()) return true;
    std::fill(counts_.begin(), counts_.end(), 0);
    std::fill(times_.begin(), times_.end(), 0);
    has_cells_ = code_.code_cells(*cells_, slot, source, columns_, nullptr, series_call_time(values), counts_.data(), times_.data()) && !cells_->failed();
    return true;
}

} // namespace libprofile::tools
