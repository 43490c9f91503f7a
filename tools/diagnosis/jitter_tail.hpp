// Which single values of many ranks are more than the tail of their jitter, light or heavy, gives by chance.
// Contract: thread-safe (no state); starts threads and waits for them; allocates 4 bytes for each fifth value; throws std::bad_alloc only.
//
// Ranks differ in how much jitter they have, so each one's values are counted in its own scale: 0 is its 80 % quantile, and the scale is that of an
// exponential tail up to its 95 % quantile. The tail of all ranks together is a generalised Pareto distribution. Whatever the tail is, values with a gap
// of a doubling below them are none of it, unless most ranks often have such: then the program has two speeds.
// Sources: J. Pickands, "Statistical inference using extreme order statistics", Annals of Statistics 3 (1975), for the tail; B. Rosner, "Percentage Points
// for a Generalized ESD Many-Outlier Procedure", Technometrics 25 (1983), for the border.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

namespace libprofile::tools {

/// By rank: a value of it that is higher is no jitter; among all those that are, one in twenty may still be. Infinity if none is.
/// @param value of a rank in an iteration; called from several threads
std::vector<float> highest_by_jitter(std::size_t ranks, std::size_t iterations, const std::function<float(std::size_t rank, std::size_t iteration)>& value);

} // namespace libprofile::tools
