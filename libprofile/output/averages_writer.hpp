// The Averages block of one iterated phase (format/averages.hpp).
// Contract: as for serializer.hpp.
#pragma once

#include "format/averages.hpp"
#include "libprofile/phases/phase.hpp"

namespace libprofile {

inline void write_averages(Encoder& encoder, std::uint32_t thread, const Phase& phase) noexcept {
    AveragesRecord record;
    record.thread = thread;
    record.phase = phase.name;
    record.catalogue = catalogue_fingerprint();
    record.iterations = phase.clusterer->clustered();
    for (std::size_t i = 0; i < catalogue_size; ++i) record.sums[i] = phase.clusterer->totals().values[i];
    describe(encoder, record);
}

} // namespace libprofile
