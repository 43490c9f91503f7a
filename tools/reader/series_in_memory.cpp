#include "tools/reader/series_in_memory.hpp"

namespace libprofile::tools {

SeriesData series_data_of(const TimeSeries& series) {
    constexpr std::uint32_t metrics = 1u << libprofile::Cell::metric_bits;
    SeriesData data;
    const SeriesColumns& columns = series.columns();
    for (std::uint32_t i = series_totals; i < series.whole_values(); ++i)
        data.counter_rows.push_back(static_cast<std::uint32_t>(catalogue_size + i - series_totals));
    for (std::uint32_t i = 0; i < columns.counts; ++i) data.counts.push_back({columns.count_keys[i] / metrics, columns.count_keys[i] % metrics});
    for (std::uint32_t i = 0; i < columns.times; ++i) data.times.push_back({columns.time_nodes[i], 0});
    data.visits_of.assign(columns.visits_of, columns.visits_of + columns.times);
    for (std::size_t m = 0; m < metric_count; ++m) data.accuracy[m] = series.accuracy(m);
    const auto copy = [](const ByteChain& from, std::vector<unsigned char>& to, const unsigned char* tail, std::size_t tail_size) {
        from.for_each_piece([&](const unsigned char* bytes, std::size_t size) { to.insert(to.end(), bytes, bytes + size); });
        to.insert(to.end(), tail, tail + tail_size);
    };
    for (std::size_t i = 0; i < series.chunk_count(); ++i) {
        const SeriesChunk& from = series.chunk(i);
        SeriesData::Chunk& to = data.chunks.emplace_back();
        to.iterations = from.iterations;
        to.counts_before = from.counts_before;
        to.times_before = from.times_before;
        to.has_totals = from.has_totals;
        to.has_cells = from.has_cells;
        const bool is_last = i + 1 == series.chunk_count();
        unsigned char tail[TimeSeries::most_held_back];
        copy(from.totals, to.totals, tail, is_last ? series.held_back_totals(tail) : 0);
        copy(from.cells, to.cells, tail, is_last ? series.held_back_cells(tail) : 0);
    }
    return data;
}

} // namespace libprofile::tools
