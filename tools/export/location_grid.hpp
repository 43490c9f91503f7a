// The locations of a table as a grid of ranks and threads, for formats that know nothing else: every rank has the same number of
// threads there.
// Contract: plain data over a table that outlives it; allocates.
#pragma once

#include "tools/export/call_table.hpp"

#include <optional>
#include <vector>

namespace libprofile::tools {

struct LocationGrid {
    struct Row {
        std::uint32_t rank = 0;                            // in the profile
        std::vector<std::optional<std::size_t>> locations; // by thread; empty: the rank has no such thread, all 0
    };
    std::vector<Row> rows;   // by rank in the export: those of the profile without gaps
    std::size_t threads = 0; // of every rank
    std::vector<std::string> remarks;
};

LocationGrid location_grid(const CallTable& table);

} // namespace libprofile::tools
