// The Averages block of the profile file: the average iteration of a phase, by which a later run can normalise (LIBPROFILE_REFERENCE). One
// block per location and iterated phase, never compressed, because the runtime reads it.
// Contract: plain data; no allocation; `describe` runs with an Encoder or a Decoder.
#pragma once

#include "format/codec.hpp"
#include "format/fnv.hpp"
#include "format/metrics.hpp"

#include <cstdint>
#include <string_view>

namespace libprofile {

struct AveragesRecord {
    std::uint64_t thread = 0;
    Text phase;                   // its name; kind: Iterations
    std::uint64_t catalogue = 0;  // the writer's catalogue_fingerprint(): with another one, rows have other meanings
    std::uint64_t iterations = 0; // in the sums
    std::uint64_t rows = catalogue_size;
    std::uint64_t sums[catalogue_size] = {}; // over these iterations, by row of the metric catalogue
};
template <class Codec> void describe(Codec& c, AveragesRecord& r) {
    c.number(r.thread);
    c.text(r.phase);
    c.number(r.catalogue);
    c.number(r.iterations);
    c.number(r.rows);
    if (r.rows != catalogue_size) return;
    for (std::uint64_t& sum : r.sums) c.number(sum);
}

/// FNV-1a over the names of the metric catalogue, in order, each with its terminator.
constexpr std::uint64_t catalogue_fingerprint() {
    std::uint64_t h = fnv_start;
    for (const CatalogueRow& row : metric_catalogue) h = fnv1a(row.name, std::string_view(row.name).size() + 1, h);
    return h;
}

} // namespace libprofile
