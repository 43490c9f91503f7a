// What the numbers of a page mean: locations, nodes of its call tree, columns of its profiles. Page and answers to it share them.
// Contract: thread-safe (no state); allocates its result, which refers to the profile; throws std::bad_alloc only.
#pragma once

#include "tools/analysis/hot_spots.hpp"
#include "tools/reader/model.hpp"
#include "tools/view/cell_columns.hpp"

#include <string>
#include <vector>

namespace libprofile::tools {

struct PagePlaces {
    std::vector<const Location*> mains; // a row of the value map each; null: no data
    std::vector<const Location*> all;
    std::vector<FunctionNode> tree;
    CellPlaces cells;
    std::vector<std::string> columns; // names of the metrics that occur
};

PagePlaces page_places(const Profile& profile);

} // namespace libprofile::tools
