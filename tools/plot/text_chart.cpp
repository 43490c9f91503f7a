#include "tools/plot/text_chart.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace libprofile::tools {

ChartColumns::ChartColumns(std::size_t iteration_count, std::size_t room) : iterations(iteration_count), width(room) {
    constexpr std::size_t widest = 6; // few iterations should not become walls
    if (iterations != 0 && iterations < room) width = iterations * std::min(room / iterations, widest);
}
std::size_t ChartColumns::begin(std::size_t column) const { return column * iterations / width; }
std::size_t ChartColumns::end(std::size_t column) const { return std::max((column + 1) * iterations / width, begin(column) + 1); }

std::vector<std::string> draw_chart(const IterationSeries& series, const TextStyle& style, const ChartColumns& columns, std::size_t height) {
    struct Column {
        double minimum = 0, median = 0, maximum = 0;
    };
    std::vector<Column> bars;
    double top = 0;
    for (std::size_t c = 0; c < columns.width; ++c) {
        const std::size_t begin = columns.begin(c), end = columns.end(c);
        Column bar{series.minimum[begin], 0, 0};
        for (std::size_t i = begin; i < end; ++i) {
            bar.minimum = std::min(bar.minimum, series.minimum[i]);
            bar.maximum = std::max(bar.maximum, series.maximum[i]);
            bar.median += series.median[i] / static_cast<double>(end - begin);
        }
        top = std::max(top, bar.maximum);
        bars.push_back(bar);
    }
    std::vector<std::string> lines;
    if (top == 0) return lines;
    // A few extreme columns must not flatten the others: they are cut and marked.
    std::vector<double> peaks;
    for (const Column& bar : bars) peaks.push_back(bar.maximum);
    std::sort(peaks.begin(), peaks.end());
    const double usual = peaks[peaks.size() * 9 / 10];
    if (usual > 0 && top > 4 * usual) top = 1.5 * usual;

    constexpr const char* eighths[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    const double row_height = top / static_cast<double>(height);
    for (std::size_t row = height; row-- > 0;) {
        const double low = static_cast<double>(row) * row_height, middle = low + row_height / 2;
        std::string line;
        for (const Column& bar : bars) {
            if (row == height - 1 && bar.maximum > top) { // goes on above
                line += style.unicode ? "▲" : "^";
            } else if (bar.minimum == bar.maximum && style.unicode) { // one value: an exact bar
                const double part = std::clamp((bar.maximum - low) / row_height, 0.0, 1.0);
                line += eighths[static_cast<std::size_t>(std::lround(part * 8))];
            } else if (bar.minimum >= middle)
                line += style.unicode ? "█" : "#";
            else if (bar.median >= middle)
                line += style.unicode ? "▓" : "+";
            else if (bar.maximum >= middle)
                line += style.unicode ? "░" : ".";
            else
                line += row == 0 ? (style.unicode ? "▁" : "_") : " "; // too short for the bottom row, but there
        }
        std::string label;
        if (row == height - 1)
            label = duration(top, style);
        else if (row == height / 2)
            label = duration(top * static_cast<double>(row + 1) / static_cast<double>(height), style);
        else if (row == 0)
            label = "0 s";
        const std::size_t end = line.find_last_not_of(' ');
        line.resize(end == std::string::npos ? 0 : end + 1);
        lines.push_back(right(style, label, chart_axis - 2) + (style.unicode ? " ┤" : " |") + line);
    }
    const std::string first = "1", last = fmt::format("{}", columns.iterations);
    std::string axis(chart_axis - 1, ' ');
    axis += style.unicode ? "└" : "+";
    for (std::size_t c = 0; c < columns.width; ++c) axis += style.unicode ? "─" : "-";
    lines.push_back(axis);
    std::string numbers = std::string(chart_axis, ' ') + first;
    if (columns.width > first.size() + last.size() + 12) {
        const std::string name = "iteration";
        const std::size_t space = columns.width - first.size() - last.size() - name.size();
        numbers += std::string(space / 2, ' ') + name + std::string(space - space / 2, ' ') + last;
    } else if (columns.iterations > 1) {
        numbers += fmt::format(" .. {} iterations", last);
    }
    lines.push_back(numbers);
    return lines;
}

std::string sparkline(const TextStyle& style, const std::vector<double>& series, const ChartColumns& chart, double top) {
    constexpr const char* unicode[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    constexpr const char* ascii[] = {" ", ".", ".", ":", ":", "+", "+", "#", "#"};
    std::string out;
    for (std::size_t c = 0; c < chart.width; ++c) {
        double sum = 0;
        std::size_t known = 0;
        for (std::size_t i = chart.begin(c); i < chart.end(c); ++i)
            if (const double value = series[std::min(i, series.size() - 1)]; !std::isnan(value)) {
                sum += value;
                ++known;
            }
        if (known == 0) {
            out += '?';
            continue;
        }
        const double part = top == 0 ? 0 : std::clamp(sum / static_cast<double>(known) / top, 0.0, 1.0);
        out += (style.unicode ? unicode : ascii)[static_cast<std::size_t>(std::lround(part * 8))];
    }
    return out;
}

} // namespace libprofile::tools
