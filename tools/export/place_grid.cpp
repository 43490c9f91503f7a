#include "tools/export/place_grid.hpp"

#include <algorithm>

namespace libprofile::tools {

PlaceGrid place_grid(const CallTable& table) {
    PlaceGrid grid;
    for (std::size_t p = 0; p < table.places.size(); ++p) { // sorted by rank, then thread
        if (grid.rows.empty() || grid.rows.back().rank != table.places[p].rank) grid.rows.push_back({table.places[p].rank, {}});
        grid.rows.back().places.push_back(p);
        grid.threads = std::max(grid.threads, grid.rows.back().places.size());
    }
    bool uneven = false;
    for (PlaceGrid::Row& row : grid.rows) {
        uneven |= row.places.size() != grid.threads;
        row.places.resize(grid.threads);
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
