// The Regions block of a rank (format/regions.hpp); none without regions and Python functions.
// Contract: as for serializer.hpp.
#pragma once

#include "format/regions.hpp"
#include "libprofile/callpath/python_names.hpp"
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
    const std::uint32_t python = python_names.size(), named = region_names.size(); // other threads may add names meanwhile
    if (!has_regions && python == 0) return true;
    record.excluded = function_filter.size();
    record.names = std::uint64_t{named} + python;
    return write_block(buffer, {BlockType::Regions, rank}, [&](Encoder& encoder) {
        describe(encoder, record);
        for (std::uint32_t i = 0; i < named; ++i) {
            const RegionName& name = region_names[i];
            RegionNameRecord out{name.kind, name.id, name.text};
            describe(encoder, out);
        }
        for (std::uint32_t i = 0; i < python; ++i) {
            RegionNameRecord out{static_cast<std::uint64_t>(RegionClass::Python), python_names[i].id, python_names[i].text};
            describe(encoder, out);
        }
        // Earlier readers do not know these.
        if (record.without_module != 0 || record.inside != 0) encoder.number(record.without_module);
        if (record.inside != 0) encoder.number(record.inside);
    });
}

} // namespace libprofile
