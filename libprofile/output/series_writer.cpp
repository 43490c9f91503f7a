#include "libprofile/output/series_writer.hpp"

namespace libprofile {

namespace {

void write_columns(Encoder& encoder, const SeriesColumns& columns) {
    for (std::uint32_t i = 0; i < columns.counts; ++i) {
        encoder.number(columns.count_keys[i] >> Cell::metric_bits);
        encoder.number(columns.count_keys[i] & ((1u << Cell::metric_bits) - 1));
    }
    for (std::uint32_t i = 0; i < columns.times; ++i) {
        encoder.number(columns.time_nodes[i]);
        encoder.number(columns.visits_of[i] == SeriesColumns::none ? 0 : std::uint64_t{columns.visits_of[i]} + 1);
    }
}

/// `tail`: the bytes that the stream's coder still holds back.
void write_stream(Encoder& encoder, const ByteChain& stream, const unsigned char* tail, std::size_t tail_size) {
    encoder.number(stream.size() + tail_size);
    stream.for_each_piece([&](const unsigned char* bytes, std::size_t size) { encoder.raw(bytes, size); });
    encoder.raw(tail, tail_size);
}

} // namespace

void write_series(Encoder& encoder, std::uint32_t thread, const Phase& phase) noexcept {
    const TimeSeries& series = *phase.series;
    const SeriesColumns& columns = series.columns();
    SeriesRecord record{thread, phase.name, series.whole_values(), columns.counts, columns.times, metric_count, series.chunk_count()};
    describe(encoder, record);
    write_columns(encoder, columns);
    for (std::size_t m = 0; m < metric_count; ++m) {
        SeriesAccuracyRecord accuracy = series.accuracy(m);
        describe(encoder, accuracy);
    }
    for (std::size_t i = 0; i < series.chunk_count(); ++i) {
        const SeriesChunk& chunk = series.chunk(i);
        const std::uint64_t flags = (chunk.has_totals ? std::uint64_t{SeriesChunkTotals} : 0) | (chunk.has_cells ? std::uint64_t{SeriesChunkCells} : 0);
        SeriesChunkRecord out{chunk.iterations, chunk.counts_before, chunk.times_before, flags};
        describe(encoder, out);
        unsigned char tail[TimeSeries::most_held_back];
        const bool is_last = i + 1 == series.chunk_count();
        write_stream(encoder, chunk.totals, tail, is_last ? series.held_back_totals(tail) : 0);
        write_stream(encoder, chunk.cells, tail, is_last ? series.held_back_cells(tail) : 0);
    }
}

} // namespace libprofile
