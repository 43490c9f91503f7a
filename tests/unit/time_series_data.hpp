// What a reader gets of a series that is still in the memory of its writer.
#pragma once

#include "libprofile/clustering/time_series.hpp"
#include "tools/profile/series.hpp"

namespace libprofile {

inline tools::SeriesData series_data_of(const TimeSeries& series) {
    tools::SeriesData data;
    const SeriesColumns& columns = series.columns();
    for (std::uint32_t i = 0; i < columns.counts; ++i)
        data.counts.push_back({columns.count_keys[i] / 64, columns.count_keys[i] % 64});
    for (std::uint32_t i = 0; i < columns.times; ++i) data.times.push_back({columns.time_nodes[i], 0});
    data.visits_of.assign(columns.visits_of, columns.visits_of + columns.times);
    for (std::size_t i = 0; i < series.chunk_count(); ++i) {
        const SeriesChunk& from = series.chunk(i);
        tools::SeriesData::Chunk& to = data.chunks.emplace_back();
        to.iterations = from.iterations;
        to.counts_before = from.counts_before;
        to.times_before = from.times_before;
        to.has_totals = from.has_totals;
        to.has_cells = from.has_cells;
        const auto copy = [](const ByteChain& chain, std::vector<unsigned char>& bytes) {
            chain.for_each_piece([&](const unsigned char* piece, std::size_t size) { bytes.insert(bytes.end(), piece, piece + size); });
        };
        copy(from.totals, to.totals);
        copy(from.cells, to.cells);
        if (i + 1 != series.chunk_count()) continue;
        unsigned char tail[TimeSeries::most_held_back];
        to.totals.insert(to.totals.end(), tail, tail + series.held_back_totals(tail));
        to.cells.insert(to.cells.end(), tail, tail + series.held_back_cells(tail));
    }
    return data;
}

} // namespace libprofile
