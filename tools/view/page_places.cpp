#include "tools/view/page_places.hpp"

#include "tools/analysis/totals.hpp"

namespace libprofile::tools {

PagePlaces page_places(const Profile& profile) {
    PagePlaces places;
    places.mains = main_threads(profile);
    for (const Location& location : profile.locations) places.all.push_back(&location);
    places.tree = function_tree(profile, places.all, true, &places.cells.node_of_path);
    std::vector<bool> occurs(profile.metrics.size());
    occurs[0] = true;
    for (const Location* location : places.all)
        for (const PhaseData& data : location->phases) for_each_cell(data, [&](const Cell& cell) { occurs[cell.metric] = true; });
    places.cells.column_of_metric.resize(occurs.size());
    for (std::size_t m = 0; m < occurs.size(); ++m)
        if (occurs[m]) {
            places.cells.column_of_metric[m] = places.cells.columns++;
            places.columns.push_back(profile.metrics[m].name);
        }
    return places;
}

} // namespace libprofile::tools
