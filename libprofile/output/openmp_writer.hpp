// The OpenMp block of a rank (format/openmp.hpp); none without parallel regions.
// Contract: as for serializer.hpp.
#pragma once

#include "format/openmp.hpp"
#include "libprofile/output/block_writer.hpp"
#include "libprofile/output/written_locations.hpp"

namespace libprofile {

inline bool write_openmp(BlockBuffer& buffer, std::uint32_t rank, RunningThread running) noexcept {
    OpenMpRecord record;
    for_each_location(running, [&](Thread& thread, std::uint64_t) {
        const OpenMpState& state = thread.openmp;
        record.regions += state.regions;
        record.workers += state.is_worker ? 1 : 0;
        record.regions_refused += state.regions_refused;
        record.shares_refused += state.shares_refused;
        record.waits_refused += state.waits_refused;
        record.phases_missed += state.phases_missed;
    });
    if (record.regions + record.regions_refused + record.waits_refused == 0) return true;
    return write_block(buffer, {BlockType::OpenMp, rank}, [&](Encoder& encoder) { describe(encoder, record); });
}

} // namespace libprofile
