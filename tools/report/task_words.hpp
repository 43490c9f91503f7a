// Sentences about a graph of tasks.
// Contract: thread-safe (no state); allocates; throws std::bad_alloc only. Text of profiles is made printable.
#pragma once

#include "tools/reader/model.hpp"
#include "tools/timeline/task_graph.hpp"
#include "tools/timeline/task_types.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace libprofile::tools {

/// "iteration 40", "2 windows (from 3.50 ms)": on the clock of the rank.
std::string stretch_words(const TaskStretch& stretch);

/// What limits the graph, one sentence each: work and span, depths, the creation of tasks, threads, waits. The most important first.
/// @param where what the tasks belong to: "iteration 40 of rank 0"
std::vector<std::string> task_sentences(const Profile& profile, const TaskGraph& graph, const TaskTypes& types, const std::string& where);

/// What is missing in a graph, or in several whose counts were added, one sentence each.
std::vector<std::string> missing_tasks(const TaskGraph& graph, const std::string& where);

/// 0 of nothing.
inline double task_share(std::uint64_t part, std::uint64_t all) { return all == 0 ? 0 : static_cast<double>(part) / static_cast<double>(all); }

/// "block() seidel.c:40".
std::string place_words(const std::string& function, const std::string& source);

} // namespace libprofile::tools
