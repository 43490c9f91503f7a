#include "tools/export/location_grid.hpp"

#include <algorithm>

namespace libprofile::tools {

LocationGrid location_grid(const CallTable& table) {
    LocationGrid grid;
    for (std::size_t p = 0; p < table.locations.size(); ++p) { // sorted by rank, then thread
        if (grid.rows.empty() || grid.rows.back().rank != table.locations[p].rank) grid.rows.push_back({table.locations[p].rank, {}});
        grid.rows.back().locations.push_back(p);
        grid.threads = std::max(grid.threads, grid.rows.back().locations.size());
    }
    bool uneven = false;
    for (LocationGrid::Row& row : grid.rows) {
        uneven |= row.locations.size() != grid.threads;
        row.locations.resize(grid.threads);
    }
    if (uneven)
        grid.remarks.push_back("ranks have different numbers of threads, which this format cannot say: those with fewer got "
                               "threads without values");
    for (std::size_t r = 0; r < grid.rows.size(); ++r)
        if (grid.rows[r].rank != r) {
            grid.remarks.push_back("this format counts ranks without gaps: its ranks are the chosen ones in order, from 0");
            break;
        }
    return grid;
}

} // namespace libprofile::tools
