// The Series block of the profile file: the coded series of a phase (series_code.hpp has the coding).
// Contract: plain data; no allocation; `describe` runs with an Encoder or a Decoder.
#pragma once

#include "format/codec.hpp"

#include <cstdint>

namespace libprofile {

/// Every iteration of a phase, coded (series_code.hpp).
struct SeriesRecord {
    std::uint64_t thread = 0;
    Text phase;               // its name; kind: Iterations
    std::uint64_t totals = 0; // values of a whole iteration: series_totals, and one per counter; other numbers belong to another catalogue of metrics
    std::uint64_t counts = 0; // columns
    std::uint64_t times = 0;
    std::uint64_t metrics = 0; // metric_count of the writer
    std::uint64_t chunks = 0;
};
template <class Codec> void describe(Codec& c, SeriesRecord& r) {
    c.number(r.thread);
    c.text(r.phase);
    c.number(r.totals);
    c.number(r.counts);
    c.number(r.times);
    c.number(r.metrics);
    c.number(r.chunks);
}

/// The errors of a metric's coded event cells over all iterations, known from the coding.
struct SeriesAccuracyRecord {
    std::uint64_t largest = 0;       // of |coded - measured|
    std::uint64_t sum = 0;           // of the same
    std::uint64_t cells = 0;         // number of non-zero cells
    std::uint64_t largest_value = 0; // largest value of a cell

    void add_error(std::uint64_t measured, std::uint64_t coded) {
        const std::uint64_t error = measured > coded ? measured - coded : coded - measured;
        largest = error > largest ? error : largest;
        sum += error;
    }
};
template <class Codec> void describe(Codec& c, SeriesAccuracyRecord& r) {
    c.number(r.largest);
    c.number(r.sum);
    c.number(r.cells);
    c.number(r.largest_value);
}

enum SeriesChunkFlag : std::uint64_t { SeriesChunkTotals = 1, SeriesChunkCells = 2 };

/// Up to SeriesCode::chunk_iterations iterations. Two streams follow: the totals and the cells, each with its size.
struct SeriesChunkRecord {
    std::uint64_t iterations = 0;
    std::uint64_t counts_before = 0; // columns known when the chunk begins
    std::uint64_t times_before = 0;
    std::uint64_t flags = 0; // which streams exist
};
template <class Codec> void describe(Codec& c, SeriesChunkRecord& r) {
    c.number(r.iterations);
    c.number(r.counts_before);
    c.number(r.times_before);
    c.number(r.flags);
}

} // namespace libprofile
