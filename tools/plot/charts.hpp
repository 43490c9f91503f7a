// Charts over a few settings: lines, and bars of shares.
// Contract: thread-safe (no state); allocates the picture.
#pragma once

#include "tools/plot/scale.hpp"
#include "tools/plot/svg.hpp"

#include <string>
#include <vector>

namespace libprofile::tools {

struct Line {
    std::string name;
    std::vector<double> values; // one per setting
    int colour = 0;             // of line_colour
    bool dashed = false;
};

struct ChartText {
    std::string title;
    std::string x_axis;
    std::string y_axis;
    LabelOf label = share_label;
};

/// @param settings labels of the x axis
/// @param logarithmic values of 0 are hollow dots at the lower end
Svg line_chart(const ChartText& text, const std::vector<std::string>& settings, const std::vector<Line>& lines, bool logarithmic);

/// A bar per setting, made of parts that add up to 1.
/// @param parts names, from the bottom of the bar
/// @param shares by setting, then part
Svg share_chart(const ChartText& text, const std::vector<std::string>& settings, const std::vector<std::string>& parts,
                const std::vector<std::vector<double>>& shares);

/// Colours that people with colour blindness can tell apart (Okabe and Ito 2008).
std::string line_colour(int n);

/// 0 to 1: from dark blue over green to yellow; its lightness grows evenly (viridis of matplotlib).
std::string shade(double value);

} // namespace libprofile::tools
