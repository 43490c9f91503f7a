// Folded strips and the imbalance map as lines of text.
// Contract: thread-safe (no state); allocates; throws std::bad_alloc only.
#pragma once

#include "tools/plot/text_chart.hpp"
#include "tools/processes/compared_processes.hpp"
#include "tools/text/layout.hpp"

#include <string>
#include <vector>

namespace libprofile::tools {

/// A letter for each state that a strip shows: "c" for computing, "p" for MPI point-to-point; of other states A, B and so on.
std::string state_letters(const RankStates& states);

/// One character for each column: the letter of the state that most of its iterations are in, of those that are in one; blank
/// if none is.
std::string strip_line(const std::vector<FoldedSpan>& strip, const std::string& letters, std::uint64_t first, const ChartColumns& columns);

/// One character for each column: how far the rank is from the median rank there, in five steps to `full`; '.' for below.
std::string map_line(const TextStyle& style, const ImbalanceMap& map, std::size_t row, const ChartColumns& columns, double full);

} // namespace libprofile::tools
