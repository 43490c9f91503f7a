#include "tools/reader/decode_series.hpp"

#include <algorithm>

namespace libprofile::tools {

namespace {

bool decode_columns(Decoder& d, const SeriesRecord& r, SeriesData& data) {
    if (r.counts > d.remaining() / 2 || r.times > d.remaining() / 2) return false;
    for (std::uint64_t i = 0; i < r.counts; ++i) {
        std::uint64_t node = 0, metric = 0;
        d.number(node);
        d.number(metric);
        if (d.failed() || node > max_id || metric >= r.metrics + (r.totals - series_totals)) // counters of regions among them
            return false;
        data.counts.push_back({static_cast<std::uint32_t>(node), static_cast<std::uint32_t>(metric)});
    }
    for (std::uint64_t i = 0; i < r.times; ++i) {
        std::uint64_t node = 0, visits = 0;
        d.number(node);
        d.number(visits);
        if (d.failed() || node > max_id || visits > r.counts) return false;
        data.times.push_back({static_cast<std::uint32_t>(node), 0});
        data.visits_of.push_back(visits == 0 ? SeriesColumns::none : static_cast<std::uint32_t>(visits - 1));
    }
    return true;
}

bool decode_stream(Decoder& d, std::vector<unsigned char>& stream) {
    Text bytes;
    d.text(bytes);
    stream.assign(bytes.data, bytes.data + bytes.size);
    return !d.failed();
}

bool decode_chunks(Decoder& d, std::uint64_t count, SeriesData& data) {
    // Reading takes time for every column in every chunk.
    constexpr std::uint64_t most_work = 1u << 28;
    if (count > d.remaining() / 6 || count * (data.counts.size() + data.times.size()) > most_work) return false;
    for (std::uint64_t i = 0; i < count; ++i) {
        SeriesChunkRecord r;
        describe(d, r);
        if (d.failed() || r.iterations > SeriesCode::chunk_iterations || r.counts_before > data.counts.size() || r.times_before > data.times.size() ||
            (r.iterations != SeriesCode::chunk_iterations && i + 1 != count))
            return false;
        SeriesData::Chunk& chunk = data.chunks.emplace_back();
        chunk.iterations = static_cast<std::uint32_t>(r.iterations);
        chunk.counts_before = static_cast<std::uint32_t>(r.counts_before);
        chunk.times_before = static_cast<std::uint32_t>(r.times_before);
        chunk.has_totals = (r.flags & SeriesChunkTotals) != 0;
        chunk.has_cells = chunk.has_totals && (r.flags & SeriesChunkCells) != 0;
        if (!decode_stream(d, chunk.totals) || !decode_stream(d, chunk.cells)) return false;
    }
    return true;
}

} // namespace

std::optional<RawSeries> decode_series(Decoder d) {
    SeriesRecord r;
    describe(d, r);
    if (d.failed() || r.thread > max_id || r.metrics > d.remaining()) return std::nullopt;
    RawSeries series;
    series.thread = static_cast<std::uint32_t>(r.thread);
    series.phase.assign(r.phase.data, r.phase.size);
    if (r.totals < series_totals || r.totals > most_series_totals || r.metrics != metric_count) return series;
    for (std::uint64_t i = series_totals; i < r.totals; ++i) series.data.counter_rows.push_back(static_cast<std::uint32_t>(catalogue_size + i - series_totals));
    if (!decode_columns(d, r, series.data)) return std::nullopt;
    for (SeriesAccuracyRecord& accuracy : series.data.accuracy) describe(d, accuracy);
    if (!decode_chunks(d, r.chunks, series.data) || d.failed() || d.remaining() != 0) return std::nullopt;
    return series;
}

} // namespace libprofile::tools
