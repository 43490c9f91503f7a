#include "tools/view/page_tables.hpp"

#include "tools/analysis/totals.hpp"

namespace libprofile::tools {

PageTables page_tables(const Profile& profile) {
    PageTables tables;
    tables.mains = main_threads(profile);
    for (const Location& location : profile.locations) tables.all.push_back(&location);
    tables.tree = function_tree(profile, tables.all, true, &tables.cells.node_of_path, true);
    std::vector<bool> occurs(profile.metrics.size());
    occurs[0] = true;
    for (const Location* location : tables.all)
        for (const PhaseData& data : location->phases) for_each_cell(data, [&](const Cell& cell) { occurs[cell.metric] = true; });
    tables.cells.column_of_metric.resize(occurs.size());
    for (std::size_t m = 0; m < occurs.size(); ++m)
        if (occurs[m]) {
            tables.cells.column_of_metric[m] = tables.cells.columns++;
            tables.columns.push_back(profile.metrics[m].name);
        }
    return tables;
}

} // namespace libprofile::tools
