#include "tools/plot/charts.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace libprofile::tools {

namespace {

constexpr double chart_width = 760, chart_height = 380;
constexpr Box plot{90, 46, 440, 270};
constexpr double legend_x = plot.x + plot.width + 24;

void draw_frame(Svg& svg, const ChartText& text, const std::vector<std::string>& settings, const Scale& scale) {
    svg.text(plot.x, 26, text.title, Anchor::Start, 14, "#000000");
    draw_value_axis(svg, plot, scale, text.y_axis, text.label);
    for (std::size_t i = 0; i < settings.size(); ++i)
        svg.text(plot.x + (static_cast<double>(i) + 0.5) * plot.width / static_cast<double>(settings.size()), plot.bottom() + 18, settings[i], Anchor::Middle);
    svg.text(plot.x + plot.width / 2, plot.bottom() + 40, text.x_axis, Anchor::Middle);
}

} // namespace

std::string line_colour(int n) {
    constexpr const char* colours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000"};
    return colours[static_cast<std::size_t>(n) % std::size(colours)];
}

std::string shade(double value) {
    constexpr int anchors[][3] = {{68, 1, 84},    {72, 40, 120},  {62, 74, 137},  {49, 104, 142}, {38, 130, 142},
                                  {31, 158, 137}, {53, 183, 121}, {109, 205, 89}, {180, 222, 44}, {253, 231, 37}};
    constexpr std::size_t steps = std::size(anchors) - 1;
    const double at = std::clamp(value, 0.0, 1.0) * static_cast<double>(steps);
    const std::size_t from = std::min(static_cast<std::size_t>(at), steps - 1);
    int rgb[3];
    for (int c = 0; c < 3; ++c)
        rgb[c] = static_cast<int>(std::lround(anchors[from][c] + (anchors[from + 1][c] - anchors[from][c]) * (at - static_cast<double>(from))));
    return fmt::format("#{:02x}{:02x}{:02x}", rgb[0], rgb[1], rgb[2]);
}

Svg line_chart(const ChartText& text, const std::vector<std::string>& settings, const std::vector<Line>& lines, bool logarithmic) {
    std::vector<double> all;
    for (const Line& line : lines) all.insert(all.end(), line.values.begin(), line.values.end());
    const Scale scale(all, logarithmic);
    Svg svg(chart_width, chart_height);
    draw_frame(svg, text, settings, scale);
    double legend_y = plot.y + 10;
    for (const Line& line : lines) {
        const std::string colour = line_colour(line.colour);
        std::vector<std::pair<double, double>> points;
        for (std::size_t i = 0; i < line.values.size(); ++i)
            points.emplace_back(plot.x + (static_cast<double>(i) + 0.5) * plot.width / static_cast<double>(settings.size()),
                                plot.bottom() - scale.position(line.values[i]) * plot.height);
        svg.path(points, colour, line.dashed);
        for (std::size_t i = 0; i < points.size(); ++i) svg.dot(points[i].first, points[i].second, colour, line.values[i] != 0);
        svg.path({{legend_x, legend_y}, {legend_x + 24, legend_y}}, colour, line.dashed);
        svg.text(legend_x + 32, legend_y + 4, line.name);
        legend_y += 20;
    }
    if (std::any_of(all.begin(), all.end(), [](double v) { return v == 0; })) {
        svg.dot(legend_x + 12, legend_y + 4, "#666666", false);
        svg.text(legend_x + 32, legend_y + 8, "0");
    }
    return svg;
}

Svg share_chart(const ChartText& text, const std::vector<std::string>& settings, const std::vector<std::string>& parts,
                const std::vector<std::vector<double>>& shares) {
    const Scale scale({1.0}, false);
    Svg svg(chart_width, chart_height);
    draw_frame(svg, text, settings, scale);
    const auto colour = [&](std::size_t part) {
        return shade(1 - static_cast<double>(part) / static_cast<double>(std::max<std::size_t>(parts.size() - 1, 1)));
    };
    const double room = plot.width / static_cast<double>(settings.size());
    for (std::size_t i = 0; i < settings.size(); ++i) {
        double y = plot.bottom();
        for (std::size_t p = 0; p < parts.size(); ++p) {
            const double length = shares[i][p] * plot.height;
            y -= length;
            svg.rectangle({plot.x + (static_cast<double>(i) + 0.2) * room, y, room * 0.6, length}, colour(p));
        }
    }
    double legend_y = plot.y + 4;
    for (std::size_t p = parts.size(); p-- > 0;) { // the legend in the order of the bar
        svg.rectangle({legend_x, legend_y, 16, 14}, colour(p));
        svg.text(legend_x + 24, legend_y + 11, parts[p]);
        legend_y += 20;
    }
    return svg;
}

} // namespace libprofile::tools
