// A table of whole numbers of which the sums of rows and columns are known, and its cells about.
// Contract: thread-safe (no state); allocates; throws std::bad_alloc only.
#pragma once

#include <cstdint>
#include <vector>

namespace libprofile::tools {

struct TableCell {
    std::uint32_t row = 0;
    std::uint32_t column = 0;
    std::uint64_t value = 0;
    bool fixed = false; // known exactly
};

/// Divides `total` in proportion to the weights, the rest by largest remainder; evenly where all weights are 0.
std::vector<std::uint64_t> apportion(const std::vector<double>& weights, std::uint64_t total);

struct Margins {
    std::vector<std::uint64_t> rows;
    std::vector<char> row_is_exact; // what rows miss of the columns' sum, or have too much, is given to the others first
    std::vector<std::uint64_t> columns;
};

/// The cells changed so that they add up to `margins.columns` always, and to the exact rows wherever the sums of rows and columns
/// agree. Fixed cells stay unless they are more than a margin. A column of zeroes is spread over the cells that it has, where it has
/// none over all rows. Cells of one row and column add up: there may be several, also in the result.
/// Source: W. E. Deming, F. F. Stephan, "On a least squares adjustment of a sampled frequency table when the expected marginal
/// totals are known", 1940 (proportional fitting); then largest remainders.
std::vector<TableCell> fit_margins(std::vector<TableCell> cells, Margins margins);

} // namespace libprofile::tools
