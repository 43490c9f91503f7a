// What the numbers of a page mean: locations, nodes of its call tree, columns of its profiles. Page and answers to it share them.
// Contract: thread-safe (no state); allocates its result, which refers to the profile; throws std::bad_alloc only.
#pragma once

#include "tools/analysis/hot_spots.hpp"
#include "tools/reader/model.hpp"
#include "tools/view/cell_columns.hpp"

#include <string>
#include <vector>

namespace libprofile::tools {

struct PageTables {
    std::vector<const Location*> mains; // a row of the value map each; null without data
    std::vector<const Location*> all;
    std::vector<FunctionNode> tree;
    CellTables cells;
    std::vector<std::string> columns; // names of the metrics that occur
};

PageTables page_tables(const Profile& profile);

} // namespace libprofile::tools
