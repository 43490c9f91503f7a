// The Regions block of a rank (format/regions.hpp); none without regions.
// Contract: as for serializer.hpp.
#pragma once

#include "format/regions.hpp"
#include "libprofile/output/block_writer.hpp"
#include "libprofile/output/written_locations.hpp"
#include "libprofile/regions/function_filter.hpp"
#include "libprofile/regions/region_names.hpp"
#include "libprofile/regions/regions.hpp"
#include "libprofile/regions/visits_inside.hpp"

namespace libprofile {

inline bool write_regions(BlockBuffer& buffer, std::uint32_t rank, RunningThread running) noexcept {
    RegionsRecord record;
    record.inside = visits_inside.load(std::memory_order_relaxed);
    bool has_regions = record.inside != 0;
    for_each_location(running, [&](Thread& thread, std::uint64_t) {
        if (thread.regions == nullptr) return;
        has_regions = true;
        const RegionCounts& counts = thread.regions->counts();
        record.repairs += counts.repairs;
        record.left += counts.left;
        record.unmatched += counts.unmatched;
        record.too_deep += counts.too_deep;
        record.without_memory += counts.without_memory;
        record.without_module += counts.without_module;
        if (record.pair_ps < thread.regions->pair_ps()) record.pair_ps = thread.regions->pair_ps();
    });
    if (!has_regions) return true;
    record.excluded = function_filter.size();
    record.names = region_names.size(); // other threads may add names meanwhile
    return write_block(buffer, {BlockType::Regions, rank}, [&](Encoder& encoder) {
        describe(encoder, record);
        for (std::uint64_t i = 0; i < record.names; ++i) {
            const RegionName& name = region_names[i];
            RegionNameRecord out{name.kind, name.id, name.text};
            describe(encoder, out);
        }
        // Earlier readers do not know these.
        if (record.without_module != 0 || record.inside != 0) encoder.number(record.without_module);
        if (record.inside != 0) encoder.number(record.inside);
    });
}

} // namespace libprofile
