// The iteration graph: the range over ranks of a value, iteration by iteration, drawn with block characters.
// Contract: thread-safe (no state); allocates its results; throws std::bad_alloc only.
#pragma once

#include "tools/analysis/iterations.hpp"
#include "tools/text/layout.hpp"

#include <string>
#include <vector>

namespace libprofile::tools {

/// Which iterations a column of the chart stands for: columns * n / width when there are more iterations than columns;
/// otherwise several columns show one iteration.
struct ChartColumns {
    std::size_t iterations = 0;
    std::size_t width = 0; // columns

    ChartColumns(std::size_t iteration_count, std::size_t room);
    std::size_t begin(std::size_t column) const;
    std::size_t end(std::size_t column) const;
};

/// Columns that the axis on the left takes.
inline constexpr std::size_t chart_axis = 11;

/// Lines of the chart without a heading. Up to the minimum over ranks the area is full, up to the median dense, up to
/// the maximum light; a column shows the extremes and the mean median of its iterations. Where less than a tenth of the
/// columns is over four times as high as the others, they are cut and end in an arrow.
std::vector<std::string> draw_chart(const IterationSeries& series, const TextStyle& style, const ChartColumns& columns, std::size_t height);

/// One line of bars: the mean of every column, as a share of `top`, of what is known; "?" where all values are NaN.
std::string sparkline(const TextStyle& style, const std::vector<double>& series, const ChartColumns& chart, double top);

} // namespace libprofile::tools
