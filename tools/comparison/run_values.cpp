#include "tools/comparison/run_values.hpp"

#include "tools/analysis/sample_strata.hpp"

#include <algorithm>
#include <cmath>

namespace libprofile::tools {

namespace {

/// Calls visit(rank position, row, value, error) for every row of every place that has a value or an error there.
template <class Visit> void for_each_row(const Run& run, const FrameColumn& column, std::span<const std::uint32_t> row_of, std::size_t rows, Visit visit) {
    const Frame& frame = run.frame;
    std::vector<double> sums(rows);
    std::vector<SampledParts> parts(rows);
    std::vector<std::uint8_t> is_touched(rows), is_unknown(rows);
    std::vector<std::uint32_t> touched;
    const auto touch = [&](std::uint32_t row) {
        if (!is_touched[row]) touched.push_back(row);
        is_touched[row] = 1;
    };
    const bool is_of_samples = !run.sampled.empty() && &column == &frame.columns.front(); // visits are counted
    std::size_t rank = 0;
    for (std::size_t p = 0; p < frame.places.size(); ++p) {
        if (p != 0 && frame.places[p].rank != frame.places[p - 1].rank) ++rank;
        for (std::uint64_t i = column.begin[p]; i < column.begin[p + 1]; ++i)
            if (const std::uint32_t row = row_of[column.node[i]]; row != no_row) {
                touch(row);
                sums[row] += column.value[i];
            }
        if (is_of_samples) {
            const CallTable::Sampled& sampled = run.sampled[p];
            for (std::size_t n = 0; n < sampled.parts.size(); ++n)
                if (const std::uint32_t row = row_of[run.node_of[n]]; row != no_row && !sampled.parts[n].empty()) {
                    touch(row);
                    add_parts(parts[row], sampled.parts[n]);
                }
            for (std::size_t n = 0; n < sampled.is_unknown.size(); ++n)
                if (const std::uint32_t row = row_of[run.node_of[n]]; row != no_row && sampled.is_unknown[n]) {
                    touch(row);
                    is_unknown[row] = 1;
                }
        }
        for (const std::uint32_t row : touched) {
            const double error = is_unknown[row] ? std::nan("") : parts[row].empty() ? 0 : sampling_error(parts[row], run.sampled[p].strata);
            visit(rank, row, sums[row], error);
            sums[row] = 0;
            parts[row].clear();
            is_touched[row] = is_unknown[row] = 0;
        }
        touched.clear();
    }
}

std::size_t ranks_in(const Run& run) {
    std::size_t ranks = 0;
    for (std::size_t p = 0; p < run.frame.places.size(); ++p) ranks += p == 0 || run.frame.places[p].rank != run.frame.places[p - 1].rank;
    return ranks;
}

} // namespace

RunValue RankValues::mean(std::size_t row, std::span<const std::uint32_t> some) const {
    double sum = 0, squares = 0;
    const std::size_t n = some.empty() ? ranks : some.size();
    for (std::size_t i = 0; i < n; ++i) {
        const RunValue& value = at(row, some.empty() ? i : some[i]);
        sum += value.value;
        squares += value.error * value.error;
    }
    return {sum / static_cast<double>(n), std::sqrt(squares) / static_cast<double>(n)};
}

RankValues values_by_rank(const Run& run, const FrameColumn& column, std::span<const std::uint32_t> row_of, std::size_t rows) {
    RankValues result{ranks_in(run), {}};
    result.values.resize(rows * result.ranks);
    for_each_row(run, column, row_of, rows, [&](std::size_t rank, std::uint32_t row, double value, double error) {
        RunValue& at = result.values[row * result.ranks + rank];
        at.value += value;
        at.error = std::sqrt(at.error * at.error + error * error); // of threads, whose samples are independent
    });
    return result;
}

std::vector<RunValue> mean_values(const Run& run, const FrameColumn& column, std::span<const std::uint32_t> row_of, std::size_t rows) {
    std::vector<RunValue> result(rows);
    for_each_row(run, column, row_of, rows, [&](std::size_t, std::uint32_t row, double value, double error) {
        result[row].value += value;
        result[row].error += error * error; // squares first
    });
    const auto ranks = static_cast<double>(ranks_in(run));
    for (RunValue& value : result) value = {value.value / ranks, std::sqrt(value.error) / ranks};
    return result;
}

} // namespace libprofile::tools
