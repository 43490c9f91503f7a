#include "tools/plot/series_figure.hpp"

#include "tools/analysis/totals.hpp"
#include "tools/plot/charts.hpp"
#include "tools/text/layout.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace libprofile::tools {

namespace {

using Series = std::vector<std::vector<double>>;

constexpr double panel_width = 400, panel_height = 96, row_height = 122, top = 66;
constexpr double graph_x = 140, map_x = graph_x + panel_width + 70, figure_width = map_x + panel_width + 24;
constexpr int maximum_colour = 1, median_colour = 0, minimum_colour = 2;

std::size_t iterations_of(const Series& series) {
    std::size_t most = 0;
    for (const auto& line : series) most = std::max(most, line.size());
    return most;
}

/// Columns of pixels: which iterations each stands for.
struct Columns {
    std::size_t iterations, count;
    explicit Columns(std::size_t n) : iterations(n), count(std::min(n, static_cast<std::size_t>(panel_width))) {}
    std::size_t begin(std::size_t column) const { return column * iterations / count; }
    std::size_t end(std::size_t column) const { return (column + 1) * iterations / count; }
    double x(std::size_t column) const { return static_cast<double>(column) * panel_width / static_cast<double>(count); }
};

/// Over the locations that have the iteration.
Spread spread_at(const Series& series, std::size_t iteration) {
    std::vector<double> values;
    for (const auto& line : series)
        if (iteration < line.size()) values.push_back(line[iteration]);
    return spread_of(std::move(values));
}

void draw_steps(Svg& svg, const Box& box, const Columns& columns, const Scale& scale, const std::vector<double>& heights, const std::string& colour) {
    std::vector<std::pair<double, double>> points{{box.x, box.bottom()}};
    for (std::size_t c = 0; c < heights.size(); ++c) {
        const double y = box.bottom() - scale.position(heights[c]) * box.height;
        points.emplace_back(box.x + columns.x(c), y);
        points.emplace_back(box.x + columns.x(c + 1), y);
    }
    points.emplace_back(box.right(), box.bottom());
    svg.area(points, colour);
}

void draw_graph(Svg& svg, const Box& box, const Series& series, const Scale& scale, const LabelOf& label) {
    const Columns columns(iterations_of(series));
    std::vector<double> minimum, median, maximum;
    for (std::size_t c = 0; c < columns.count; ++c) {
        Spread here;
        for (std::size_t i = columns.begin(c); i < columns.end(c); ++i) {
            const Spread spread = spread_at(series, i);
            here.minimum = i == columns.begin(c) ? spread.minimum : std::min(here.minimum, spread.minimum);
            here.maximum = std::max(here.maximum, spread.maximum);
            here.median += spread.median / static_cast<double>(columns.end(c) - columns.begin(c));
        }
        minimum.push_back(here.minimum);
        median.push_back(here.median);
        maximum.push_back(here.maximum);
    }
    draw_value_axis(svg, box, scale, "", label);
    draw_steps(svg, box, columns, scale, maximum, line_colour(maximum_colour));
    draw_steps(svg, box, columns, scale, median, line_colour(median_colour));
    draw_steps(svg, box, columns, scale, minimum, line_colour(minimum_colour));
}

/// Empty where the location has no such iteration.
std::string map_colour(const std::vector<double>& line, const Columns& columns, std::size_t column, double most) {
    double sum = 0;
    std::size_t n = 0;
    for (std::size_t i = columns.begin(column); i < columns.end(column) && i < line.size(); ++i, ++n) sum += line[i];
    return n == 0 ? std::string() : shade(sum / static_cast<double>(n) / most);
}

void draw_map(Svg& svg, const Box& box, const Series& series, double most) {
    const Columns columns(iterations_of(series));
    const double row = box.height / static_cast<double>(series.size());
    for (std::size_t l = 0; l < series.size(); ++l) {
        const double y = box.y + static_cast<double>(l) * row;
        for (std::size_t c = 0; c < columns.count;) {
            const std::string colour = map_colour(series[l], columns, c, most);
            const std::size_t begin = c;
            while (c < columns.count && map_colour(series[l], columns, c, most) == colour) ++c; // one rectangle for neighbours of one colour
            if (!colour.empty()) svg.rectangle({box.x + columns.x(begin), y, columns.x(c) - columns.x(begin), row}, colour);
        }
    }
    svg.frame(box, "#666666");
}

void draw_iteration_axis(Svg& svg, const Box& box, std::size_t iterations) {
    svg.text(box.x, box.bottom() + 15, "0");
    svg.text(box.right(), box.bottom() + 15, std::to_string(iterations - 1), Anchor::End);
    svg.text(box.x + box.width / 2, box.bottom() + 15, "iteration", Anchor::Middle);
}

void draw_legends(Svg& svg, double most, const LabelOf& label) {
    double x = graph_x;
    for (const auto& [name, colour] :
         {std::pair{"maximum", maximum_colour}, std::pair{"median", median_colour}, std::pair{"minimum over locations", minimum_colour}}) {
        svg.rectangle({x, 38, 12, 12}, line_colour(colour));
        svg.text(x + 17, 48, name);
        x += 90;
    }
    svg.text(map_x, 48, "0");
    constexpr int steps = 60;
    for (int i = 0; i < steps; ++i) svg.rectangle({map_x + 12 + 3.0 * i, 38, 3.2, 12}, shade(static_cast<double>(i) / (steps - 1)));
    svg.text(map_x + 18 + 3.0 * steps, 48, label(most));
}

} // namespace

Svg series_figure(const std::string& title, const std::string& unit, const std::string& locations, const std::vector<SeriesPanel>& panels) {
    std::vector<double> values;
    for (const SeriesPanel& panel : panels)
        for (const auto& line : *panel.values) values.insert(values.end(), line.begin(), line.end());
    const Scale scale(values, false);
    const double most = values.empty() ? 1 : std::max(*std::max_element(values.begin(), values.end()), 1e-9);
    const LabelOf label = [&](double v) { return quantity(v, unit, TextStyle{}); };
    Svg svg(figure_width, top + row_height * static_cast<double>(panels.size()) + 4);
    svg.text(graph_x, 24, title, Anchor::Start, 14, "#000000");
    draw_legends(svg, most, label);
    for (std::size_t p = 0; p < panels.size(); ++p) {
        const Series& series = *panels[p].values;
        const double y = top + row_height * static_cast<double>(p);
        const Box graph{graph_x, y, panel_width, panel_height};
        const Box map{map_x, y, panel_width, panel_height};
        svg.text(10, y + panel_height / 2 + 4, panels[p].name, Anchor::Start, 12, "#000000");
        draw_graph(svg, graph, series, scale, label);
        draw_map(svg, map, series, most);
        draw_iteration_axis(svg, graph, iterations_of(series));
        draw_iteration_axis(svg, map, iterations_of(series));
        svg.upright_text(map_x - 30, y + panel_height / 2, locations);
        svg.text(map_x - 6, y + 9, "0", Anchor::End);
        if (series.size() > 1) svg.text(map_x - 6, map.bottom() - 1, std::to_string(series.size() - 1), Anchor::End);
    }
    return svg;
}

} // namespace libprofile::tools
