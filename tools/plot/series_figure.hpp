// Iteration graphs and value maps, one below the other: a metric over iterations and locations, and what is left of it.
// Contract: thread-safe (no state); allocates the picture. Where there are more iterations than pixels, a column of a graph
// shows the extremes and the mean median of its iterations, one of a map their mean.
// Source: Szebenyi, Wolf, Wylie (SC 2009), Figs. 1 and 8.
#pragma once

#include "tools/plot/svg.hpp"

#include <string>
#include <vector>

namespace libprofile::tools {

/// One row of the figure.
struct SeriesPanel {
    std::string name;
    const std::vector<std::vector<double>>* values; // by location, then iteration
};

/// @param unit "ns", "count" or "bytes"
/// @param locations what a row of the map is: "rank"
Svg series_figure(const std::string& title, const std::string& unit, const std::string& locations, const std::vector<SeriesPanel>& panels);

} // namespace libprofile::tools
